"""Mentions: which `@name` of a text means a member, and whom a text mentions."""

import re
from collections.abc import Iterator

from markupsafe import Markup

from accounts.names import is_valid

MEMBERS = "/users/"

_WORD = "A-Za-z0-9\u00c0-\u024f\u0300-\u052f\u1e00-\u1fff"
"""Letters of scripts that put blanks around a name; Chinese, Thai and others, and Arabic prefixes, do not."""

_NAME = "@[A-Za-z0-9_-]++"

_AFTER_NAME = rf"(?![{_WORD}@]|/[A-Za-z0-9_.-]|\.[a-z0-9])"

MENTION = rf"(?<![{_WORD}@/_.+-])[_.+-]*(?P<mention>{_NAME}{_AFTER_NAME}(?:[/+]{_NAME}{_AFTER_NAME})*)"
"""One mention, or several as in `@ann/@bob`, for `re`.

Not a part of the address of a mail, a page or a Fediverse account, nor of a package (`@types/node`).
"""

_QUOTE = re.compile("(</?blockquote>)")
_LINK = re.compile(rf'<a href="{MEMBERS}([A-Za-z0-9_-]+)/"[^>]*>@\1</a>')


def spellings(name: str) -> Iterator[str]:
    """Return the valid names that are meant by a mention, likeliest first: `@finn_` may end with an emphasis."""
    return filter(is_valid, dict.fromkeys((name, name.rstrip("_-"))))


def mentioned_in(html: Markup) -> tuple[str, ...]:
    """Return the names that the HTML of a text links to after `@`, each once, in their order.

    Names in quotes are not among them: quoting someone is not addressing them.
    """
    names, depth = dict[str, None](), 0
    for part in _QUOTE.split(html):
        if part in ("<blockquote>", "</blockquote>"):
            depth += 1 if part == "<blockquote>" else -1
        elif depth == 0:
            names.update(dict.fromkeys(_LINK.findall(part)))
    return tuple(names)

"""Mentions: which `@name` of a text means a member, and whom a text mentions."""

import re
from collections.abc import Iterator
from unicodedata import bidirectional
from urllib.parse import quote, unquote

from markupsafe import Markup

from accounts.name_characters import character_class
from accounts.names import MAX_LENGTH, is_valid

MEMBERS = "/users/"

_WORD = "A-Za-z0-9\u00c0-\u024f\u0300-\u052f\u1e00-\u1fff"
"""Letters of scripts that put blanks around a name; Chinese, Thai and others, and Arabic prefixes, do not."""

NAME = f"[{character_class()}]++"

_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3100-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no blanks around a name."""

_AFTER_NAME = rf"(?![{_WORD}]|(?<!{_UNSPACED})@|/[A-Za-z0-9_.-]|\.[a-z0-9])"

MENTION = rf"(?<![{_WORD}@/_.+-])[_.+-]*(?P<mention>@{NAME}{_AFTER_NAME}(?:[/+]@{NAME}{_AFTER_NAME})*)"
"""One mention, or several as in `@ann/@bob`, for `re`.

Not a part of the address of a mail, a page or a Fediverse account, nor of a package (`@types/node`).
"""

_QUOTE = re.compile("(</?blockquote[^>]*>)")
_LINK = re.compile(rf'<a href="{MEMBERS}([^"/]+)/"[^>]*>@({NAME})</a>')

_ENDS_NAME = re.compile(f"(?<={_UNSPACED})|(?={_UNSPACED})")
"""Where a name may end without a blank: beside Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean letters."""


def spellings(text: str) -> Iterator[str]:
    """Return the valid names that `@` and a text may mean, likeliest first.

    `@finn_` may end with an emphasis, and `@小明你好` go on without a blank.
    """
    ends = [len(text), len(text.rstrip("_-"))]
    if not text.isascii():
        ends += reversed([match.start() for match in _ENDS_NAME.finditer(text, 0, MAX_LENGTH + 1)])
    return filter(is_valid, dict.fromkeys(text[:end] for end in ends if end <= MAX_LENGTH))


def link_of(name: str) -> str:
    """Return the HTML of a mention of a member. It is no reason for its paragraph to run from right to left."""
    direction = ' dir="auto"' if any(bidirectional(char) in ("R", "AL") for char in name) else ""
    return f'<a href="{MEMBERS}{quote(name)}/"{direction}>@{name}</a>'


def mentioned_in(html: Markup) -> tuple[str, ...]:
    """Return the names that the HTML of a text links to after `@`, each once, in their order.

    Names in quotes are not among them: quoting someone is not addressing them.
    """
    names, depth = dict[str, None](), 0
    for part in _QUOTE.split(html):
        if _QUOTE.fullmatch(part):
            depth += -1 if part[1] == "/" else 1
        elif depth == 0:
            names.update(dict.fromkeys(name for path, name in _LINK.findall(part) if unquote(path) == name))
    return tuple(names)

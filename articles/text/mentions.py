"""The members whose names a text mentions: those that its HTML links to."""

import re

from markupsafe import Markup

_QUOTE = re.compile("(</?blockquote>)")
_LINK = re.compile(r'<a href="/users/([A-Za-z0-9_-]+)/"[^>]*>@\1</a>')


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

"""What a page consists of, as an HTML parser reads it: input must add nothing to it."""

from typing import Any

import html5lib

_ADDRESSES = {"href", "src", "action", "formaction", "data", "poster", "srcset", "ping"}
_SCHEMES = ("http://", "https://", "/", "#", "?")


def parts_of(page: bytes) -> set[tuple[str, str]]:
    """Return every element with each of its attributes. Fails on an address with another scheme than http(s)."""
    tree = html5lib.parse(page, transport_encoding="utf-8", namespaceHTMLElements=False)
    parts = set()
    for element in tree.iter():
        name = str(element.tag)  # a comment has a function for a tag
        parts.add((name, ""))
        parts |= {(name, attribute) for attribute in element.attrib}
        _check_addresses(element)
    return parts


def _check_addresses(element: Any) -> None:
    for name in _ADDRESSES & set(element.attrib):
        address = element.attrib[name]
        assert not address or address.startswith(_SCHEMES), (element.tag, name, address)
        assert not address.startswith(("//", "/\\")), (element.tag, name, address)


def text_of(page: bytes, element: str, css_class: str) -> list[str]:
    """Return the text of each of these elements."""
    tree = html5lib.parse(page, transport_encoding="utf-8", namespaceHTMLElements=False)
    return ["".join(one.itertext()) for one in tree.iter(element) if css_class in one.get("class", "").split()]

"""What a page consists of, as an HTML parser reads it: input must add nothing to it."""

from typing import Any

from tests.html import nodes_of, tree_of, whole_text_of

_ADDRESSES = {"href", "src", "action", "formaction", "data", "poster", "srcset", "ping"}
_SCHEMES = ("http://", "https://", "/", "#", "?")


def parts_of(page: bytes) -> set[tuple[str, str]]:
    """Return every element with each of its attributes. Fails on an address with another scheme than http(s)."""
    parts = set()
    for element in nodes_of(tree_of(page)):
        parts.add((element.name, ""))
        parts |= {(element.name, attribute) for attribute in element.attrs or ()}
        _check_addresses(element)
    return parts


def _check_addresses(element: Any) -> None:
    for name in _ADDRESSES & set(element.attrs or ()):
        address = element.attrs[name]
        assert not address or address.startswith(_SCHEMES), (element.name, name, address)
        assert not address.startswith(("//", "/\\")), (element.name, name, address)


def text_of(page: bytes, element: str, css_class: str) -> list[str]:
    """Return the text of each of these elements."""
    return [whole_text_of(one) for one in tree_of(page).query(f"{element}.{css_class}")]

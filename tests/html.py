"""Pages as a browser's parser reads them."""

from collections.abc import Iterator

from justhtml import JustHTML, Node


def tree_of(page: bytes | str) -> Node:
    """Return the root of a page, with all that it has: nothing is sanitized."""
    return JustHTML(page, sanitize=False, encoding="utf-8" if isinstance(page, bytes) else None).root


def nodes_of(tree: Node) -> Iterator[Node]:
    """Yield the elements of a page and its comments, named "#comment", in their order."""
    for node in tree.children or ():
        if node.name != "#text":
            yield node
            yield from nodes_of(node)


def whole_text_of(node: Node) -> str:
    """Return the text in an element, with every blank."""
    return str(node.to_text(separator="", strip=False))

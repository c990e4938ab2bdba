"""Reading the HTML that is kept with texts: see `articles.text.kept_html`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeAlias

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId
from articles.domain.errors import StoreError
from articles.repository.store.connection import Call, Store

HtmlOf: TypeAlias = Callable[[int, str, str | None], str]
"""Returns the HTML of an article's or a comment's text, given its id, the text, and what is kept of the HTML."""


def html_of_articles(store: Store) -> AbstractContextManager[HtmlOf]:
    """Return a context for reading articles with HTML: see `_reading`."""
    return _reading(store, lambda number: store.shards.of(number).article(number))


def html_of_comments(store: Store) -> AbstractContextManager[HtmlOf]:
    """Return a context for reading comments with HTML: see `_reading`."""
    return _reading(store, lambda number: store.shards.of_comment(number).comment(number))


@contextmanager
def _reading(store: Store, key_of: Callable[[ArticleId | CommentId], str]) -> Iterator[HtmlOf]:
    """Yield a function that reads HTML, and makes what is missing or was made under other rules.

    At the end of the block, one round trip keeps what was made, unless its text has changed; none if all was
    there. If the store takes no changes, the HTML is made again at the next read.
    """
    made: list[Call] = []

    def html_of(number: int, text: str, kept: str | None) -> str:
        html = store.kept_html.read(kept or "", text)
        if html is None:
            html = store.kept_html.html_of(text)
            made.append(Call("texts/keep", (key_of(number),), (text, store.kept_html.sealed(text, html))))
        return html

    yield html_of
    if made:
        with suppress(StoreError):
            store.run_many(made)

"""Rows of lists: all that a row shows, and the rendered rows, which are kept in memory.

A row is a pure function of a `Row` and the language: it contains no address of the page, no token and nothing of
the reader but the choices in it. So it needs no invalidation, and can be shown to everyone whose row is equal.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.template import engines
from django.utils.translation import get_language
from markupsafe import Markup

from articles.domain.articles import Article, ArticleId, Choice
from articles.formatting.values import age
from articles.text.links import host_of

_GAP, _GAP_OF_GROUP = Markup("<!--text %s-->"), Markup("<!--group %s-->")

MOST_ROWS = 5_000
"""Rows that a process keeps, about 2 KB each; those that were not shown for longest are dropped."""


class Row(NamedTuple):
    """What a row shows of an article, with the article's own names. `posted_at` in Unix seconds."""

    id: ArticleId
    title: str
    link: str
    """"" for an article that has only a text: its title leads to its page."""

    has_text: bool
    by_deleted_member: bool
    poster_name: str
    posted_at: float
    age: str
    """Time since it was posted, in words of the active language."""

    votes: int
    opposes: int
    groups: tuple[str, ...]
    pv: int
    visitors: int | None
    """Unique visitors; None in lists that do not show them."""

    comments: int
    last_comment: tuple[float, str] | None
    """When the last of them was posted, in Unix seconds and as an age; None in lists that do not show it."""

    removed: str | None
    is_open: bool
    choice: Choice
    saved: bool
    is_member: bool
    """Whether the reader can save articles."""

    rank: int | None
    """Position in the list; None in lists without positions."""

    @property
    def points(self) -> int:
        return self.votes - self.opposes


def row_of(
    article: Article, *, is_member: bool, rank: int | None, now: float, shows_last_comment: bool = False
) -> Row:
    """Return the row of an article at `now`, in Unix seconds."""
    commented_at = article.last_comment_at if shows_last_comment else None
    return Row(
        article.id,
        article.title,
        article.link,
        article.text_bytes > 0,
        article.by_deleted_member,
        article.poster_name,
        article.posted_at,
        age(article.posted_at),
        article.votes,
        article.opposes,
        article.groups,
        article.pv,
        None if article.hotness is None else article.uv,
        article.comments,
        None if commented_at is None else (commented_at, age(commented_at)),
        article.removed,
        article.is_open(now),
        article.choice,
        article.saved,
        is_member,
        rank,
    )


def kept_row(row: Row, show: Callable[..., str] | None = None) -> Markup:
    """Return the rendered row. `show` marks the words of a search in its title, host and groups."""
    render = _rendered.__wrapped__ if settings.DEBUG else _rendered  # so that a changed template shows
    drawn: Markup = render(row, get_language(), show is not None)
    if show is not None:
        for text in (row.title, *([host_of(row.link)] if row.link else ())):
            drawn = drawn.replace(_gap(text), show(text))
        for slug in row.groups:
            drawn = drawn.replace(_gap(slug, group=True), show(slug, group=True))
    return drawn


@lru_cache(MOST_ROWS)
def _rendered(row: Row, _language: str | None, has_gaps: bool) -> Markup:
    template = engines["jinja2"].env.get_template("lists/row.html")  # type: ignore[attr-defined]
    drawn: Markup = template.module.draw_row(row, _gap if has_gaps else None)
    return drawn


def _gap(text: str, *, group: bool = False) -> Markup:
    """Return the placeholder of a text that may have marks. No text of a row contains it, for they are escaped."""
    return _GAP_OF_GROUP % text if group else _GAP % text

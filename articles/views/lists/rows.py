"""Rows of lists: all that a row shows, and the rendered rows, which are kept in memory.

A row is a pure function of an article as the reader sees it, a few facts and the language: it contains no address
of the page, no token and nothing of the reader but the choices in the article. So it needs no invalidation, and
can be shown to everyone whose row is equal.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.template import engines
from django.utils.translation import get_language
from markupsafe import Markup

from articles.domain.articles import Article, ArticleId, Choice
from articles.formatting.values import age_in_units, age_in_words, grouped

_GAP = Markup("<!--marked-->")
"""In the place of the position, and of a text that may have marks. They are escaped, so none contains it."""

_EXCERPT = Markup('<p class="excerpt" dir="auto">%s</p>')

MOST_ROWS = 5_000
"""Rows that a process keeps, about 2 KB each; the least recently shown ones are dropped."""

MOST_FOUND = 4_000
"""Rows of searches that a process keeps, likewise."""

Show = Callable[..., Markup]
"""Marks the words of a search in a title, a host, or with `group=True` a group; escapes the rest."""


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


class Facts(NamedTuple):
    """What a row depends on beside its article. Ages in whole units, see `age_in_units`."""

    age: tuple[int, int]
    is_open: bool
    is_member: bool
    rank: int | None = None
    last_comment: tuple[int, int] | None = None
    """Age of the last comment; None in lists that do not show it."""


def draw_rows(
    articles: Iterable[Article],
    *,
    is_member: bool,
    now: float,
    first_rank: int | None = None,
    show: Show | None = None,
    excerpts: Mapping[ArticleId, Markup] | None = None,
    reasons: Mapping[ArticleId, Markup] | None = None,
    shows_last_comments: bool = False,
) -> Markup:
    """Return the rows of these articles at `now`, in Unix seconds.

    `first_rank`: position of the first one; None for lists without positions. `show` marks the words of a search;
    `excerpts`: parts of texts that it found; `reasons`: links that explain why.
    """
    draw = _drawn if show is None else _drawn_with_gaps  # of these, the position is a gap, too
    kept: Callable[..., Any] = draw.__wrapped__ if settings.DEBUG else draw  # so that a changed template shows
    language, rows = get_language(), []
    for n, article in enumerate(articles):
        commented_at = article.last_comment_at if shows_last_comments else None
        rank = None if first_rank is None else first_rank + n
        facts = Facts(
            age_in_units(article.posted_at, now),
            article.is_open(now),
            is_member,
            rank if show is None else None,
            None if commented_at is None else age_in_units(commented_at, now),
        )
        row = kept(article, facts, language)
        if show:
            row = row.marked(show, rank, (reasons or {}).get(article.id), (excerpts or {}).get(article.id))
        rows.append(row)
    return Markup("".join(rows))  # nosec B704 # noqa: S704 - templates draw them; Markup's own join escapes each again


@lru_cache(MOST_ROWS)
def _drawn(article: Article, facts: Facts, _language: str | None) -> Markup:
    return draw_row(row_of(article, facts))


class _RowWithGaps(NamedTuple):
    """A rendered row of a search: `parts` around the position, `texts` with marks, a link, and an excerpt.

    The same article has another position in each search.
    """

    parts: tuple[str, ...]
    texts: tuple[tuple[str, bool], ...]
    """Texts, each with whether it is a group."""

    def marked(self, show: Show, rank: int | None, reason: Markup | None, excerpt: Markup | None) -> Markup:
        before, after, *others, last, end = self.parts
        filled = [before, "" if rank is None else grouped(rank), after]
        for (text, is_group), part in zip(self.texts, others, strict=True):
            filled += (show(text, group=is_group), part)
        filled += (reason or "", last, _EXCERPT % excerpt if excerpt else "", end)
        return Markup("".join(filled))  # nosec B704 # noqa: S704 - the template and `show` escape


@lru_cache(MOST_FOUND)
def _drawn_with_gaps(article: Article, facts: Facts, _language: str | None) -> _RowWithGaps:
    texts: list[tuple[str, bool]] = []

    def gap(text: str, *, group: bool = False) -> Markup:
        texts.append((text, group))
        return _GAP

    parts = str(draw_row(row_of(article, facts), gap, _GAP, _GAP, _GAP)).split(_GAP)
    return _RowWithGaps(tuple(parts), tuple(texts))


def row_of(article: Article, facts: Facts) -> Row:
    """Return the row of an article."""
    last_comment = None
    if facts.last_comment is not None and article.last_comment_at is not None:
        last_comment = article.last_comment_at, age_in_words(*facts.last_comment)
    return Row(
        article.id,
        article.title,
        article.link,
        article.text_bytes > 0,
        article.by_deleted_member,
        article.poster_name,
        article.posted_at,
        age_in_words(*facts.age),
        article.votes,
        article.opposes,
        article.groups,
        article.pv,
        None if article.hotness is None else article.uv,
        article.comments,
        last_comment,
        article.removed,
        facts.is_open,
        article.choice,
        article.saved,
        facts.is_member,
        facts.rank,
    )


def draw_row(
    row: Row,
    show: Show | None = None,
    rank: str | None = None,
    reason: str | None = None,
    excerpt: str | None = None,
) -> Markup:
    """Render a row, with `rank` in the place of its position, a link that explains it, and an excerpt."""
    template = engines["jinja2"].env.get_template("lists/row.html")  # type: ignore[attr-defined]
    drawn: Markup = template.module.draw_row(row, show, rank, reason, excerpt)
    return drawn

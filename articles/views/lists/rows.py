"""Rows of lists: all that a row shows, and the drawn rows, which are kept in memory.

A row contains no address of the page, no token and nothing of the reader but the choices in the article. So it can
be shown to everyone whose row is equal.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from articles.domain.articles import Article, ArticleId, Choice
from articles.formatting.kept import drawer, filled
from articles.formatting.values import age_in_units, age_in_words, grouped
from articles.searching import home_of

_EXCERPT = Markup('<p class="excerpt" dir="auto">%s</p>')

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


class RowShape(NamedTuple):
    """All that a drawn row depends on. `is_found`: by a search."""

    article: Article
    facts: Facts
    is_found: bool = False

    @property
    def is_kept(self) -> bool:
        return True

    def context(self) -> dict[str, Any]:
        """Return what `templates/lists/row.html` sees."""
        return {"row": row_of(self.article, self.facts), "is_found": self.is_found}


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
    draw, rows = drawer("lists/row.html"), list[str]()
    for n, article in enumerate(articles):
        commented_at = article.last_comment_at if shows_last_comments else None
        rank = None if first_rank is None else first_rank + n
        facts = Facts(
            age_in_units(article.posted_at, now),
            article.is_open(now),
            is_member,
            rank if show is None else None,  # the same article has another position in each search
            None if commented_at is None else age_in_units(commented_at, now),
        )
        parts = draw(RowShape(article, facts, show is not None))
        if show:
            excerpt = (excerpts or {}).get(article.id)
            own = {
                "rank": "" if rank is None else grouped(rank),
                "reason": (reasons or {}).get(article.id, ""),
                "excerpt": _EXCERPT % excerpt if excerpt else "",
            }
            parts = (filled(parts, _marked(article, show) | own),)
        rows += parts
    return Markup("".join(rows))  # nosec B704 # noqa: S704 - Markup's own join escapes each again


def _marked(article: Article, show: Show) -> dict[str, object]:
    """Return the texts of a row in which words of a search are marked, as its holes name them."""
    groups = {f"group {slug}": show(slug, group=True) for slug in article.groups}
    return {"title": show(article.title), "host": show(home_of(article.link)) if article.link else "", **groups}


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

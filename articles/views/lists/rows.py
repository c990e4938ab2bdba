"""Rows of lists, kept in memory.

A row has a shape, of which there are a few, and holes for what it says. Filled, it is kept as well, unless a
search found it: it contains no address of the page, no token and nothing of the reader but the choices in the
article, so it can be shown to everyone whose row is equal.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import get_language
from markupsafe import Markup

from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.members import UserId
from articles.formatting.kept import kept, piece
from articles.formatting.values import age_in_units, age_in_words, grouped, is_long, time_of
from articles.searching import home_of
from articles.views.lists.refresh import comments_label, views_label, visitors_label
from articles.web.addresses import path_of

MOST_ROWS = 5_000
"""Rows that a process keeps, about 2 KB each; the least recently shown ones are dropped."""

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


class Facts(NamedTuple):
    """What a row depends on beside its article. Ages in whole units, see `age_in_units`."""

    age: tuple[int, int]
    is_open: bool
    is_member: bool
    rank: int | None = None
    last_comment: tuple[int, int] | None = None
    """Age of the last comment; None in lists that do not show it."""


class RowShape(NamedTuple):
    """Which parts a row has."""

    has_link: bool
    is_long: bool
    """Whether the title may take more than three lines on a phone."""

    has_text: bool
    has_last_comment: bool
    has_views: bool
    has_visitors: bool
    choice: Choice
    may_vote: bool
    saved: bool
    is_removed: bool
    is_member: bool

    @property
    def is_kept(self) -> bool:
        return True

    def context(self) -> dict[str, Any]:
        """Return what `templates/lists/row.html` sees."""
        return {"shape": self}


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
    language, rows = get_language(), []
    draw: Callable[..., Markup] = kept_row.__wrapped__ if settings.DEBUG else kept_row  # a changed template shows
    for n, article in enumerate(articles):
        commented_at = article.last_comment_at if shows_last_comments else None
        facts = Facts(
            age_in_units(article.posted_at, now),
            article.is_open(now),
            is_member,
            None if first_rank is None else first_rank + n,
            None if commented_at is None else age_in_units(commented_at, now),
        )
        if show is None:
            rows.append(draw(article, facts, language))
        else:
            excerpt = (excerpts or {}).get(article.id)
            found = {
                "title": show(article.title),
                "host": show(home_of(article.link)) if article.link else "",
                "groups": groups_of(article.groups, {slug: show(slug, group=True) for slug in article.groups}),
                "reason": (reasons or {}).get(article.id, ""),
                "excerpt": _EXCERPT % excerpt if excerpt else "",
            }
            rows.append(draw_row(row_of(article, facts), found))
    return Markup("".join(rows))  # nosec B704 # noqa: S704 - Markup's own join escapes each again


@lru_cache(MOST_ROWS)
def kept_row(article: Article, facts: Facts, _language: str | None) -> Markup:
    """Return the row of an article in the active language."""
    return draw_row(row_of(article, facts))


def draw_row(row: Row, found: Mapping[str, object] | None = None) -> Markup:
    """Return a row. `found`: contents of holes in a row that a search found."""
    return kept("lists/row.html", shape_of(row), holes_of(row) | dict(found or {}))


def shape_of(row: Row) -> RowShape:
    """Return which parts the row has."""
    return RowShape(
        bool(row.link),
        is_long(row.title),
        row.has_text,
        row.last_comment is not None,
        row.pv > 0,
        row.visitors is not None,
        row.choice,
        row.is_open and row.removed is None,
        row.saved,
        row.removed is not None,
        row.is_member,
    )


class _Poster(NamedTuple):
    """What `templates/articles/facts.html` needs of an article to name its poster."""

    poster_name: str
    by_deleted_member: bool


def poster_of(name: str, *, by_deleted: bool, former: UserId | None = None) -> Markup:
    """Return who posted an article. `former`: number of the deleted account, for moderators."""
    return piece("articles/poster.html", {}, article=_Poster(name, by_deleted), former=former)


def groups_of(slugs: tuple[str, ...], names: Mapping[str, object] | None = None) -> Markup:
    """Return links to the groups of an article. `names`: as they are shown, by slug; the slugs if not given."""
    return piece("articles/groups.html", names or dict(zip(slugs, slugs, strict=True)), groups=slugs)


def holes_of(row: Row) -> dict[str, object]:
    """Return what the row says."""
    home = home_of(row.link) if row.link else ""
    return button_holes(row.id, row.title, row.votes, row.opposes, is_open=row.is_open and row.removed is None) | {
        "rank": "" if row.rank is None else grouped(row.rank),
        "link": row.link,
        "title": row.title,
        "host": home,
        "host_address": path_of("articles:host", home) if home else "",
        "poster": poster_of(row.poster_name, by_deleted=row.by_deleted_member),
        "posted": time_of(row.posted_at, row.age),
        "comments": comments_label(row.comments),
        "last_comment": time_of(*row.last_comment) if row.last_comment else "",
        "views": views_label(row.pv),
        "visitors": visitors_label(row.visitors or 0),
        "groups": groups_of(row.groups),
        "reason": "",
        "excerpt": "",
    }


def button_holes(article: ArticleId, title: str, votes: int, opposes: int, *, is_open: bool) -> dict[str, object]:
    """Return what the buttons of an article say."""
    points = piece("votes/points.html", {}, votes=votes, opposes=opposes, is_open=is_open)
    return {"id": article, "name": title, "votes": votes, "opposes": opposes, "points": points}


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

"""Rows of lists, kept in memory, the words for their numbers, and the line that says which rows a reader hides.

A row has a shape, of which there are a few, and holes for what it says. Filled, it is kept as well, unless a
search found it: it contains no address of the page, no token and nothing of the reader but the choices in the
article, so it can be shown to everyone whose row is equal.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import get_language, ngettext, pgettext
from markupsafe import Markup

from articles.configuration.choices import closed_groups
from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.members import UserId
from articles.formatting.kept import drawn, piece
from articles.formatting.values import age_in_units, age_in_words, grouped, time_of
from articles.text.links import home_of, hosts_of
from articles.web.addresses import path_of
from articles.web.groups import marked_titles
from articles.web.hiding import NONE_APPLIED, Applied
from articles.web.wiring import group_title, group_titles

MOST_ROWS = 5_000  # rows that a process keeps, about 3 KB each; the least recently shown ones are dropped
_EXCERPT = Markup('<p class="excerpt" dir="auto">%s</p>')
_GONE = Markup('<li class="row hid" id="article-%d" tabindex="-1">%s</li>')

Show = Callable[..., Markup]
"""Marks the words of a search in a title; given a slug as well, all of its title if it matches. Escapes."""


class Facts(NamedTuple):
    """What a row depends on beside its article. Ages in whole units, see `age_in_units`."""

    age: tuple[int, int]
    is_open: bool
    is_member: bool  # whether the reader can save articles
    is_read: bool = False  # whether the reader has opened the article
    new_comments: int = 0  # comments that are new to the reader
    rank: int | None = None  # position in the list; None in lists without positions
    last_comment: tuple[int, int] | None = None  # age of the last comment; None in lists that do not show it
    is_hidden: bool = False  # whether the reader hides it, and asked to see it here


class RowShape(NamedTuple):
    """Which parts a row has."""

    has_link: bool
    has_last_comment: bool
    has_visitors: bool
    choice: Choice
    may_vote: bool
    saved: bool
    is_removed: bool
    is_member: bool
    is_read: bool
    is_hidden: bool = False


def draw_rows(
    articles: Sequence[Article],
    *,
    is_member: bool,
    now: float,
    first_rank: int | None = None,
    show: Show | None = None,
    excerpts: Mapping[ArticleId, Markup] | None = None,
    searched: str = "",
    shows_last_comments: bool = False,
    applied: Applied = NONE_APPLIED,
    may_vote: bool = True,
) -> Markup:
    """Return the rows of these articles at `now`, in Unix seconds.

    `first_rank`: position of the first one; None for lists without positions. `show` marks the words of a search;
    `excerpts`: parts of texts that it found; `searched`: the query of the address that explains why.
    `applied`: what the reader hides, and what of it the page marks; `may_vote`: whether no ban forbids it.
    """
    language, rows = get_language(), []
    draw: Callable[..., Markup] = kept_row.__wrapped__ if settings.DEBUG else kept_row  # a changed template shows
    known, closed, marked = group_titles(), closed_groups(), applied.marked or None
    ages = [age_in_units(article.posted_at, now) for article in articles]
    for n, article in enumerate(articles):
        if article.id == applied.just_hidden:
            rows.append(_GONE % (article.id, gone(article)))
            continue
        slugs = article.groups
        titles: tuple[object, ...] = tuple(map(known.get, slugs, slugs))
        if show is not None:
            titles = tuple(map(show, titles, slugs))
        if not closed.isdisjoint(slugs):
            titles = marked_titles(slugs, titles)
        commented_at = article.last_comment_at if shows_last_comments else None
        facts = Facts(
            ages[n],
            may_vote and article.is_open(now),
            is_member,
            article.read_at is not None,
            article.new_comments,
            None if first_rank is None else first_rank + n,
            None if commented_at is None else age_in_units(commented_at, now),
            marked is not None and marked.hides(article),
        )
        if show is None:
            rows.append(draw(article, titles, facts, language))
        else:
            excerpt = (excerpts or {}).get(article.id)
            found = {
                "title": show(article.title),
                "host": show(home_of(article.link)) if article.link else "",
                "searched": searched,
                "excerpt": _EXCERPT % excerpt if excerpt else "",
            }
            rows.append(_drawn(article, titles, facts, found))
    return Markup("".join(rows))  # nosec B704 # noqa: S704 - Markup's own join escapes each again


@lru_cache(MOST_ROWS)
def kept_row(article: Article, titles: tuple[object, ...], facts: Facts, _language: str | None) -> Markup:
    """Return the row of an article in the active language. `titles`: those of its groups."""
    return _drawn(article, titles, facts, {})


def _drawn(article: Article, titles: tuple[object, ...], facts: Facts, found: Mapping[str, object]) -> Markup:
    """Return the row of an article. `found`: contents of holes, if a search found it."""
    groups = groups_of(article.groups, titles, is_in_row=True)
    holes = holes_of(article, facts) | {"groups": groups} | dict(found)
    return piece("lists/row.html", holes, shape=shape_of(article, facts))


def shape_of(article: Article, facts: Facts) -> RowShape:
    """Return which parts the row has."""
    return RowShape(
        has_link=bool(article.link),
        has_last_comment=facts.last_comment is not None,
        has_visitors=article.hotness is not None,
        choice=article.choice,
        may_vote=facts.is_open,
        saved=article.saved,
        is_removed=article.removed is not None,
        is_member=facts.is_member,
        is_read=facts.is_read,
        is_hidden=facts.is_hidden,
    )


def poster_of(name: str, *, is_deleted: bool, former: UserId | None = None, is_in_row: bool = False) -> Markup:
    """Return who posted an article or a comment. `former`: number of the deleted account, for moderators."""
    return piece("articles/poster.html", {}, name=name, is_deleted=is_deleted, former=former, is_in_row=is_in_row)


def groups_of(slugs: tuple[str, ...], titles: Iterable[object], *, is_in_row: bool = False) -> Markup:
    """Return links to the groups of an article. `titles`: as they are shown."""
    holes = dict(zip(slugs, titles, strict=True))
    return piece("articles/groups.html", holes, groups=slugs, is_in_row=is_in_row)


def holes_of(article: Article, facts: Facts) -> dict[str, object]:
    """Return what the row says."""
    home = home_of(article.link) if article.link else ""
    last_comment = ""
    if facts.last_comment is not None and article.last_comment_at is not None:
        last_comment = time_of(article.last_comment_at, age_in_words(*facts.last_comment))
    return button_holes(article, is_open=facts.is_open) | {
        "rank": "" if facts.rank is None else grouped(facts.rank),
        "link": article.link,
        "title": article.title,
        "host": home,
        "host_address": path_of("articles:host", home) if home else "",
        "poster": poster_of(article.poster_name, is_deleted=article.by_deleted_member, is_in_row=True),
        "posted": time_of(article.posted_at, age_in_words(*facts.age)),
        "comments": discussion_label(article.comments),
        "unread": unread_label(facts.new_comments),
        "last_comment": last_comment,
        "visitors": visitors_label(article.uv),
        "searched": "",
        "excerpt": "",
    }


def button_holes(article: Article, *, is_open: bool) -> dict[str, object]:
    """Return what the buttons of an article say. `name` is its title: that of a search's row has marks."""
    ranked = ranked_note(article.points, article.ranked_points)
    counts = {"votes": article.votes, "opposes": article.opposes}
    points = piece("votes/points.html", {}, **counts, is_open=is_open, ranked=ranked)
    return {
        "id": article.id,
        "name": article.title,
        "votes": article.votes,
        "opposes": article.opposes,
        "points": points,
    }


def hidden_note(applied: Applied, number: int, query: Mapping[str, Any]) -> Markup:
    """Return how many articles the page leaves out, with a link that shows them, or that hides them again.

    "" for a reader who hides nothing. `query`: the parameters of the page's address.
    """
    if not applied.own:
        return Markup()
    wanted = {name: value for name, value in query.items() if (name, value) != ("page", 1) and name != "hidden"}
    address = urlencode(wanted if applied.is_shown else wanted | {"hidden": "show"})
    count = ngettext("%(num)s hidden", "%(num)s hidden", number) % {"num": grouped(number)}
    holes = {"count": count, "address": f"?{address}"}
    return piece("hiding/note.html", holes, is_shown=applied.is_shown, has_some=number > 0)


def gone(article: Article) -> Markup:
    """Return what is in place of the row of an article that was just hidden."""
    hosts = hosts_of(article.link) if article.link else ()
    more = [(host, f"/{host}", path_of("articles:host", host)) for host in hosts]
    if article.poster_name and not article.by_deleted_member:
        more.append(
            (article.poster_name, f"@{article.poster_name}", path_of("articles:profile", article.poster_name))
        )
    more += [(group_title(slug), slug, path_of("articles:group", slug)) for slug in article.groups]
    return drawn("hiding/gone.html", {"id": article.id, "more": more})


def ranked_note(points: int, ranked: int) -> str:
    """Return what follows the votes of an article whose points are not those that rank; "" for others."""
    if ranked == points:
        return ""
    text = ngettext("; %(num)s point affects ranking", "; %(num)s points affect ranking", abs(ranked))
    return text % {"num": grouped(ranked)}


def comments_label(number: int) -> str:
    """Return the number of an article's comments in words."""
    return ngettext("%(num)s comment", "%(num)s comments", number) % {"num": grouped(number)}


def discussion_label(number: int) -> str:
    """Return what leads from a list to an article's comments: their number, or an invitation to comment."""
    return comments_label(number) if number else pgettext("verb", "Discuss")


def unread_label(number: int) -> str:
    """Return the number of an article's comments that are new to a member, in words; "" for none."""
    return ngettext("%(num)s new", "%(num)s new", number) % {"num": grouped(number)} if number else ""


def visitors_label(number: int) -> str:
    """Return the number of an article's visitors in words."""
    return ngettext("%(visitors)s visitor", "%(visitors)s visitors", number) % {"visitors": grouped(number)}

"""The public moderation log as Lemmy's: removals, locks, bans, and moderators of groups. It can only be read.

Other entries of the site's log have no equal. What the operator, the site or a rule did has no moderator.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from django.http import HttpRequest

from articles.domain.errors import ArticleRemoved, CommentNotFound
from articles.domain.moderation_log import Action, LogEntry, LogFilter
from articles.web import limits
from articles.web.wiring import repository
from extras.lemmy.members import member_of
from extras.lemmy.operations import MOST_LISTED, Json, Limit, Number, Page, operation
from extras.lemmy.shapes import Shapes, facts, slug_of, when

_MOST_STEPS = 20  # parts of the log that one request looks at; each further one is a use of the limit


class _Kind(NamedTuple):
    """What an action is in Lemmy's log: a list of it, the noun of its rows, and what a field of these then is."""

    list: str
    noun: str
    field: str
    value: bool

    @property
    def type(self) -> str:
        """The word of the filter, such as ModRemovePost."""
        return self.noun.title().replace("_", "")


_POST = ("removed_posts", "mod_remove_post", "removed")
_COMMENT = ("removed_comments", "mod_remove_comment", "removed")
_LOCK = ("locked_posts", "mod_lock_post", "locked")
ON_CONTENT: Mapping[str, _Kind] = {
    Action.REMOVE: _Kind(*_POST, value=True),
    Action.RESTORE: _Kind(*_POST, value=False),
    Action.REMOVE_COMMENT: _Kind(*_COMMENT, value=True),
    Action.RESTORE_COMMENT: _Kind(*_COMMENT, value=False),
    Action.LOCK: _Kind(*_LOCK, value=True),
    Action.UNLOCK: _Kind(*_LOCK, value=False),
}
_BANNED, _BANNED_FROM = ("banned", "mod_ban"), ("banned_from_community", "mod_ban_from_community")
_ADDED = ("added_to_community", "mod_add_community")
_EMPTY = (
    "featured_posts", "removed_communities", "transferred_to_community", "added", "hidden_communities",
    *(f"admin_purged_{noun}" for noun in ("persons", "communities", "posts", "comments")),
)  # fmt: skip
LISTS = (_POST[0], _COMMENT[0], _LOCK[0], _BANNED[0], _BANNED_FROM[0], _ADDED[0], *_EMPTY)


def _kind_of(entry: LogEntry) -> _Kind | None:
    """Return what an entry is in Lemmy's log; None if it has no equal there."""
    is_of_group = "slug" in entry.details
    match entry.action:
        case Action.BAN | Action.LIFT_BAN:
            names = _BANNED_FROM if is_of_group else _BANNED
            return _Kind(*names, "banned", value=entry.action is Action.BAN)
        case Action.CHANGE_PERMISSIONS if is_of_group:
            return _Kind(*_ADDED, "removed", value="to" not in entry.details)
    return ON_CONTENT.get(entry.action)


@operation("GET", "modlog")
def get_modlog(
    request: HttpRequest,
    type_: str = "All",
    mod_person_id: Number | None = None,
    other_person_id: Number | None = None,
    community_id: Number | None = None,
    post_id: Number | None = None,
    comment_id: Number | None = None,
    page: Page = 1,
    limit: Limit = 10,
) -> Json:
    wanted = LogFilter(
        actor=member_of(mod_person_id).get_username() if mod_person_id else "",
        member=member_of(other_person_id).get_username() if other_person_id else "",
        group=slug_of(community_id) if community_id else "",
    )

    def admits(entry: LogEntry) -> bool:
        kind = _kind_of(entry)
        is_of_comment = comment_id is None or entry.details.get("comment") == str(comment_id)
        return bool(kind and type_ in ("All", kind.type) and is_of_comment and post_id in (None, entry.article_id))

    size = min(limit, MOST_LISTED)
    begin, found = (page - 1) * size, list[LogEntry]()
    for part in _parts(request, wanted):
        found += filter(admits, part)
        if len(found) >= begin + size:
            break
    return _said(request, found[begin : begin + size])


def _parts(request: HttpRequest, wanted: LogFilter) -> Iterator[tuple[LogEntry, ...]]:
    """Yield parts of the log, newest first, without what the filter does not admit."""
    log, rest = repository().moderation_log, None
    for step in range(_MOST_STEPS):
        limits.take(request, *(["api"] if step else []))
        page = log.find(wanted, rest)
        yield page.entries
        if not (page.has_next and page.rest):
            return
        rest = page.rest


def _said(request: HttpRequest, entries: list[LogEntry]) -> Json:
    """Return the lists that these entries are in, without those about what is gone."""
    shapes, said = Shapes(request), dict[str, list[Json]]({name: [] for name in LISTS})
    persons = {
        one["name"]: one for one in shapes.named({n for one in entries for n in (one.actor_name, one.title)})
    }
    for entry in entries:
        kind, moderator = _kind_of(entry), persons.get(entry.actor_name)
        about = _content(shapes, entry) if entry.article_id else _member(shapes, entry, persons.get(entry.title))
        if kind is None or about is None:
            continue
        ids, view = about
        row = {"id": int(entry.at * 1000), "mod_person_id": moderator["id"] if moderator else 0, **ids}
        row |= {"when_": when(entry.at), kind.field: kind.value}
        if entry.reason and kind.noun not in (_LOCK[1], _ADDED[1]):
            row["reason"] = entry.reason
        said[kind.list].append({**facts(moderator=moderator), **view, kind.noun: row})
    return said


def _content(shapes: Shapes, entry: LogEntry) -> tuple[Json, Json] | None:
    """Return id and view of an entry's article or comment; None if it is gone. At most two round trips."""
    repo = repository()
    (article,) = repo.articles.get_many([entry.article_id]) or (None,)
    if article is None:
        return None
    slug = shapes.slug_for(article)
    view = {"post": shapes.post(article, slug), "community": shapes.community(slug)}
    if (number := entry.details.get("comment", "")).isdecimal():
        with suppress(CommentNotFound, ArticleRemoved):
            comment = repo.comments.get(int(number))
            shapes.read([comment.author])
            view |= {"comment": shapes.comment(comment), "commenter": shapes.person(comment.author)}
            return {"comment_id": comment.id}, view
        return None
    return {"post_id": article.id}, view


def _member(shapes: Shapes, entry: LogEntry, person: Json | None) -> tuple[Json, Json] | None:
    """Return the ids and the view of the member, and of the group, that an entry is about; None if it is gone."""
    if person is None:
        return None
    field = "modded_person" if entry.action is Action.CHANGE_PERMISSIONS else "banned_person"
    ids, view = {"other_person_id": person["id"]}, {field: person}
    if "slug" in entry.details:
        view["community"] = shapes.community(entry.details["slug"])
        ids["community_id"] = view["community"]["id"]
    return ids, view

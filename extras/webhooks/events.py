"""What happened since housekeeping last looked: the events that webhooks send.

Articles and comments are found in the store's change log, acts of moderators in the public log, and what waits for
moderators in the queue. What is found again has the same key, and is delivered once.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from accounts.mail import site_origin
from accounts.models import User
from articles.api import schemas
from articles.api.articles import LogEntry as LogEntryShape
from articles.api.comments import Comment as CommentShape
from articles.domain.articles import Article
from articles.domain.comments import Comment
from articles.domain.moderation_log import Action, LogEntry, LogFilter
from articles.formatting.values import as_shown, grouped
from articles.repository import Changed, ChangesLostError, Repository
from articles.text.markdown import plain
from extras.webhooks.models import Webhook
from moderation.log import ACTIONS
from moderation.mail import Waiting

_log = logging.getLogger(__name__)

POSTED, POINTS, REMOVED = "article.posted", "article.points", "article.removed"
COMMENTED, GROUP, BANNED, WAITING = "comment.posted", "group.changed", "member.banned", "queue.waiting"

EVENTS = {
    POSTED: gettext_lazy("an article is posted"),
    POINTS: gettext_lazy("an article reaches the points below"),
    REMOVED: gettext_lazy("an article is removed"),
    COMMENTED: gettext_lazy("a comment is posted"),
    GROUP: gettext_lazy("a group, or the groups of an article, change"),
    BANNED: gettext_lazy("a member is banned"),
    WAITING: gettext_lazy("something waits for a moderator"),
}
"""The kinds of events, with the labels of the form."""

_OF_ACTIONS: dict[str, str] = {
    Action.REMOVE: REMOVED,
    Action.BAN: BANNED,
    **dict.fromkeys(
        (
            Action.GROUPS,
            Action.CREATE_GROUP,
            Action.RENAME_GROUP,
            Action.DESCRIBE_GROUP,
            Action.SHOW_GROUP,
            Action.MERGE_GROUPS,
        ),
        GROUP,
    ),
}

_CHANGES_READ = 100
_LOG_PAGES = 20
_OVERLAP = 10.0  # seconds of the log that are read again: entries of several shards may come late

_SETTLE_SECONDS = 5
_NEW_SECONDS = 86_400  # age up to which an article or a comment that changed may still have to be sent

_LINE_CHARACTERS = 300

_ABOUT = "about"
"""Field of an event's data, until it is sent, that says which article or comment it is about, and its id."""


class Position(NamedTuple):
    """Up to where everything was read. Times are in Unix seconds, `change` as the change log has it."""

    change: tuple[int, str]
    log: float
    queue: float


class Event(NamedTuple):
    """Something that happened. `groups`: the groups that it is about; `line`: it in one line."""

    kind: str
    key: str
    at: float
    groups: tuple[str, ...]
    line: Callable[[], str]
    path: str
    data: dict[str, Any]
    points: int = 0


class Found(NamedTuple):
    """The events after a position, the position after them, and whether more follow at once."""

    position: Position
    events: list[Event]
    has_next: bool


def now(repository: Repository) -> Position:
    """Return the position from which only what happens later is found. One round trip."""
    at = repository.store.now()
    return Position(repository.changes.read_part(None, _CHANGES_READ).place, at, floor(at) - 1)


def find(repository: Repository, position: Position) -> Found:
    """Return what happened after a position, but for what waits for moderators. Raises StoreError."""
    try:
        part = repository.changes.read_part(position.change, _CHANGES_READ)
    except ChangesLostError:
        _log.warning("webhooks miss some articles and comments: the store has dropped their changes")
        part = repository.changes.read_part(None, _CHANGES_READ)
    since, found = repository.store.now() - _NEW_SECONDS, list[Event]()
    changed = list(repository.changes.read_changed(part.changed))
    on = {comment.article for _one, _article, comment in changed if comment and comment.is_shown}
    discussed = {one.id: one for one in repository.articles.get_many([*on])}
    for _one, article, comment in changed:
        if article and not article.is_withheld:
            found += _of_article(article, since)
        elif comment and comment.is_shown and comment.posted_at > since and comment.article in discussed:
            found.append(_of_comment(comment, discussed[comment.article]))
    entries = [entry for entry in _logged(repository, position.log - _OVERLAP) if entry.action in _OF_ACTIONS]
    about = {
        one.id: one
        for one in repository.articles.get_many([*{one.article_id for one in entries if one.article_id}])
    }
    found += [_of_entry(entry, about.get(entry.article_id)) for entry in entries]
    log = max([position.log, *(entry.at for entry in entries)])
    return Found(position._replace(change=part.place, log=log), found, part.has_next)


def _of_article(article: Article, since: float) -> Iterator[Event]:
    path, data = reverse("articles:article", args=[article.id]), {_ABOUT: ["article", article.id]}

    def posted() -> str:
        name = article.poster_name
        return _("%(name)s posted “%(title)s”") % {"name": name, "title": article.title}

    def points() -> str:
        text = ngettext("“%(title)s” has %(num)s point", "“%(title)s” has %(num)s points", article.points)
        return text % {"num": grouped(article.points), "title": article.title}

    if article.posted_at > since:
        yield Event(POSTED, f"posted {article.id}", article.posted_at, article.groups, posted, path, data)
    yield Event(
        POINTS, f"points {article.id}", article.posted_at, article.groups, points, path, data, article.points
    )


def _of_comment(comment: Comment, article: Article) -> Event:
    def line() -> str:
        text = _("%(name)s commented on “%(title)s”: %(text)s")
        said = {"name": comment.author_name, "title": article.title, "text": plain(comment.html)}
        return text % said

    path, data = reverse("articles:comment", args=[comment.id]), {_ABOUT: ["comment", comment.id]}
    return Event(COMMENTED, f"comment {comment.id}", comment.posted_at, article.groups, line, path, data)


class Drawn(NamedTuple):
    """The data of an event, and the groups of the article that it is about."""

    data: dict[str, Any]
    groups: tuple[str, ...]


def draw(repository: Repository, data: dict[str, Any]) -> Drawn | None:
    """Return the data of an event as it is now; None if what it is about was removed. Up to four round trips.

    A delivery that waits keeps an id alone: a thousand of them need no thousand copies of a text.
    """
    if _ABOUT not in data:
        return Drawn(data, ())
    kind, number = data[_ABOUT]
    read = repository.changes.read_changed([Changed(number, kind == "comment", 0.0)])
    for _one, article, comment in read:
        if article and not article.is_withheld:
            return Drawn({"article": schemas.WholeArticle.of(article).model_dump(mode="json")}, article.groups)
        if comment and comment.is_shown:
            on = repository.articles.get(comment.article)
            about = {"id": on.id, "title": on.title}
            shown = CommentShape.of(comment).model_dump(mode="json")
            return Drawn({"comment": shown, "article": about}, on.groups)
    return None


def _logged(repository: Repository, since: float) -> Iterator[LogEntry]:
    """Yield the entries of the public log since a time, the newest first; only so many."""
    page = repository.moderation_log.find(LogFilter())
    for _number in range(_LOG_PAGES):
        for entry in page.entries:
            if entry.at <= since:
                return
            yield entry
        if not page.has_next:
            return
        page = repository.moderation_log.find(LogFilter(), page.rest)


def _of_entry(entry: LogEntry, article: Article | None) -> Event:
    named = [slug for name in ("slug", "into", "added", "removed") for slug in entry.slugs(name)]
    groups = tuple(dict.fromkeys([*named, *(article.groups if article else ())]))

    def line() -> str:
        label, reason = str(ACTIONS[entry.action]), f" – {as_shown(entry.reason)}" if entry.reason else ""
        return f"{label}: {entry.title}{reason}"

    data = {"entry": LogEntryShape.of(entry).model_dump(mode="json")}
    path = reverse("articles:log")
    if entry.article_id:
        path = reverse("articles:article", args=[entry.article_id])
    key = f"log {entry.at:.6f} {entry.action}"
    return Event(_OF_ACTIONS[entry.action], key, entry.at, groups, line, path, data)


def list_waiting(
    repository: Repository, webhooks: Sequence[Webhook], since: float
) -> tuple[float, dict[int, list[Event]]]:
    """Return what began to wait since a time, by webhook, for those whose owner may decide it, and until when."""
    until = floor(repository.store.now() - _SETTLE_SECONDS)
    asked = [one for one in webhooks if WAITING in one.event_list]
    if not asked or until <= since:
        return max(since, until), {}
    waiting, anyone = Waiting(repository, floor(since), until), User(is_active=True, is_superuser=True)
    found = {
        one.pk: [_of_row(row.text, row.address, until) for row in waiting.rows_for(one.user or anyone, since)]
        for one in asked
    }
    return until, found


def _of_row(text: str, address: str, until: float) -> Event:
    path = address.removeprefix(site_origin())
    key = f"waiting {until:.0f} {path}"
    return Event(WAITING, key, until + 1, (), lambda: text, path, {"waiting": text})


def line_of(event: Event) -> str:
    """Return what happened in one line, in the active language."""
    return Truncator(" ".join(event.line().split())).chars(_LINE_CHARACTERS)

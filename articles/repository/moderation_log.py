"""The public moderation log: every edit, removal, restoration and change of groups, with its reason."""

import json
from collections.abc import Iterator
from heapq import merge
from itertools import islice

from articles.domain import Action, ArticleId, LogEntry, LogPage
from articles.errors import PageNotFound
from articles.repository.store import Store

_AT_ONCE = 500


class ModerationLog:
    """Reads what the scripts wrote, in the same atomic step as the change itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(self, number: int = 1) -> LogPage:
        """Page `number`, counted from 1, newest first. One round trip. Raises PageNotFound."""
        size = self._store.rules.per_page
        start = (number - 1) * size
        if start < 0:
            raise PageNotFound(number)
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.lrange(keys.log, 0, start + size)
            shards = [[_entry(text) for text in texts] for texts in pipe.execute()]
        newest_first = merge(*shards, key=lambda entry: entry.at, reverse=True)
        entries = list(islice(newest_first, start, start + size + 1))
        if number > 1 and not entries:
            raise PageNotFound(number)
        return LogPage(tuple(entries[:size]), number, has_next=len(entries) > size)

    def about(self, article_id: ArticleId) -> LogPage:
        """The first page of what was done to an article, newest first. One round trip."""
        keys, size = self._store.shards.of(article_id), self._store.rules.per_page
        found = self._store.run("find_entries", [keys.article(article_id), keys.log], [size + 1])
        return LogPage(tuple(map(_entry, found[:size])), 1, has_next=len(found) > size)

    def by(self, name: str) -> Iterator[LogEntry]:
        """Everything a member did, newest first in each shard."""
        for keys in self._store.shards.all:
            start, found = 0, [""]
            while found:
                with self._store.commands() as client:
                    found = client.lrange(keys.log, start, start + _AT_ONCE - 1)
                yield from (entry for entry in map(_entry, found) if entry.actor_name == name)
                start += len(found)


def _entry(text: str) -> LogEntry:
    raw = json.loads(text)
    return LogEntry(
        action=Action(raw["action"]),
        at=float(raw["at"]),
        actor_name=raw["actor"],
        article_id=int(raw["id"]),
        title=raw["title"],
        reason=raw["reason"],
        details=dict(raw["details"]),
    )

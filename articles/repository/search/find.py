"""Maintains the index of words.

An article's index entries are in its shard, written by the same script as the article.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from articles.domain.articles import ArticleId
from articles.repository.search.comment_index import CommentIndex
from articles.repository.search.index import (
    ALL_INDEXED,
    DAMAGED,
    LISTED,
    Indexed,
    by_words,
    indexed_from,
    reading,
    version_of,
)
from articles.repository.search.memberships import Memberships
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.connection import Call, Store, Value
from articles.repository.store.keys import Keys
from articles.searching import WORDS_VERSION, words_of

_ATTEMPTS = 5
"""Attempts to read an article that keeps changing.

One with bytes that are not text always seems to have changed.
"""


class Search:
    """The search of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._comments = CommentIndex(store)

    def reindex(self, ids: Iterable[ArticleId], memberships: Memberships | None = None) -> int:
        """Index these articles by their current words; return how many of them exist. Idempotent.

        Call it after changing a title, a link or a poster's name other than by posting, editing and importing.
        Does nothing if a newer version of the site, running beside this one, maintains the index. `memberships`
        counts the words and groups of those that are listed, for callers that have put them into their groups.
        One round trip, and two for each step of `STEP` ids.
        """
        waiting, done = [] if version_of(self._state()) > WORDS_VERSION else list(ids), 0
        attempts = Counter[ArticleId]()
        while waiting:
            batch, waiting = waiting[:ARTICLES_PER_READ], waiting[ARTICLES_PER_READ:]
            articles = self._read(batch)
            done += len(articles)
            changed = self._enter(articles, memberships)
            attempts.update(changed)
            waiting = [number for number in changed if attempts[number] < _ATTEMPTS] + waiting
        return done

    def _read(self, ids: Sequence[ArticleId]) -> dict[ArticleId, Indexed]:
        """Return those of these articles that are whole. One round trip."""
        shards = self._store.shards.split(ids)
        replies = self._store.run_many([reading(keys, numbers) for keys, numbers in shards.items()])
        articles = zip(chain(*shards.values()), chain(*map(indexed_from, replies)), strict=True)
        return {number: article for number, article in articles if article.state != DAMAGED}

    def _enter(self, articles: Mapping[ArticleId, Indexed], memberships: Memberships | None) -> list[ArticleId]:
        """Index these articles; return the ids of those that changed since they were read."""
        words = {number: words_of(*article.facts) for number, article in articles.items()}
        shards: dict[Keys, list[tuple[str, ...]]] = {}
        for number, article in articles.items():
            row = (str(number), *article.facts, words[number])
            shards.setdefault(self._store.shards.of(number), []).append(row)
        calls = [
            Call("search/index", (keys.lexicon,), (keys.prefix, *chain(*batch)))
            for keys, rows in shards.items()
            for batch in by_words(rows)
        ]
        changed = [int(number) for reply in self._store.run_many(calls) for number in reply]
        if memberships is not None:
            listed = (number for number in articles.keys() - changed if articles[number].state == LISTED)
            memberships.add((words[number], articles[number].groups or "") for number in listed)
        return changed

    def index_all(self, *, restart: bool = False) -> Iterator[tuple[int, int]]:
        """Index all articles and their comments by id; yield the last id done and the highest id after each step.

        Resumes after an interruption, or starts over with `restart`. New articles are indexed when they are
        posted. If several versions of the site run side by side, only the newest one indexes, unless an older one
        is called with `restart`: then the older one takes over, as after a downgrade. Five round trips for each
        step of `STEP` ids, and some for their comments.
        """
        with self._store.pipeline() as pipe:
            pipe.get(names.COUNTER)
            pipe.hget(names.SCHEMA, "indexed")
            counter, state = pipe.execute()
        if state == ALL_INDEXED and not restart:
            return
        last, done = int(counter or 0), 0 if restart else _reached(state)
        if not self._note(done, takes_over=restart):
            return
        while done < last:
            following = min(done + ARTICLES_PER_READ, last)
            self.reindex(range(done + 1, following + 1))
            self._comments.update_on(range(done + 1, following + 1))
            done = following
            if not self._note(done):
                return
            yield done, last
        self.mark_all_indexed()

    def mark_all_indexed(self) -> None:
        """Record that every article is indexed. One round trip."""
        self._note("all")

    def _note(self, reached: int | str, *, takes_over: bool = False) -> bool:
        """Record the id up to which articles are indexed; return False if a newer version maintains the index."""
        arguments: list[Value] = [WORDS_VERSION, reached, int(takes_over)]
        status, *_ = self._store.run("search/note_indexed", [names.SCHEMA], arguments)
        return bool(status == "ok")

    def _state(self) -> str | None:
        with self._store.commands() as client:
            state: str | None = client.hget(names.SCHEMA, "indexed")
        return state

    def catch_up(self, budget: float) -> int:
        """Continue indexing for about `budget` seconds, if it is incomplete; return how many ids were done.

        One round trip if the index is complete.
        """
        state = self._state()
        if state == ALL_INDEXED or version_of(state) > WORDS_VERSION:
            return 0
        end, before, done = time.monotonic() + budget, _reached(state), 0
        for reached, _ in self.index_all():
            done = reached - before
            if time.monotonic() > end:
                break
        return done


def _reached(state: str | None) -> int:
    """Return the id up to which articles are indexed by this version."""
    _, _, reached = (state or "").partition(" ")
    return int(reached) if version_of(state) == WORDS_VERSION and reached.isdigit() else 0

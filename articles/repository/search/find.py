"""Search: finds articles by their words, and maintains the index of words.

An article's index entries are in its shard, written by the same script as the article.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from articles.domain.articles import ArticleId
from articles.domain.errors import GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import Order, SearchPage
from articles.domain.members import UserId
from articles.repository.lists.reading import moved_to, read_articles, sort_key
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
from articles.repository.store.values import article_id_from
from articles.searching import WORDS_VERSION, Query, Term, words_of

MOST_FOUND = 1000
"""Articles that can be paged through: a reader who needs more should refine the query."""

FEW = 2000
"""Matches up to which a script reads and sorts all."""

STEPS = (("walk", 2000), ("meet", 4000), ("walk", 4000), ("walk", 4000), ("sample", 1))
"""Modes of the script to try in turn until the best matches are known, each with the number of articles to walk
past in a ranking. After the last one the result is marked incomplete, so that rare queries do not hold up the
store."""

_ATTEMPTS = 5
"""Readings of an article that changes meanwhile. One with bytes that are no text always seems to have changed."""

_Match = tuple[float, bytes]


class Search:
    """The search of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(
        self,
        query: Query,
        order: Order = Order.SCORE,
        number: int = 1,
        *,
        slug: str | None = None,
        hidden: Sequence[str] = (),
        reader: UserId | None = None,
    ) -> SearchPage:
        """Return page `number`, counted from 1, of the articles that match all terms, best or newest first.

        By score, articles with the last word as typed come before those with a word that begins with it. `slug`:
        only articles of this group; `hidden`: without articles of these groups. Three round trips; some more for
        words that are frequent alone and rare together. Raises GroupNotFound, PageNotFound before the first and
        beyond the last page, and PageTooDeep beyond `MOST_FOUND` articles.
        """
        size = self._store.rules.per_page
        start = (number - 1) * size
        if number < 1:
            raise PageNotFound(number)
        if start >= MOST_FOUND:
            raise PageTooDeep(number)
        results, titles, indexed = self._search(query, order, start + size + 1, slug, hidden)
        ids = [article_id_from(member) for _, member in results.best[start : start + size]]
        if number > 1 and not ids:
            raise PageNotFound(number)
        listed = [article for article in read_articles(self._store, ids, reader) if article.removed is None]
        has_next = len(results.best) > start + size and start + size < MOST_FOUND
        facts = (order, titles, results.total, results.complete and indexed)
        return SearchPage(tuple(listed), number, size, has_next, *facts)

    def list_newest(
        self, query: Query, most: int, *, slug: str | None = None, hidden: Sequence[str] = ()
    ) -> list[ArticleId]:
        """Return the ids of the newest matching articles, newest first, at most `most`.

        Two round trips, or some more, as for a page. Raises GroupNotFound.
        """
        results, _, _ = self._search(query, Order.TIME, most, slug, hidden)
        return [article_id_from(member) for _, member in results.best[:most]]

    def _search(
        self, query: Query, order: Order, size: int, slug: str | None, hidden: Sequence[str]
    ) -> "tuple[_Results, dict[str, str], bool]":
        """Return the `size` best matches, the groups' titles, and whether every article is indexed."""
        titles, indexed = self._directory()
        if slug is not None and slug not in titles:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        queries = [query]
        if order is Order.SCORE and (whole := query.of_whole_words()):
            queries = [whole, query]
        scans = [
            _Scan(self._store, _as_json(variant.with_groups(titles), slug, hidden), order, size)
            for variant in queries
        ]
        if query.terms:
            _run(self._store, scans)
        else:
            scans[0].find_nothing()
        return _Results(scans), titles, indexed

    def _directory(self) -> tuple[dict[str, str], bool]:
        """Return the groups' titles by slug, and whether every article is indexed."""
        with self._store.pipeline() as pipe:
            pipe.hgetall(self._store.shards.directory.groups)
            pipe.hget(names.SCHEMA, "indexed")
            titles, indexed = pipe.execute()
        return titles, indexed == ALL_INDEXED

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
        """Index all articles by id; yield the last id done and the highest id after each step.

        Resumes after an interruption, or starts over with `restart`. New articles are indexed when they are
        posted. If several versions of the site run side by side, only the newest one indexes, unless an older one
        is called with `restart`: then the older one takes over, as after a downgrade. Four round trips for each
        step of `STEP` ids.
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


def _as_json(query: Query, slug: str | None, hidden: Sequence[str]) -> str:
    terms = [*query.terms, *([Term((), groups=(slug,))] if slug is not None else [])]
    rows = [{"words": t.words, "beginning": t.beginning, "groups": t.groups} for t in terms]
    return json.dumps({"terms": rows, "hidden": [name for name in hidden if name != slug]}, ensure_ascii=False)


def _run(store: Store, scans: "Sequence[_Scan]") -> None:
    """Run the scans in parallel, a round trip for each step, until all know the best matches."""
    for step in STEPS:
        calls = [call for scan in scans for call in scan.calls(*step)]
        if not calls:
            return
        replies = iter(store.run_many(calls))
        for scan in scans:
            scan.take(replies)
    for scan in scans:
        scan.end()


class _Results:
    """The matches of one or more scans: all of the first scan come before the others of the next."""

    def __init__(self, scans: "Sequence[_Scan]") -> None:
        self.best = list({match[1]: match for scan in scans for match in scan.best}.values())
        self.total = scans[-1].total
        self.complete = all(scan.complete for scan in scans)


class _Scan:
    """The search for one query in all shards, step by step, until the best matches are known."""

    def __init__(self, store: Store, query: str, order: Order, size: int) -> None:
        self._query, self._order, self._size = query, order, size
        self._matches: dict[Keys, dict[str, float]] = {keys: {} for keys in store.shards.all}
        """Each shard's matches with their values in the ranking, as last read: they may change between steps."""

        self._ranks = dict.fromkeys(store.shards.all, 0)
        """Ranks from which to continue in the shards that are not done."""

        self._totals: dict[Keys, int] = {}
        self.complete = True
        """Whether the best matches are certainly known."""

    def calls(self, mode: str, walked: int) -> list[Call]:
        """Return the calls of the next step, one for each shard that is not done."""
        return [
            Call(
                "search/find",
                (keys.order(self._order),),
                (keys.prefix, self._query, self._size, rank, mode, FEW, walked),
            )
            for keys, rank in self._ranks.items()
        ]

    def take(self, replies: Iterator[list[str]]) -> None:
        """Take one reply for each of the calls."""
        for keys in list(self._ranks):
            reply = next(replies)
            if self._is_enough(keys, reply):
                del self._ranks[keys]
            else:
                self._ranks[keys] = int(reply[1])

    def end(self) -> None:
        """End the scan after the last step; it is incomplete if any shard is not done."""
        self.complete = not self._ranks

    def find_nothing(self) -> None:
        """End a search without terms: no article matches."""
        self._totals = dict.fromkeys(self._matches, 0)

    def _is_enough(self, keys: Keys, reply: list[str]) -> bool:
        """Record a shard's matches; return whether the shard is done."""
        status, number, *flat = reply
        matches = {member: float(value) for member, value in zip(flat[::2], flat[1::2], strict=True)}
        if status == "all":
            self._matches[keys], self._totals[keys] = matches, int(number)
            return True
        self._matches[keys] |= matches
        return int(number) < 0 or len(self._matches[keys]) >= self._size

    @property
    def best(self) -> list[_Match]:
        """All matches so far, best first."""
        entries = (entry for matches in self._matches.values() for entry in matches.items())
        return sorted((sort_key(value, member) for member, value in entries), reverse=True)

    @property
    def total(self) -> int | None:
        """Number of matches; None if unknown."""
        return sum(self._totals.values()) if len(self._totals) == len(self._matches) else None

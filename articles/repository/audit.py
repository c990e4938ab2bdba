"""Proves the store's invariants, on a live site too: each is checked in one atomic step.

1. open article: votes = voters, opposes = opposers, and nobody is both
2. score = time + seconds per point x points, exactly; the time ranking holds the article's time
3. an article exists if and only if it is in both rankings, or among the removed and in neither
4. a group holds exactly the listed articles that say so, and is in the directory; its rankings equal their
   intersections. (A group that is merged away at this moment, while articles are put into it, may be reported.)
5. no voter set without an end, no key without its article, id counter at least the highest id
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from articles.domain import Order
from articles.repository import keys as names
from articles.repository.keys import Keys
from articles.repository.keyspace import batches, mentioned_ids, survey
from articles.repository.store import Store, exact_time

_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken invariant: the key or article, and what is wrong with it."""

    subject: str
    problem: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}"


Progress = Callable[[int, int], None]
"""Told how many articles are done, and of how many."""


def quiet(_done: int, _total: int) -> None:
    pass


class Audit:
    """The audit of a store. Changes nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def findings(self, progress: Progress = quiet) -> Iterator[Finding]:
        """Everything that is wrong; a sound store yields nothing."""
        shards, foreign = survey(self._store)
        ids = {keys: mentioned_ids(self._store, keys, contents) for keys, contents in shards.items()}
        done, total = 0, sum(len(found) for found in ids.values())
        progress(done, total)
        yield from (Finding(name, "belongs to nothing of this site") for name in foreign)
        yield from self._check_counter(max((max(found, default=0) for found in ids.values()), default=0))
        yield from self._check_weights()
        for keys, contents in shards.items():
            for batch in batches(ids[keys], _AT_ONCE):
                yield from self._check_articles(keys, batch)
                done += len(batch)
                progress(done, total)
            for slug in sorted(contents.groups):
                yield from self._check_group(keys, slug)

    def _check_counter(self, highest: int) -> Iterator[Finding]:
        with self._store.commands() as client:
            counter = int(client.get(names.COUNTER) or 0)
        if counter < highest:
            yield Finding(names.COUNTER, f"is {counter}, but there is an article {highest}")

    def _check_weights(self) -> Iterator[Finding]:
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.hget(keys.ranking, "seconds_per_point")
            weights = pipe.execute()
        for keys, weight in zip(self._store.shards.all, weights, strict=True):
            if weight is None or weight != weights[0]:
                yield Finding(keys.ranking, f"seconds per point {weight}, elsewhere {weights[0]}")

    def _check_articles(self, keys: Keys, batch: list[str]) -> Iterator[Finding]:
        store = self._store
        flat = store.run(
            "audit_articles",
            [*(keys.order(order) for order in (Order.TIME, Order.SCORE)), keys.removed],
            [keys.prefix, exact_time(store.now()), store.rules.voting_window, *batch],
        )
        for article_id, problem in zip(flat[::2], flat[1::2], strict=True):
            yield Finding(keys.article(int(article_id)), problem)

    def _check_group(self, keys: Keys, slug: str) -> Iterator[Finding]:
        with self._store.pipeline() as pipe:
            pipe.hexists(self._store.shards.directory.groups, slug)
            pipe.smembers(keys.group(slug))
            exists, found = pipe.execute()
        members = {int(member) for member in found}
        if members and not exists:
            yield Finding(keys.group(slug), "holds articles, but there is no such group")
        for batch in [*batches(members, _AT_ONCE), []]:  # none: the rankings
            for problem in self._store.run("audit_group", [keys.group(slug)], [keys.prefix, slug, *batch]):
                yield Finding(keys.group(slug), problem)

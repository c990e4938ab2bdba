"""Proves the store's invariants, on a live site too: each is checked in one atomic step.

1. open article: votes = voters, opposes = opposers, and nobody is both
2. score = time + seconds per point x points, exactly; the time ranking holds the article's time, the one by points
   its points; those of what was posted lately equal it
3. an article exists if and only if it is in these rankings, or among the removed and in none
4. a group holds exactly the listed articles that say so, and is in the directory; its rankings equal their
   intersections. (A group that is merged away at this moment, while articles are put into it, may be reported.)
5. the parameters in force are the same in every shard and within their ranges
6. the hot list holds listed articles only, each with its hotness at the list's one moment; views and visitors
   are counted together, or archived together
7. an article is under exactly the words of its title, its link's host and its poster, and in the lexicon are
   exactly the words that have articles; removed articles are under none
8. while voting is open, what a member is listed to have voted for and opposed is what the voter sets say; nothing
   is listed of former members
9. an article knows exactly the entries of the moderation log that are about it
10. no voter set without an end, no key without its article, id counter at least the highest id
"""

from collections.abc import Callable, Iterator
from typing import Any

from articles.domain import Order, Span, UserId
from articles.ranking import RANGES, out_of_range
from articles.repository import keys as names
from articles.repository.index import Finding, Index
from articles.repository.keys import Keys
from articles.repository.keyspace import batches, mentioned_ids, survey
from articles.repository.store import Store, exact_time
from articles.repository.tuning import parameters_from

_AT_ONCE = 250
_MOST_READINGS = 10

_IN_FORCE = (*RANGES, "seconds_per_point", "version", "refreshed_at")


Progress = Callable[[int, int], None]
"""Told how many articles are done, and of how many."""


def quiet(_done: int, _total: int) -> None:
    pass


class Audit:
    """The audit of a store. Changes nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index = Index(store)

    def findings(self, progress: Progress = quiet) -> Iterator[Finding]:
        """Everything that is wrong; a sound store yields nothing."""
        shards, foreign = survey(self._store)
        ids = {keys: mentioned_ids(self._store, keys, contents) for keys, contents in shards.items()}
        done, total = 0, sum(len(found) for found in ids.values())
        progress(done, total)
        yield from (Finding(name, "belongs to nothing of this site") for name in foreign)
        yield from self._check_counter(max((max(found, default=0) for found in ids.values()), default=0))
        yield from self._check_parameters()
        for keys, contents in shards.items():
            for batch in batches(ids[keys], _AT_ONCE):
                yield from self._check_articles(keys, batch)
                yield from self._index.check_articles(keys, batch)
                done += len(batch)
                progress(done, total)
            yield from self._check_log(keys)
            yield from self._index.check_words(keys, contents.words)
            for slug in sorted(contents.groups):
                yield from self._check_group(keys, slug)
            yield from self._check_hot(keys)
            for member in sorted(contents.members):
                yield from self._check_choices(keys, member)
            yield from self._check_tops(keys)

    def _check_counter(self, highest: int) -> Iterator[Finding]:
        with self._store.commands() as client:
            counter = int(client.get(names.COUNTER) or 0)
        if counter < highest:
            yield Finding(names.COUNTER, f"is {counter}, but there is an article {highest}")

    def _check_parameters(self) -> Iterator[Finding]:
        shards = self._parameters()
        for keys, values in zip(self._store.shards.all, shards, strict=True):
            told = dict(zip(_IN_FORCE, values, strict=True))
            yield from (Finding(keys.ranking, f"has no {name}") for name, value in told.items() if value is None)
            for name, value, first in zip(_IN_FORCE, values, shards[0], strict=True):
                if None not in (value, first) and value != first:
                    yield Finding(keys.ranking, f"{name} {value}, elsewhere {first}")
            if None not in values:
                parameters, weight = parameters_from(told), told["seconds_per_point"]
                wrong = out_of_range(parameters)
                yield from (Finding(keys.ranking, f"{name} {told[name]} is out of range") for name in wrong)
                if not wrong and float(weight) != parameters.seconds_per_point:
                    votes = told["votes_per_day"]
                    yield Finding(keys.ranking, f"seconds_per_point {weight}, but votes_per_day {votes}")

    def _parameters(self) -> list[list[Any]]:
        """Those of each shard; read again where the list was scored anew between one shard and the next."""
        for _ in range(_MOST_READINGS):
            with self._store.pipeline() as pipe:
                for keys in self._store.shards.all:
                    pipe.hmget(keys.ranking, _IN_FORCE)
                shards: list[list[Any]] = pipe.execute()
            if all(values == shards[0] for values in shards):
                break
        return shards

    def _check_hot(self, keys: Keys) -> Iterator[Finding]:
        flat = self._store.run("audit_hot", [keys.order(Order.HOT)], [keys.prefix])
        for article_id, problem in zip(flat[::2], flat[1::2], strict=True):
            yield Finding(keys.article(int(article_id)), problem)

    def _check_tops(self, keys: Keys) -> Iterator[Finding]:
        flat = self._store.run("audit_top", [keys.ranking], [keys.prefix])
        for span, problem in zip(flat[::2], flat[1::2], strict=True):
            yield Finding(keys.top(Span(span)), problem)

    def _check_articles(self, keys: Keys, batch: list[str]) -> Iterator[Finding]:
        store = self._store
        flat = store.run(
            "audit_articles",
            [*map(keys.order, (Order.TIME, Order.SCORE)), keys.removed, keys.order(Order.POINTS)],
            [keys.prefix, exact_time(store.now()), *batch],
        )
        for article_id, problem in zip(flat[::2], flat[1::2], strict=True):
            yield Finding(keys.article(int(article_id)), problem)

    def _check_log(self, keys: Keys) -> Iterator[Finding]:
        with self._store.commands() as client:
            entries = client.llen(keys.log)
        for done in range(0, entries, _AT_ONCE):
            flat = self._store.run("audit_log", [keys.log], [keys.prefix, done, _AT_ONCE])
            for article_id, problem in zip(flat[::2], flat[1::2], strict=True):
                yield Finding(keys.article(int(article_id)), problem)

    def _check_choices(self, keys: Keys, member: UserId) -> Iterator[Finding]:
        lists = [keys.votes_of(member), keys.opposes_of(member)]
        now = exact_time(self._store.now())
        flat = self._store.run("audit_choices", [*lists, keys.gone], [keys.prefix, member, now])
        for at, problem in zip(flat[::2], flat[1::2], strict=True):
            yield Finding(lists[at - 1], problem)

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

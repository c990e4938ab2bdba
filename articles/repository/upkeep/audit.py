"""The audit: checks the store's invariants, even on a live site, each article and each place in a list atomically.

1. every article says when voting ends; open article: votes = voters, opposes = opposers, and no member is both
2. score = time + seconds per point x points, exactly; the time ranking holds the article's time, the one by points
   its points; the rankings of spans equal it
3. an article exists if and only if it is in these rankings, or among the removed and in none
4. a group holds exactly the listed articles that name it, and is in the directory; its rankings equal their
   intersections; only groups of the directory have a description. (A group that is being merged while articles
   are added to it may be reported.)
5. the current parameters are the same in every shard and within their ranges
6. the hot list holds listed articles only, each with its hotness at the list's one moment; views and visitors
   are counted together, or archived together
7. while voting is open, a member's lists of votes and opposes equal the voter sets; deleted accounts have none
8. an article lists exactly the entries of the moderation log that are about it
9. no article has the name of a poster whose account is deleted (one that is being deleted may still have some)
10. a comment is in its places among the replies to a comment, or to the root, of its article, exactly by its votes
    and its time, and in its author's list; these hold nothing else. Its votes equal its voter sets until they are
    dropped, as noted. A deleted comment has replies. An article counts the comments that are shown, says when
    the last one was posted, by which it is ranked unless it is removed, and has given out their numbers.
11. the queue and the members' lists of flags hold exactly the flags of what is there, by their states; none is
    open on what is removed
12. a shard's record of a member's votes left out of ranking agrees with the last act that it follows; none
    follows a later act than the first shard, which says that an act is done once it is done in all others
13. a merged article is removed, and the other one lists it; what an article lists as merged is, unless its votes
    still have to be moved; votes that came with a merged article are votes on the other one
14. an inbox holds the newest 1,000 notices at most, each about an article that exists; deleted accounts have none
15. no voter set expires, and none is left that should have been dropped; every key has its article; the id counter
    is at least the highest id; a listed article with a voting ring is in the list of the newest rings
16. every key has its type; while one has not, nothing else is checked
"""

import time
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.lists import SPANS, Order, Period
from articles.domain.members import UserId
from articles.domain.ranking import RANGES, out_of_range
from articles.repository.inbox import check_inbox
from articles.repository.moderation.flags import FlagUpkeep
from articles.repository.moderation.left_out import LeftOutUpkeep
from articles.repository.moderation.merges import MergeUpkeep
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK, read_ahead
from articles.repository.store.connection import OfStore, Store, Value, exact_time
from articles.repository.store.findings import Finding, Verb, attempt, attempt_each, findings_from
from articles.repository.store.keys import Keys, among
from articles.repository.store.scan import Contents, batches, newest_since, portions, ranked_members
from articles.repository.store.values import parameters_from
from articles.repository.upkeep.comments import CommentAudit
from articles.repository.upkeep.group_audit import GroupAudit
from articles.repository.upkeep.long_articles import MOST_LOOKED_AT, check_long
from articles.repository.upkeep.survey import find_all, note_ids

_NAMES = (*RANGES, "seconds_per_point", "version", "refreshed_at")

_RESCORE_SECONDS, _PAUSE_SECONDS = 2.0, 0.05
"""Seconds for which shards of a cluster may differ while they are rescored, and between two readings."""


Progress = Callable[[int, int], None]  # receives the number of articles done so far, and of all articles


class Facts(NamedTuple):
    """What the check read of an article: the groups that it names, its state, and more."""

    groups: str | None
    state: str  # "listed", "removed", "damaged" or "missing"
    is_discussed: bool  # whether it has any field about comments
    merged: tuple[str, str]  # the fields `merged` and `merges`, "" without


Batch = tuple[list[str], list[Finding], dict[str, Facts]]
"""Ids of some articles, what is wrong with them, and what was read of those that could be read."""


def quiet(_done: int, _total: int) -> None:
    """Ignore the progress."""


class Audit(OfStore):
    """The audit of a store. Read-only."""

    def run(self, progress: Progress = quiet, left_behind: Iterable[str] = ()) -> Iterator[Finding]:
        """Yield every broken invariant, none for a sound store. Reads all keys, in batches. Raises StoreError.

        `left_behind`: kinds of keys of extras that were deleted, which are no findings.
        """
        found, is_left = find_all(self._store), among(left_behind)
        foreign = (name for name in found.foreign if not is_left(name))
        yield from (Finding(name, "belongs to nothing of this site") for name in foreign)
        if found.mistyped:
            yield from (one.finding for one in found.mistyped)
            return
        note_ids(self._store, found)
        yield from (Finding(ranking, f"holds {member!r}, which is no id") for ranking, member in found.strays)
        ids = found.ids
        done, total = 0, sum(map(len, ids.values()))
        progress(done, total)
        yield from attempt(names.COUNTER, self._check_counter(max(chain.from_iterable(ids.values()), default=0)))
        yield from attempt(self._store.shards.directory.ranking, self._check_parameters())
        yield from attempt(self._store.shards.directory.descriptions, self._check_descriptions())
        yield from attempt(self._store.shards.directory.left_out_acts, LeftOutUpkeep(self._store).check())
        merged = dict[ArticleId, tuple[str, str]]()
        for keys, contents in found.shards.items():
            groups, discussed = GroupAudit(self._store, keys), set[ArticleId]()
            read = partial(self._read_batch, keys, contents.mentioned)
            for batch, findings, articles in read_ahead(read, batches(ids[keys], ARTICLES_PER_CHECK)):
                yield from findings
                for article_id, article in articles.items():
                    if article.state == "listed":
                        groups.note(article_id, article.groups)
                    if any(article.merged):
                        merged[int(article_id)] = article.merged
                discussed.update(int(one) for one in batch if one not in articles or articles[one].is_discussed)
                done += len(batch)
                progress(done, total)
            yield from attempt(keys.log, check_log(self._store, keys))
            yield from groups.run(contents.groups, ids[keys])
            yield from self._check_lists(keys, contents)
            comments = CommentAudit(self._store)
            yield from comments.run(keys, contents, discussed)
            yield from attempt(keys.flagged, FlagUpkeep(self._store).check(keys, contents))
        yield from attempt(names.MERGE_LOCK, MergeUpkeep(self._store).check(merged))

    def _check_descriptions(self) -> Iterator[Finding]:
        directory = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.hkeys(directory.groups)
            pipe.hkeys(directory.descriptions)
            groups, described = pipe.execute()
        for slug in sorted(set(described).difference(groups)):
            yield Finding(directory.descriptions, f"describes {slug}, but there is no such group")

    def _read_batch(self, keys: Keys, with_sets: Container[ArticleId], batch: list[str]) -> Batch:
        """Check these articles, and read what they name: the part that waits for the store."""
        articles = dict[str, Facts]()
        check = partial(check_articles, self._store, keys, articles=articles, with_sets=with_sets)
        findings = list(attempt_each(keys.article, batch, check))
        return batch, findings, articles

    def _check_lists(self, keys: Keys, contents: Contents) -> Iterator[Finding]:
        yield from attempt(keys.order(Order.HOT), self._check_hot(keys))
        for member in sorted(contents.members):
            yield from attempt(keys.votes_of(member), check_choices(self._store, keys, member))
        for member in sorted(contents.inboxes):
            yield from attempt(keys.inbox(member), check_inbox(self._store, keys, member))
        for period in SPANS:
            yield from attempt(keys.top(period), self._check_top(keys, period))

    def _check_counter(self, highest: int) -> Iterator[Finding]:
        with self._store.commands() as client:
            counter = int(client.get(names.COUNTER) or 0)
        if counter < highest:
            yield Finding(names.COUNTER, f"is {counter}, but there is an article {highest}")

    def _check_parameters(self) -> Iterator[Finding]:
        shards = self._parameters()
        for keys, values in zip(self._store.shards.all, shards, strict=True):
            named = dict(zip(_NAMES, values, strict=True))
            yield from (Finding(keys.ranking, f"has no {name}") for name, value in named.items() if value is None)
            for name, value, first in zip(_NAMES, values, shards[0], strict=True):
                if None not in (value, first) and value != first:
                    yield Finding(keys.ranking, f"{name} {value}, elsewhere {first}")
            if None not in values:
                parameters, seconds_per_point = parameters_from(named), named["seconds_per_point"]
                wrong = out_of_range(parameters)
                yield from (Finding(keys.ranking, f"{name} {named[name]} is out of range") for name in wrong)
                if not wrong and float(seconds_per_point) != parameters.seconds_per_point:
                    votes = named["votes_per_day"]
                    yield Finding(
                        keys.ranking, f"seconds_per_point {seconds_per_point}, but votes_per_day {votes}"
                    )

    def _parameters(self) -> list[list[Any]]:
        """Read the parameters of each shard; retry while the hot list is rescored in between.

        On a cluster shards are rescored one after the other: what differs there is wrong only if it stays.
        """
        settled_after = _RESCORE_SECONDS if self._store.is_cluster else 0.0
        shards, since = list[list[Any]](), 0.0
        while True:
            before = shards
            shards = self._store.in_shards(lambda pipe, keys: pipe.hmget(keys.ranking, _NAMES))
            if all(values == shards[0] for values in shards):
                return shards
            if shards != before:
                since = time.monotonic()
            elif time.monotonic() - since >= settled_after:
                return shards
            else:
                time.sleep(_PAUSE_SECONDS)

    def _check_hot(self, keys: Keys) -> Iterator[Finding]:
        hot = keys.order(Order.HOT)
        for batch in portions(ranked_members(self._store, hot), ARTICLES_PER_CHECK):
            yield from findings_from(keys.article, self._store.run("audit/hot", [hot], [keys.prefix, *batch]))

    def _check_top(self, keys: Keys, period: Period) -> Iterator[Finding]:
        top, times = keys.top(period), keys.order(Order.TIME)
        rankings, seen = [keys.ranking, top, times, keys.order(Order.POINTS)], set[str]()
        since, wrong, endless = self._store.run("audit/top", rankings, [keys.prefix, period.value])
        if endless:
            yield Finding(top, "is a ranking without end")
        if not since:
            return
        recent = newest_since(self._store, times, float(since))
        for batch in portions(chain(recent, ranked_members(self._store, top)), ARTICLES_PER_CHECK):
            fresh = [article_id for article_id in dict.fromkeys(batch) if article_id not in seen]
            seen.update(fresh)
            _, count, _ = self._store.run("audit/top", rankings, [keys.prefix, period.value, *fresh])
            wrong += count
        if wrong:
            yield Finding(top, f"differs from the points of what was posted since then, by {wrong}")


def check_articles(
    store: Store,
    keys: Keys,
    batch: list[str],
    articles: dict[str, Facts],
    with_sets: Container[ArticleId],
    verb: Verb = "audit",
) -> Iterator[Finding]:
    """Yield what is wrong with these articles, or repair it; add what was read of them to `articles`. In batches.

    `with_sets`: the ids of those that have voter sets or counters. A repair notes for search indexes what it
    changed.
    """
    sets = ",".join(article_id for article_id in batch if int(article_id) in with_sets)
    while batch:
        limits: list[Value] = [exact_time(store.now()), MOST_LOOKED_AT]
        limits += [store.rules.voters_grace, store.rules.hot_size]
        arguments: list[Value] = [keys.prefix, *limits, sets, *batch]
        checked, long, flat, facts = store.run(f"{verb}/articles", [keys.removed], arguments)
        for article_id, (groups, state, is_discussed, *merged) in zip(batch, portions(facts, 5), strict=False):
            articles[article_id] = Facts(groups, state, is_discussed == 1, (merged[0], merged[1]))
        yield from findings_from(keys.article, flat)
        for number in map(int, long):
            problems = check_long(store, keys, number, verb)
            yield from (Finding(keys.article(number), problem) for problem in problems)
        batch = batch[checked:]


def check_log(store: Store, keys: Keys, verb: Verb = "audit") -> Iterator[Finding]:
    """Yield the log entries that their articles do not know; or note them. In batches."""
    done, count = 0, ARTICLES_PER_CHECK
    while count == ARTICLES_PER_CHECK:
        count, flat = store.run(f"{verb}/log", [keys.log], [keys.prefix, done, ARTICLES_PER_CHECK])
        done += count
        yield from findings_from(keys.article, flat)


def check_choices(store: Store, keys: Keys, member: UserId, verb: Verb = "audit") -> Iterator[Finding]:
    """Yield what is wrong with a member's lists of votes and opposes; or repair them. In batches."""
    lists = [keys.votes_of(member), keys.opposes_of(member)]
    now, done, entries = exact_time(store.now()), 0, 1
    while done < entries:
        arguments: list[Value] = [keys.prefix, member, now, done, ENTRIES_PER_CHECK]
        entries, done, flat = store.run(f"{verb}/choices", [*lists, keys.deleted_members], arguments)
        yield from findings_from(lambda at: lists[at - 1], flat)

"""The audit reports nothing for a sound store and, for a broken one, exactly what is broken."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import redis

from articles.domain.lists import Order
from articles.domain.ranking import RANGES, Parameters
from articles.repository import Repository
from articles.repository.store.keys import Keys
from articles.repository.upkeep import audit, group_audit, repair
from tests.cast import ALICE
from tests.clock import DAY
from tests.every_server import with_methods_of
from tests.factories import imported, post, view
from tests.repository.usage import use, warm
from tests.rules import connect
from tests.store_state import contents, problems

pytestmark = pytest.mark.one_shard


@dataclass
class Raw:
    """A used store to break by hand. Article 7 is open and in python, 8 is in redis, 6 is removed, 1 is closed."""

    repository: Repository

    @property
    def client(self) -> redis.Redis:
        return self.repository.store.client

    def of(self, article_id: int) -> Keys:
        return self.repository.store.shards.of(article_id)

    @property
    def first(self) -> Keys:
        return self.repository.store.shards.directory


@pytest.fixture
def used(repository, clock) -> Raw:
    use(repository, clock)
    return Raw(repository)


def test_the_audit_reports_nothing_when_all_voter_sets_have_expired(used, clock):
    clock.advance(30 * DAY)
    for article_id in range(1, 14):
        used.client.delete(used.of(article_id).voted(article_id), used.of(article_id).oppose(article_id))

    assert problems(used.repository) == []


def test_the_audit_reports_nothing_for_a_sound_store_in_full_use_and_changes_nothing(used):
    before = contents(used.repository)

    assert problems(used.repository) == []

    assert contents(used.repository) == before


Break = Callable[[Raw], object]

BROKEN: dict[str, tuple[Break, list[tuple[str, str]]]] = {
    # 1. votes and voters
    "a voter too many": (
        lambda raw: raw.client.sadd(raw.of(7).voted(7), 999),
        [("article:7", "not in votes:999, which is in voted:"), ("article:7", "votes 5, voters 6")],
    ),
    "an opposer missing": (
        lambda raw: raw.client.spop(raw.of(7).oppose(7)),
        [("article:7", "opposes 2, opposers 1"), ("opposes:", "holds 7, but the member is not in oppose:7")],
    ),
    "a count of votes by hand": (
        lambda raw: raw.client.hincrby(raw.of(6).article(6), "votes", 1),
        [("article:6", "votes 5, voters 4")],
    ),
    "a member in both voter sets": (
        lambda raw: (
            raw.client.sadd(raw.of(7).oppose(7), ALICE),
            raw.client.hincrby(raw.of(7).article(7), "opposes", 1),
            raw.repository.repair.run(),
        ),
        [("article:7", "a user is in both voter sets")],
    ),
    # 2. scores
    "a score by hand": (
        lambda raw: raw.client.zincrby(raw.of(3).order(Order.SCORE), 0.001, "3"),
        [
            ("article:3", "score "),
            ("group:python", "score ranking differs"),
            ("group:redis", "score ranking differs"),
        ],
    ),
    "a time ranking by hand": (
        lambda raw: raw.client.zincrby(raw.of(1).order(Order.TIME), -1, "1"),
        [("article:1", "time ")],
    ),
    # 3. articles and rankings
    "an article in no score ranking": (
        lambda raw: raw.client.zrem(raw.of(1).order(Order.SCORE), "1"),
        [("article:1", "ranked nowhere")],
    ),
    "a ranked id without article": (
        lambda raw: (
            raw.client.zadd(raw.of(4000).order(Order.TIME), {"4000": 1}),
            raw.client.set("article:", 5000),
        ),
        [("article:4000", "no such article")],
    ),
    "a hash that lost a field": (
        lambda raw: raw.client.hdel(raw.of(1).article(1), "title"),
        [("article:1", "not a whole one")],
    ),
    "a removed article in a ranking": (
        lambda raw: raw.client.zadd(raw.of(5).order(Order.TIME), {"5": 1}),
        [("article:5", "removed, but listed")],
    ),
    "a removed article that is not among the removed": (
        lambda raw: raw.client.zrem(raw.of(5).removed, "5"),
        [("article:5", "not among the removed")],
    ),
    "a listed article among the removed": (
        lambda raw: raw.client.zadd(raw.of(1).removed, {"1": 1}),
        [("article:1", "among the removed, but listed")],
    ),
    # 4. groups
    "a member of a group whose article does not say so": (
        lambda raw: (raw.client.sadd(raw.of(1).group("python"), 1), drop_rankings(raw, "python")),
        [("group:python", "holds 1, whose article does not say so")],
    ),
    "an article whose place in a group another id takes": (
        lambda raw: (
            raw.client.srem(raw.of(8).group("redis"), 8),
            raw.client.sadd(raw.of(8).group("redis"), 4000),
            drop_rankings(raw, "redis"),
        ),
        [("article:8", "not in redis"), ("group:redis", "holds 4000, whose article does not say so")],
    ),
    "an article that is not in the group it names": (
        lambda raw: (raw.client.srem(raw.of(8).group("redis"), 8), drop_rankings(raw, "redis")),
        [("article:8", "not in redis")],
    ),
    "a removed article in its group": (
        lambda raw: raw.client.sadd(raw.of(6).group("python"), 6),
        [("article:6", "removed, but in python")],
    ),
    "a group that is not in the directory": (
        lambda raw: (raw.client.hdel(raw.first.groups, "redis"), drop(raw, "redis", keep=8)),
        [("group:redis", "holds articles, but there is no such group")],
    ),
    "a group ranking without an entry": (
        lambda raw: raw.client.zrem(raw.of(7).group_order(Order.SCORE, "python"), "7"),
        [("group:python", "score ranking differs from its intersection")],
    ),
    "a group ranking without end": (
        lambda raw: raw.client.persist(raw.of(7).group_order(Order.TIME, "python")),
        [("group:python", "time ranking without end")],
    ),
    # 9. the log
    "an article that does not know an entry about it": (
        lambda raw: raw.client.hset(raw.of(7).article(7), "log", first_of_the_log(raw, 7)),
        [("article:7", "does not know entry ")],
    ),
    "an article that takes an entry for its own": (
        lambda raw: raw.client.hset(raw.of(1).article(1), "log", first_of_the_log(raw, 7)),
        [("article:1", "entry ")],
    ),
    "an article that knows of an entry that is not there": (
        lambda raw: raw.client.hset(raw.of(1).article(1), "log", "1000"),
        [("article:1", "entry 1000 of the log is not about it")],
    ),
    # 5. closing times, orphans, the counter, foreign keys
    "a voter set that expires": (
        lambda raw: raw.client.expire(raw.of(7).oppose(7), 10**6),
        [("article:7", "a voter set that expires")],
    ),
    "a voter set of a closed article that should be gone": (
        lambda raw: (
            raw.client.delete(raw.of(2).voted(2), raw.of(2).oppose(2)),
            raw.client.hset(raw.of(1).ranking, "voters_dropped", raw.repository.articles.get(1).posted_at + 1),
        ),
        [("article:1", "a voter set that should have been dropped")],
    ),
    "voters of no article": (
        lambda raw: (raw.client.sadd(raw.of(4000).voted(4000), 1), raw.client.set("article:", 5000)),
        [("article:4000", "no such article")],
    ),
    "a counter that was put back": (
        lambda raw: raw.client.set("article:", 11),
        [("article:", "is 11, but there is an article 13")],
    ),
    # 6. views and the hot list
    "a hotness by hand": (
        lambda raw: (raw.client.zincrby(raw.of(7).order(Order.HOT), 0.001, "7"), drop_rankings(raw, "python")),
        [("article:7", "hotness ")],
    ),
    "a removed article on the hot list": (
        lambda raw: raw.client.zadd(raw.of(5).order(Order.HOT), {"5": 1}),
        [("article:5", "hot, but removed")],
    ),
    "an article without views on the hot list": (
        lambda raw: raw.client.zadd(raw.of(10).order(Order.HOT), {"10": 1}),
        [("article:10", "hot, but without views")],
    ),
    "a comment with voters that is no id": (
        lambda raw: raw.client.zadd(raw.of(7).comment_voters, {"garbage": 1}),
        [("comment:voters:", "holds 'garbage', which is no id")],
    ),
    "a hot id without article": (
        lambda raw: (
            raw.client.zadd(raw.of(4000).order(Order.HOT), {"4000": 1}),
            raw.client.set("article:", 5000),
        ),
        [("article:4000", "hot, but no article"), ("article:4000", "no such article")],
    ),
    "a moment by hand": (
        lambda raw: everywhere(raw, "refreshed_at", str(raw.repository.hot.get_refreshed_at() + 3600)),
        [(f"article:{i}", "hotness ") for i in (1, 3, 4, 7, 8, 9)],
    ),
    "page views without visitors": (
        lambda raw: raw.client.delete(raw.of(1).visitors(1)),
        [("article:1", "hotness "), ("article:1", "page views 3, but visitors not")],
    ),
    "visitors without page views": (
        lambda raw: (raw.client.delete(raw.of(1).views(1)), raw.client.zrem(raw.of(1).order(Order.HOT), "1")),
        [("article:1", "page views and the time of the last one"), ("article:1", "page views none, but visitors")],
    ),
    "page views without the time of the last one": (
        lambda raw: raw.client.zrem(raw.of(1).viewed, "1"),
        [("article:1", "page views and the time of the last one disagree")],
    ),
    "counters that are archived and here": (
        lambda raw: raw.client.hset(raw.of(1).article(1), "archived", "3 3"),
        [("article:1", "its counters are archived and here")],
    ),
    "all that an article was counted by, without the article": (
        lambda raw: (
            raw.client.set(raw.of(4000).views(4000), 5),
            raw.client.pfadd(raw.of(4000).visitors(4000), "x"),
            raw.client.hset(raw.of(4000).suspects(4000), "bot", 1),
            raw.client.hset(raw.of(4000).days(4000), "1:bot", 1),
            raw.client.lpush(raw.of(4000).history(4000), "1700000000 1 5 -"),
            raw.client.zadd(raw.of(4000).viewed, {"4000": 1}),
            raw.client.set("article:", 5000),
        ),
        [("article:4000", "no such article")],
    ),
    # 7. the ranking by another weight
    "a staged score although none is applied": (
        lambda raw: raw.client.zadd(raw.of(1).next_score, {"1": 1}),
        [("article:1", "ranked 1 by the weight that is being applied")],
    ),
    "a removed article that is staged": (
        lambda raw: (staged(raw), raw.client.zadd(raw.of(5).next_score, {"5": 1})),
        [("article:5", "ranked 1 by the weight that is being applied")],
    ),
    "a weight that is lost": (
        lambda raw: raw.client.delete(raw.of(3).ranking),
        [
            ("ranking:", f"has no {name}")
            for name in sorted(["version", "refreshed_at", "seconds_per_point", *RANGES])
        ],
    ),
}


def first_of_the_log(raw: Raw, article_id: int) -> str:
    """Return the number of the oldest log entry about the article."""
    known = raw.client.hget(raw.of(article_id).article(article_id), "log")
    assert known.count(",") > 0
    return known.split(",")[0]


def everywhere(raw: Raw, name: str, value: str) -> None:
    for names in raw.repository.store.shards.all:
        raw.client.hset(names.ranking, name, value)


def staged(raw: Raw) -> None:
    """Apply another weight until its ranking is complete in all shards but not yet live."""
    weight = Parameters(votes_per_day=20)
    tunings = raw.repository.parameters
    tunings._make_current = lambda *_: None  # type: ignore[method-assign]
    raw.client.hset(raw.first.ranking, mapping={"next_version": "3"})
    while not tunings._stage(weight, 3):
        pass


def drop_rankings(raw: Raw, slug: str) -> None:
    for names in raw.repository.store.shards.all:
        for order in Order:
            raw.client.delete(names.group_order(order, slug))


def drop(raw: Raw, slug: str, *, keep: int) -> None:
    """Empty a group in every shard but that of one article, and drop its rankings."""
    drop_rankings(raw, slug)
    for article_id in raw.repository.articles.get_many(range(1, 14)):
        if slug in article_id.groups and article_id.id != keep:
            raw.repository.groups.assign(article_id.id, remove=[slug])


SHARING = {"a group ranking without an entry"}  # of these, what needs another article in the same shard


@pytest.mark.deep
@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=pytest.mark.needs("few shards")) if what in SHARING else what for what in BROKEN],
)
def test_the_audit_reports_each_broken_invariant_and_nothing_else(repository, clock, what):
    use(repository, clock)
    break_it, expected = BROKEN[what]
    break_it(Raw(repository))

    found = problems(repository)

    assert len(found) == len(expected), found
    for finding, (subject, problem) in zip(sorted(found, key=unprefixed), expected, strict=True):
        name, _, said = unprefixed(finding).partition(": ")
        assert name == subject or (subject == "opposes:" and name.startswith(subject))
        assert problem in said


def unprefixed(finding: str) -> str:
    return finding.partition("}:")[2] if finding.startswith("{") else finding


FOREIGN = [
    "nobody", "cache:1", "article:007", "article:-1", "article:" + "9" * 5000, "voted:", "removed:1",
    "{s99}:article:9", "{s1}:article:", "{s1}:groups:", "{s0}:link:" + "0" * 32, "{s0}:article:1", "salt:x",
    "hot:time:python", "counter:views:0", "hll:day:today", "seen:1:alice", "opposes:alice",
]  # fmt: skip


def test_the_audit_reports_keys_that_the_site_does_not_write(used):
    for name in FOREIGN:
        used.client.set(name, "1")

    assert sorted(problems(used.repository)) == sorted(
        f"{name}: belongs to nothing of this site" for name in FOREIGN
    )


@pytest.mark.parametrize("repository", [4], indirect=True)
def test_the_audit_reports_keys_in_the_wrong_shard(repository, clock):
    use(repository, clock)
    names = ["article:1", "time:", "group:python", "groups:", "ranking:", "{s2}:voted:1"]
    for name in names:
        repository.store.client.set(name, "1")

    assert sorted(problems(repository)) == sorted(f"{name}: belongs to nothing of this site" for name in names)


@pytest.mark.parametrize("name", ["refreshed_at", "alpha"])
@pytest.mark.parametrize("repository", [4], indirect=True)
def test_the_audit_reports_shards_that_disagree(repository, name):
    shards = repository.store.shards.all
    value = repository.store.client.hget(shards[0].ranking, name)
    repository.store.client.hset(shards[2].ranking, name, "7")

    assert problems(repository) == [f"{{s2}}:ranking:: {name} 7, elsewhere {value}"]


@pytest.mark.parametrize("repository", [4], indirect=True)
def test_a_rescore_between_reads_of_two_shards_is_not_reported_as_damage(repository, clock):
    overtaken = []

    class OneByOne(redis.Redis):
        """A client that sends a pipeline command by command and is overtaken once, after the first `HMGET`."""

        def pipeline(self, *args, **options):
            pipe = super().pipeline(*args, **options)

            def execute(**_):
                replies = []
                for command, options in pipe.command_stack:
                    replies.append(self.execute_command(*command, **options))
                    if command[0] == "HMGET" and not overtaken:
                        overtaken.append(True)
                        clock.advance(60)
                        repository.hot.rescore()
                return replies

            pipe.execute = execute
            return pipe

    client = with_methods_of(OneByOne, repository.store.client)

    assert problems(connect(client, shards=4, clock=clock)) == []
    assert overtaken


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("votes_per_day", "100", "seconds_per_point 432, but votes_per_day 100"),
        ("seconds_per_point", "431", "seconds_per_point 431, but votes_per_day 200"),
        ("gamma", "2.51", "gamma 2.51 is out of range"),
        ("base", "0", "base 0 is out of range"),
        ("votes_per_day", "86401", "votes_per_day 86401 is out of range"),
    ],
)
def test_the_audit_reports_impossible_parameters(repository, name, value, said):
    everywhere(Raw(repository), name, value)

    assert problems(repository) == [f"{keys.ranking}: {said}" for keys in repository.store.shards.all]


def test_progress_rises_from_zero_to_all_articles(repository, clock):
    repository.imports.add([imported(number, clock() - number) for number in range(600)])
    told: list[tuple[int, int]] = []

    assert list(repository.audit.run(lambda done, total: told.append((done, total)))) == []

    done = [step for step, _ in told]
    assert told[0] == (0, 600)
    assert told[-1] == (600, 600)
    assert done == sorted(set(done))
    assert len(told) >= 4


def test_voter_sets_are_checked_until_the_last_moment_of_voting(repository, clock):
    article_id = post(repository, 1)
    repository.store.client.sadd(repository.store.shards.of(article_id).voted(article_id), 77)
    clock.advance(7 * DAY)

    assert len(problems(repository)) == 2

    clock.advance(0.001)
    assert problems(repository) == []


def test_groups_larger_than_one_step_are_checked_completely(repository, clock):
    repository.groups.create("python", "Python")
    repository.imports.add([imported(number, clock() - number, groups=("python",)) for number in range(300)])
    warm(repository, "python")
    assert problems(repository) == []

    for article_id in (1, 299):
        names = repository.store.shards.of(article_id)
        repository.store.client.hset(names.article(article_id), "groups", "")

    assert len(problems(repository)) == 2


@pytest.mark.parametrize("work", ["audit", "repair"])
def test_no_script_gets_more_ids_than_one_step_allows(repository, monkeypatch, work):
    for module in (audit, group_audit, repair):
        monkeypatch.setattr(module, "ARTICLES_PER_CHECK", 5)
    monkeypatch.setattr(audit, "ENTRIES_PER_CHECK", 5)
    for number in range(12 * repository.store.shards.count):
        view(repository, post(repository, number, ("python",)), 1)
    warm(repository, "python")
    run, given = repository.store.run, {}
    for keys in repository.store.shards.all:
        repository.store.client.sadd(keys.group("python"), 10**6)  # groups of the expected size are not read

    def watched(script, names, args):
        given[script] = max(given.get(script, 0), len(args))
        return run(script, names, args)

    monkeypatch.setattr(repository.store, "run", watched)
    assert problems(repository) if work == "audit" else repository.repair.run()

    assert max(given.values()) <= 5 + 7  # the ids, and the other arguments
    assert given[f"{work}/group"] == 2 + 5

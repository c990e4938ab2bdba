"""What the operator sees of a store, on every kind of server; and what an observer of its use receives."""

import json
from itertools import pairwise

import fakeredis
import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleNotFound, StoreUnavailable, VotingClosed
from articles.repository.inspection.server import overview_of, readable
from articles.repository.store import scripts
from articles.repository.store.connection import Call
from tests.cast import BOB
from tests.clock import DAY
from tests.every_server import configure, servers_of
from tests.factories import post
from tests.rules import connect
from tests.store_state import REPOSITORY_DATABASE, configured, with_login

pytestmark = pytest.mark.one_shard

VISITOR, NETWORK = "0123456789abcdef", "fedcba9876543210"


# The server


def test_the_server_report_describes_its_version_and_condition(used):
    info = used.store.client.info()
    overview = used.inspection.get_overview()

    name = "Valkey" if "valkey_version" in info else "Redis"
    assert (overview.server.name, overview.server.version) == (name, info[f"{name.lower()}_version"])
    assert overview.server.uptime >= 0
    assert overview.server.commands >= info["total_commands_processed"]
    assert overview.server.evicted == 0
    assert 0 < overview.memory.used <= overview.memory.peak
    assert overview.memory.limit is None
    assert overview.append_only.enabled
    assert overview.append_only.last_write_ok
    assert overview.append_only.size > 0


@pytest.mark.needs("one server")
def test_commands_are_ordered_by_total_time(used):
    used.store.client.config_resetstat()
    for choice in (Choice.VOTE, Choice.NONE):
        used.votes.cast(3, 99, choice)
    overview = used.inspection.get_overview()
    stats = used.store.client.info("commandstats")
    evalsha = next(command for command in overview.commands if command.name == "EVALSHA")

    assert len(overview.commands) <= 12
    assert 0 < evalsha.calls <= stats["cmdstat_evalsha"]["calls"]
    assert 0 < evalsha.median <= evalsha.p99
    totals = [command.calls * command.mean for command in overview.commands]
    assert all(one >= 0.9 * following for one, following in pairwise(totals))


def test_a_redis_that_reports_few_figures_is_supported():
    overview = overview_of(
        {
            "redis_version": "6.2.14",
            "cmdstat_config|get": {"calls": 2, "usec": 14, "usec_per_call": 7.0},
            "aof_enabled": 0,
            "aof_last_write_status": "err",
        }
    )

    assert (overview.server.name, overview.server.version, overview.server.uptime) == ("Redis", "6.2.14", None)
    (command,) = overview.commands
    assert (command.name, command.median, command.failed) == ("CONFIG GET", None, 0)
    assert command.mean == pytest.approx(7e-6)
    assert not overview.append_only.enabled
    assert not overview.append_only.last_write_ok


# The slow log


@pytest.mark.needs("one server")
def test_at_most_twenty_slow_commands_are_listed_newest_first(used):
    client = used.store.client
    before = client.config_get("slowlog-log-slower-than")["slowlog-log-slower-than"]
    configure(client, "slowlog-log-slower-than", "0")
    try:
        used.votes.cast(3, 99, Choice.VOTE)
        for n in range(10):
            client.get(f"key{n}")
    finally:
        configure(client, "slowlog-log-slower-than", before)
    slow = used.inspection.list_slow_commands()
    client.slowlog_reset()

    assert len(slow) == 20
    commands = [entry.command for entry in slow]
    assert any(command.startswith("EVALSHA votes/cast 1 ") for command in commands)
    assert commands.index("GET key9") < commands.index("GET key8")
    assert all(0 <= entry.seconds < 1 for entry in slow)
    assert used.inspection.list_slow_commands() == ()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([b"GET", b"x" * 50], f"GET {'x' * 40}…"),
        ([b"SET", b"a", b"b", b"c", b"d", b"e", b"f"], "SET a b c d e …"),
        ([b"GET", b"\xff\n\x1b[31m\xe2\x80\xae"], r"GET \xff\n\x1b[31m\u202e"),
        ([b"GET", b":1:cache:sessions.secret"], "GET cache:…"),
        ([b"EVALSHA", b"0" * 40, b"1", b"k"], "EVALSHA (script) 1 k"),
        ([b"EVAL", scripts.source("votes/cast").encode()[:128], b"1", b"k"], "EVAL votes/cast 1 k"),
        ([b"EVAL", b"-- no script of ours\nreturn 1", b"0"], "EVAL (script) 0"),
        ([b"PING"], "PING"),
        ([b"EVAL"], "EVAL"),
    ],
)
def test_a_command_is_one_short_line_without_secrets(words, shown):
    assert readable(words) == shown


# Shards, housekeeping, figures


def test_housekeeping_steps_are_listed_newest_first(repository):
    runs = {
        "archive": {"at": 100.0, "seconds": 0.5, "result": "moved 3, left 0", "error": ""},
        "rescore": {"at": 200.0, "seconds": 0.1, "result": "done", "error": ""},
        "sample": {"at": 200.0, "seconds": 0.1, "result": "", "error": "ValueError: x"},
    }
    repository.store.client.hset("tick:", mapping={name: json.dumps(run) for name, run in runs.items()})

    steps = repository.inspection.list_steps()

    found = [(step.name, step.result, step.error) for step in steps]
    assert found == [("rescore", "done", ""), ("sample", "", "ValueError: x"), ("archive", "moved 3, left 0", "")]


def test_figures_include_the_age_of_housekeeping_and_a_limit_of_memory_if_there_are_any(repository, clock):
    figures = repository.inspection.get_figures()
    assert {"housekeeping_age_seconds", "memory_limit_bytes"}.isdisjoint(figures)

    for step, ago in (("hot", 90), ("trim", 30), ("archive", 60)):
        repository.lease.record_step(step, at=clock() - ago, seconds=0.1, result="", error="")
    with configured(repository, "maxmemory", "1gb"):
        figures = repository.inspection.get_figures()

    assert figures["housekeeping_age_seconds"] == pytest.approx(30)
    assert figures["memory_limit_bytes"] == len(servers_of(repository.store.client)) << 30


# Servers that do not report


def test_a_server_that_reports_none_of_it_causes_no_error():
    inspection = connect(fakeredis.FakeRedis(decode_responses=True)).inspection

    assert inspection.get_overview() is None
    assert inspection.get_sync_policy() is None
    assert inspection.list_slow_commands() is None
    assert inspection.get_figures() == {"articles": 0.0, "keys": 0.0}


@pytest.mark.parametrize("forbidden", ["info", "slowlog", "config"])
@pytest.mark.needs("one server")
def test_each_command_may_be_forbidden_separately(used, store_paths, forbidden):
    admin = used.store.client
    admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", f"-{forbidden}")
    url = with_login(store_paths.url(REPOSITORY_DATABASE), "limited", "secret")
    inspection = connect(url, shards=used.store.shards.count).inspection
    try:
        answers = {
            "info": inspection.get_overview() is None,
            "config": inspection.get_sync_policy() is None,
            "slowlog": inspection.list_slow_commands() is None,
        }
        assert inspection.get_figures()["articles"] > 0
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")

    assert {name for name, is_none in answers.items() if is_none} == {forbidden}


# The observer


class Observed:
    """An observer that keeps what it receives."""

    def __init__(self):
        self.told = []

    def __call__(self, operation, outcome, seconds):
        self.told.append((operation, outcome, seconds))

    def outcomes(self):
        told, self.told = [(operation, outcome) for operation, outcome, _ in self.told], []
        return told


@pytest.fixture
def observed():
    return Observed()


@pytest.fixture
def watched(server_url, clock, observed):
    found = connect(server_url, clock=clock, observe=observed)
    found.prepare()
    post(found, 1)
    observed.told.clear()
    return found


def test_a_script_is_observed_with_its_status_and_duration(watched, observed, clock):
    watched.votes.cast(1, BOB, Choice.VOTE)
    clock.advance(8 * DAY)
    with pytest.raises(VotingClosed):
        watched.votes.cast(1, BOB, Choice.NONE)
    with pytest.raises(ArticleNotFound):
        watched.votes.cast(99, BOB, Choice.VOTE)

    assert all(0 < seconds < 1 for _, _, seconds in observed.told)
    assert observed.outcomes() == [("votes/cast", "ok"), ("votes/cast", "closed"), ("votes/cast", "missing")]


@pytest.mark.needs("few shards")
def test_pipelined_scripts_are_observed_one_by_one_and_timed_together(watched, observed):
    keys = watched.store.shards.of(1)
    names = [keys.article(1)]
    call = Call("votes/cast", names, [1, BOB, "vote", "1700000000.000", 172800, "", 0, 0])
    lost = Call("votes/cast", [keys.article(9), *names[1:]], [9, *call.args[1:]])
    watched.store.client.script_flush()

    watched.store.run_many([call, lost])

    assert observed.told[0][0:2] == ("many", "ok")
    assert observed.told[0][2] > 0
    assert observed.told[1:] == [("votes/cast", "ok", None), ("votes/cast", "missing", None)]


def test_a_store_that_does_not_answer_is_observed_as_an_error(tmp_path, observed):
    store = connect(f"unix://{tmp_path}/nobody.sock", observe=observed).store
    for use_store in (
        lambda: store.run("articles/post", [], []),
        lambda: store.run_many([Call("articles/post", [], [])]),
        lambda: store.run_together([Call("articles/post", [], [])]),
        lambda: in_commands(store),
        lambda: in_pipeline(store),
    ):
        with pytest.raises(StoreUnavailable):
            use_store()

    expected = ["articles/post", "many", "together", "commands", "pipeline"]
    assert observed.outcomes() == [(operation, "error") for operation in expected]


def in_commands(store):
    with store.commands() as client:
        client.ping()


def in_pipeline(store):
    with store.pipeline() as pipe:
        pipe.ping()
        pipe.execute()

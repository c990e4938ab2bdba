"""A store that cannot answer raises one error, whatever the cause."""

import os
import signal
import threading
from contextlib import suppress

import pytest
import redis
from redis._parsers.base import BaseParser
from redis.connection import AbstractConnection

from articles.domain.articles import Choice
from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.domain.lists import Order
from articles.repository.store.clients.guarded_connection import store_errors
from tests.cast import ALICE, BOB, MODERATOR
from tests.every_server import configure
from tests.factories import imported, post
from tests.repository.usage import warm
from tests.rules import connect
from tests.store_state import contents, problems
from tests.waiting import until
from voting_site.embedded import StorePaths, Supervisor

pytestmark = pytest.mark.deep


@pytest.fixture
def private(tmp_path):
    """A private server with an article, and its process id."""
    supervisor = Supervisor(StorePaths(tmp_path), config={"appendfsync": "no"})
    supervisor.start(60)
    patient = connect(supervisor.paths.url(0))
    patient.prepare()
    patient.articles.post(ALICE, "alice", "T", "https://example.org/")
    yield connect(supervisor.paths.url(0), timeout_seconds=0.5), supervisor
    supervisor.stop()


def everything(repository):
    return (
        lambda: repository.votes.cast(1, BOB, Choice.VOTE),
        lambda: repository.articles.post(BOB, "bob", "B", "https://example.org/b"),
        lambda: repository.lists.get_page(Order.SCORE),
        lambda: repository.articles.get(1),
        repository.groups.list_all,
        repository.moderation_log.get_page,
    )


def test_a_missing_store_is_reported_as_unavailable(tmp_path):
    for action in everything(connect(f"unix://{tmp_path}/nobody.sock")):
        with pytest.raises(StoreUnavailable):
            action()


def test_a_call_to_a_hanging_store_times_out_within_one_and_a_half_seconds(private, monkeypatch):
    repository, _ = private
    pid = repository.store.client.info("server")["process_id"]
    waits, read = list[float](), AbstractConnection.read_response

    def read_response(self, *args, **options):
        waits.append(self.socket_timeout)
        return read(self, *args, **options)

    monkeypatch.setattr(AbstractConnection, "read_response", read_response)
    os.kill(pid, signal.SIGSTOP)
    try:
        for action in everything(repository):
            with pytest.raises(StoreUnavailable):
                action()
        assert 0 < sum(waits) <= 1.5, "seconds that all of them together wait for answers"
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: article_is_readable(repository), 10)


def article_is_readable(repository):
    with suppress(StoreUnavailable):
        return repository.articles.get(1).votes >= 1
    return False


def test_a_reply_to_a_timed_out_command_is_never_taken_for_the_next_one(private):
    repository, _ = private
    post(repository, 2)
    pid = repository.store.client.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(StoreUnavailable):
            repository.articles.get(1)
    finally:
        os.kill(pid, signal.SIGCONT)

    assert [repository.articles.get(number).id for number in (2, 1, 2)] == [2, 1, 2]


def writes(repository):
    """Return each kind of write once: to article 1, listed in python, or to article 2, which is removed."""
    return {
        "vote": lambda: repository.votes.cast(1, BOB, Choice.VOTE),
        "opposing vote": lambda: repository.votes.cast(1, ALICE, Choice.OPPOSE),
        "vote of a new account": lambda: repository.votes.cast(1, 77, Choice.VOTE, "a" * 16),
        "check of a voting ring": lambda: repository.voting_rings.check(1, repository.store.now(), MODERATOR),
        "group": lambda: repository.groups.assign(1, ["redis"], actor=MODERATOR),
        "edit": lambda: repository.articles.edit(1, MODERATOR, "New", "https://example.org/n", moderator=True),
        "removal": lambda: repository.articles.remove(1, MODERATOR, "Spam"),
        "restoration": lambda: repository.articles.restore(2, MODERATOR, "It was not"),
        "new group": lambda: repository.groups.create("web", "Web", MODERATOR),
        "title": lambda: repository.groups.rename("python", "Python!", MODERATOR),
        "merge": lambda: repository.groups.merge("python", "redis", MODERATOR),
        "import": lambda: repository.imports.add([imported(1, repository.store.now() - 60)]),
        "post": lambda: post(repository, 9),
    }


@pytest.fixture
def used(private):
    repository, _ = private
    repository.groups.assign(1, ["python"])
    repository.groups.create("redis", "Redis")
    post(repository, 2, ("python",))
    repository.articles.remove(2, MODERATOR, "Spam")
    warm(repository, "python")
    return repository


def test_a_full_store_applies_each_write_entirely_or_not_at_all(used):
    client = used.store.client
    for name, write in writes(used).items():
        before = contents(used)
        configure(client, "maxmemory", "1")
        try:
            write()
        except StoreUnavailable:
            if name not in ("import", "post"):  # which begin with an id
                assert contents(used) == before, name
        finally:
            configure(client, "maxmemory", "0")
        assert problems(used) == [], name


def test_a_read_only_store_refuses_every_write_and_serves_every_list(used):
    client, before = used.store.client, contents(used)
    client.replicaof("127.0.0.1", "1")

    for write in writes(used).values():
        with pytest.raises(StoreUnavailable):
            write()

    assert used.lists.get_page(Order.SCORE).total == 1
    assert used.articles.get(1, BOB).votes == 1
    client.replicaof("NO", "ONE")
    assert contents(used) == before


WRAPPED = "Error running script (call to f_0123): @user_script:12: @user_script: 12: -"


@pytest.mark.parametrize("prefix", ["", "-", WRAPPED])
@pytest.mark.parametrize(
    "text",
    [
        "MISCONF Errors writing to the AOF file: No space left on device",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "NOREPLICAS Not enough good replicas to write.",
        "MASTERDOWN Link with MASTER is down",
        "CLUSTERDOWN The cluster is down",
    ],
)
def test_a_transient_error_is_recognised_even_if_redis_6_wraps_it_in_a_script_error(prefix, text):
    with pytest.raises(StoreUnavailable), store_errors():
        raise redis.ResponseError(prefix + text)


@pytest.mark.parametrize(
    "text",
    [
        "CLUSTERDOWN The cluster is down",
        "CLUSTERDOWN Hash slot not served",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "MOVED 3999 127.0.0.1:6381",
        "ASK 3999 127.0.0.1:6381",
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
    ],
)
def test_a_transient_error_is_recognised_as_the_client_reads_it(text):
    error = BaseParser.parse_error(text)  # takes the code off the message

    with pytest.raises(StoreUnavailable), store_errors():
        raise error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("WRONGTYPE Operation against a key", StoreDamaged),
        ("ERR value is not an integer", StoreDamaged),
        ("user_script:12: attempt to compare nil with number", StoreDamaged),
        ("BUSYGROUP name already exists", redis.ResponseError),
    ],
)
def test_a_mistake_in_our_code_or_in_the_data_is_not_taken_for_an_unavailable_store(text, error):
    with pytest.raises(error), store_errors():
        raise redis.ResponseError(text)


def test_every_script_is_reloaded_into_a_store_that_lost_them(used):
    for name, write in writes(used).items():
        used.store.client.script_flush()
        write()
        assert problems(used) == [], name


def test_a_store_that_repeatedly_loses_the_scripts_causes_no_error(repository):
    stop = threading.Event()
    number = repository.articles.post(ALICE, "alice", "T", "https://example.org/", []).id

    def forget():
        while not stop.is_set():
            repository.store.client.script_flush()

    forgetting = threading.Thread(target=forget)
    forgetting.start()
    try:
        for _ in range(200):
            assert repository.explanations.get(repository.articles.get(number)).front.rank == 1
    finally:
        stop.set()
        forgetting.join()

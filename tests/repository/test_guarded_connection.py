"""How long a store that answers slowly, or not at all, can hold up its callers."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import redis

from articles.domain.errors import StoreUnavailable
from articles.repository.store.clients import guarded_connection
from articles.repository.store.clients.guarded_connection import answer_within
from tests.rules import connect
from tests.store_state import NOWHERE, new_client
from tests.waiting import SECONDS

LONG = 10_000  # bytes of the slow server's answers; sent one by one, they take a hundred seconds


class SlowServer:
    """Accepts connections, and sends its answers a byte at a time, or never, or ends the first connections."""

    def __init__(self, *, silent=False, ends=0):
        self.silent, self.ends, self.connections, self._stopping = silent, ends, 0, threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, suppress(OSError):
            while data := client.recv(65536):
                if self.silent:
                    continue
                if b"CLIENT" in data:
                    client.sendall(b"+OK\r\n" * data.count(b"CLIENT"))
                elif self.ends:
                    self.ends -= 1
                    return
                else:
                    self._drip(client)

    def _drip(self, client):
        for byte in b"$%d\r\n" % LONG + b"x" * LONG + b"\r\n":
            if self._stopping.wait(0.01):
                return
            client.sendall(bytes([byte]))

    def stop(self):
        self._stopping.set()
        self._listener.close()


@pytest.fixture
def slow():
    server = SlowServer()
    yield server
    server.stop()


@pytest.fixture
def silent():
    server = SlowServer(silent=True)
    yield server
    server.stop()


@pytest.fixture
def ending():
    """A server that answers with nothing, and ends the first connection at its first command."""
    server = SlowServer(ends=1)
    server._drip = lambda client: client.sendall(b"$-1\r\n")
    yield server
    server.stop()


def ask(repository):
    with pytest.raises(StoreUnavailable) as caught, repository.store.commands() as client:
        client.get("a")
    return str(caught.value)


def test_the_time_limit_holds_for_a_whole_answer(slow):
    repository = connect(slow.url, timeout_seconds=0.3)

    assert "Timeout" in ask(repository)  # the whole answer would come, after a hundred seconds


def test_a_request_has_one_time_limit_for_all_its_answers(silent):
    repository = connect(silent.url, timeout_seconds=60)

    def ask_twice() -> None:
        with answer_within(0.3):
            ask(repository)
            ask(repository)

    with ThreadPoolExecutor() as pool:
        pool.submit(ask_twice).result(timeout=SECONDS)


def test_a_hanging_store_is_not_asked_again_at_once(silent):
    repository = connect(silent.url, timeout_seconds=0.1)
    assert ["Timeout" in ask(repository) for _ in range(2)] == [True, True]

    assert "did not answer a moment ago" in ask(repository)
    assert silent.connections == 2


def test_after_a_pause_one_caller_asks_again(silent, monkeypatch):
    repository = connect(silent.url, timeout_seconds=0.1)
    monkeypatch.setattr(guarded_connection, "PAUSE", 0)
    for _ in range(2):
        ask(repository)
    monkeypatch.setattr(guarded_connection, "PAUSE", 3600)
    assert "Timeout" in ask(repository)

    assert "did not answer a moment ago" in ask(repository)
    assert silent.connections == 3


def test_an_answer_ends_the_pause(silent, server_url):
    repository = connect(server_url, timeout_seconds=0.1)
    repository.prepare()
    breaker = guarded_connection.breaker_of(repository.store.client.connection_pool.make_connection().server)
    breaker.timed_out()
    assert repository.groups.list_all() == []
    breaker.timed_out()

    assert repository.groups.list_all() == [], "one timeout after an answer is not two in a row"


def test_a_server_that_ends_or_refuses_connections_does_not_hang(ending, monkeypatch):
    """Each connection that was open before a restart would cost another pause otherwise."""
    for url in (ending.url, NOWHERE):
        pool = new_client(url, timeout_seconds=10).connection_pool
        breaker = guarded_connection.breaker_of(pool.make_connection().server)
        with monkeypatch.context() as without_a_pause:
            without_a_pause.setattr(guarded_connection, "PAUSE", 0.0)
            breaker.timed_out()
            breaker.timed_out()

        with pytest.raises(redis.ConnectionError):
            redis.Redis(connection_pool=pool).ping()
        breaker.check()


def test_a_page_that_is_only_read_asks_again_when_its_connection_ends(ending):
    repository = connect(ending.url, timeout_seconds=10)

    with answer_within(10), repository.store.commands() as client:
        assert client.get("a") is None
        ending.ends = 1
        with repository.store.pipeline() as pipe:
            assert pipe.get("a").execute() == [None]
        ending.ends = 2
        with pytest.raises(redis.ConnectionError):
            client.get("a")
    assert ending.ends == 0


def test_a_change_is_sent_once(ending):
    assert "closed" in ask(connect(ending.url, timeout_seconds=10))

"""The web server in a worker: what it answers at once, and what in the event loop."""

import asyncio
import socket
import threading
import urllib.request
from types import SimpleNamespace

import pytest

from voting_site.serving.workers.server import Server, at_once_or

HEADERS = [("content-type", "text/plain"), ("content-length", "2")]


class Gateway:
    """Answers /now at once, all else in the event loop, and notes the threads."""

    def __init__(self):
        self.at_once, self.in_loop, self.loop = [], [], None

    def __rsgi_init__(self, loop):
        self.loop = loop

    def answer_at_once(self, scope, protocol):
        if scope.path != "/now":
            return False
        self.at_once.append(threading.get_ident())
        protocol.response_bytes(200, HEADERS, b"at")
        return True

    async def __rsgi__(self, scope, protocol):
        self.in_loop.append(threading.get_ident())
        await asyncio.sleep(0)
        protocol.response_bytes(200, HEADERS, b"in")


def test_requests_are_answered_at_once_or_in_the_event_loop():
    gateway = Gateway()
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def ask():
        paths = ("/now", "/later", "/now", "/later")
        return [urllib.request.urlopen(address + path, timeout=60).read() for path in paths]

    async def serve():
        server = Server(gateway, listener, patience=20.0, connections=100)
        serving = asyncio.create_task(server.serve())
        answers = await asyncio.to_thread(ask)
        server.stop()
        await serving
        return answers

    with listener:
        answers = asyncio.run(serve())

    assert answers == [b"at", b"in"] * 2
    assert set(gateway.in_loop) == {threading.get_ident()}
    assert threading.get_ident() not in gateway.at_once
    assert gateway.loop


@pytest.fixture
def watcher():
    ended = []
    return SimpleNamespace(scope=1, proto=2, ended=ended, done=lambda: ended.append("done"), err=ended.append)


@pytest.mark.parametrize("is_answered", [True, False])
def test_what_is_answered_at_once_is_not_scheduled(watcher, is_answered):
    scheduled = []

    at_once_or(lambda scope, protocol: is_answered, scheduled.append)(watcher)

    assert (watcher.ended, scheduled) == ((["done"], []) if is_answered else ([], [watcher]))


def test_a_failure_ends_the_request(watcher):
    scheduled, error = [], OSError("no page")

    def fail(scope, protocol):
        raise error

    at_once_or(fail, scheduled.append)(watcher)

    assert (watcher.ended, scheduled) == ([error], [])

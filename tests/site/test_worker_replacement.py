"""Workers are replaced after many requests, and no request notices."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.site_process import DEADLINE
from tests.waiting import until
from tests.web_processes import is_housekeeper
from voting_site.serving.listener import accept_nothing

SERVE = """
import sys
import django
django.setup()
from voting_site.serving.workers import pool, worker
pool.Backoff.after = lambda _backoff, *, served: 0.0 if served else 1e9
worker.REQUESTS, worker.SPREAD = 20, 1
from voting_site.serving.workers.site import serve
serve([int(sys.argv[1])], 20.0, runs_housekeeping=False)
"""


@pytest.fixture
def served(tmp_path):
    """The process of a web server with one worker, which is replaced after 20 requests, and its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    settings = {"DJANGO_SETTINGS_MODULE": "voting_site.settings", "DATA_DIR": str(tmp_path), "WEB_WORKERS": "1"}
    descriptor = listener.fileno()
    command = [sys.executable, "-c", SERVE, str(descriptor)]
    with subprocess.Popen(command, env={**os.environ, **settings}, pass_fds=[descriptor]) as server:
        yield server, listener.getsockname()[1]
        server.send_signal(signal.SIGTERM)
    listener.close()
    assert server.returncode == 0


def workers_of(server):
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    until(lambda: any(map(is_housekeeper, children.read_text().split())), DEADLINE)
    return {pid for pid in children.read_text().split() if not is_housekeeper(pid)}


def answer(link):
    """Ask once more on a connection, without connecting again; return status and Connection header."""
    link.request("GET", "/healthz")
    response = link.getresponse()
    response.read()
    return response.status, response.getheader("Connection")


def healthy(port):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as link:
        return answer(link)[0] == 200


@pytest.mark.site
def test_connections_of_a_replaced_worker_are_answered_once_more_and_then_closed(served):
    server, port = served
    with ExitStack() as stack:
        links = [
            stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)))
            for _ in range(5)
        ]
        assert [answer(link) for link in links] == 5 * [(200, None)]
        first = workers_of(server)
        while not workers_of(server) - first:
            assert healthy(port)

        assert [answer(link) for link in links] == 5 * [(200, "close")]

        until(lambda: not first & workers_of(server), DEADLINE)


@pytest.mark.site
def test_clients_that_keep_their_connections_lose_no_request_while_workers_are_replaced(served):
    _, port = served

    def ask_often():
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as link:
            return [answer(link)[0] for _ in range(200)]

    with ThreadPoolExecutor(4) as clients:
        answers = [client.result() for client in [clients.submit(ask_often) for _ in range(4)]]

    assert answers == 4 * [200 * [200]]


@pytest.mark.site
def test_a_worker_that_is_killed_soon_after_its_first_answer_is_replaced_at_once(served):
    server, port = served
    for _ in range(5):
        assert healthy(port)
        for worker in workers_of(server):
            os.kill(int(worker), signal.SIGKILL)


def test_a_process_that_accepts_nothing_leaves_connections_to_others():
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(fileno=os.dup(listener.fileno())) as copy,
    ):
        copy.setblocking(False)

        accept_nothing(listener)

        with socket.create_connection(listener.getsockname(), timeout=60) as link:
            with pytest.raises(BlockingIOError):
                copy.accept()
            other, address = listener.accept()
            assert address == link.getsockname()
            other.close()

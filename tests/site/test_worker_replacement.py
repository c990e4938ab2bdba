"""Workers are replaced after many requests, and no request notices."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from tests.site_process import DEADLINE
from tests.waiting import until
from voting_site.serving.listener import accept_nothing

SERVE = """
import sys
import django
django.setup()
from voting_site.serving.workers import worker
worker.REQUESTS, worker.SPREAD = 20, 1
from voting_site.serving.workers.site import serve
serve([int(sys.argv[1])], 20.0)
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
    with open(f"/proc/{server.pid}/task/{server.pid}/children") as children:
        return set(children.read().split())


def healthy(port):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as link:
        link.request("GET", "/healthz")
        return link.getresponse().status == 200


@pytest.mark.site
def test_a_worker_is_replaced_after_many_requests(served):
    server, port = served
    assert healthy(port)
    first = workers_of(server)

    for _ in range(60):
        assert healthy(port)

    until(lambda: not first & workers_of(server), DEADLINE)
    assert len(first) == 1
    assert healthy(port)


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

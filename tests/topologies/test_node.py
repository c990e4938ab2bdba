"""One server process: it keeps its port and its data, and never outlives the tests."""

import os
import signal
import socket
import subprocess
import sys

import pytest
import redis
from django.conf import settings

from tests.topologies.ports import Port
from tests.topologies.topology import OneServer
from tests.waiting import until

STARTS_SERVERS = """
import os, sys
from pathlib import Path
from tests.topologies.topology import OneServer

with OneServer(Path(sys.argv[1])) as server:
    server.start_node()
    server.nodes[1].freeze()
    print(*(node.pid for node in server.nodes), flush=True)
    sys.stdin.read()
"""


def test_a_killed_server_comes_back_with_its_port_and_data(tmp_path, binary):
    with OneServer(tmp_path / "store", binary, has_password=True, settings={"appendonly": "yes"}) as server:
        server.node.client.set("key", "value")
        server.node.kill()
        assert not server.node.is_reachable()

        server.node.restart()

        assert server.node.client.get("key") == "value"
        with redis.Redis.from_url(server.url, decode_responses=True) as client:
            assert client.get("key") == "value"


def test_a_frozen_server_continues_when_it_is_thawed(tmp_path, binary):
    with OneServer(tmp_path / "store", binary) as server:
        with server.node.frozen():
            assert server.node.is_running
            assert not server.node.is_up

        assert server.node.is_up
        assert server.node.answers()


@pytest.mark.nodes
def test_no_server_outlives_a_process_that_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_SERVERS, str(tmp_path / "store")],
        cwd=settings.BASE_DIR,
        env=dict(os.environ, DJANGO_SETTINGS_MODULE="tests.settings"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        process.send_signal(signal.SIGKILL)

    until(lambda: not any(map(exists, pids)))


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_reserved_port_is_for_a_server_alone():
    port = Port()
    try:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port.number))
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("127.0.0.1", port.number))
            server.listen()
            with socket.create_connection(("127.0.0.1", port.number), timeout=10):
                pass
    finally:
        port.close()

"""The commands of docs/scaling.md that start servers, join them and move what they hold, each of them run."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
import redis
from django.conf import settings

from tests.waiting import until

PAGE = Path(settings.BASE_DIR, "docs", "scaling.md").read_text("utf-8")

pytestmark = [
    pytest.mark.topology,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="Redis is not installed"),
]

TENS = ("2738", "738", "739")
"""Ports of the page without their last digit: sentinels, servers, nodes of the cluster."""

BUS = 10_000
"""Added to a node's port, the port at which other nodes talk to it."""


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ten(chance: random.Random) -> int:
    """Return the first of ten ports that are free, with their buses."""
    while True:
        first = 10 * chance.randrange(1200, 2200)
        if all(is_free(port) and is_free(port + BUS) for port in range(first, first + 10)):
            return first


class Page:
    """Runs the commands of a section in the checkout, with free ports and a directory for the data."""

    def __init__(self, folder: Path) -> None:
        self.folder, chance = folder, random.Random()
        self._tens = {ten: free_ten(chance) for ten in TENS}

    def port(self, number: int) -> int:
        """Return the port that stands for one of the page."""
        return self._tens[str(number // 10)] + number % 10

    def client(self, number: int) -> redis.Redis:
        return redis.Redis(port=self.port(number), decode_responses=True)

    def commands(self, heading: str) -> list[str]:
        """Return the blocks of commands below a heading, without those that start the site."""
        section = re.split(r"^##+ ", PAGE.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
        blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
        assert blocks, heading
        return [block for block in blocks if "manage.py" not in block]

    def run(self, block: str) -> str:
        for ten, first in self._tens.items():
            block = re.sub(rf"(?<![\d]){ten}(?=\d\b|\$n)", str(first // 10), block)
        done = subprocess.run(
            ["bash", "-euc", block],
            cwd=settings.BASE_DIR,
            env=os.environ | {"S": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def end(self) -> None:
        """End the servers: they run in the background, each in its own directory."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                place, command = (process / "cwd").readlink(), (process / "cmdline").read_bytes()
            except OSError:
                continue
            if place.is_relative_to(self.folder) and b"redis-server" in command:
                os.kill(int(process.name), signal.SIGKILL)


@pytest.fixture
def page(tmp_path):
    commands = Page(tmp_path)
    yield commands
    commands.end()


def knows(node: redis.Redis, nodes: int) -> bool:
    known = node.execute_command("CLUSTER NODES").values()
    return len(known) == nodes and all("handshake" not in one["flags"] and one["connected"] for one in known)


def slots_of(port: int, view: redis.Redis) -> int:
    """Return how many slots the node at this port has, as another node knows it."""
    (node,) = (
        one for address, one in view.execute_command("CLUSTER NODES").items() if address.endswith(f":{port}")
    )
    return sum(int(ends[-1]) - int(ends[0]) + 1 for ends in node["slots"])


def test_one_server_becomes_the_primary_of_two_replicas(page):
    (own,) = page.commands("Your own store")
    assert page.run(own).endswith("PONG\n")
    page.client(7380).set("key", "value")
    replicas, failover = page.commands("Sentinel")

    page.run(replicas)
    until(lambda: page.client(7380).info("replication")["connected_slaves"] == 2)
    sentinels = [page.client(number) for number in (27381, 27382, 27383)]
    until(lambda: all(one.sentinel_master("site")["num-other-sentinels"] == 2 for one in sentinels))
    until(lambda: all(one.sentinel_master("site")["num-slaves"] == 2 for one in sentinels))
    page.run(failover)

    until(lambda: sentinels[2].sentinel_get_master_addr_by_name("site")[1] != page.port(7380))
    assert page.client(7380).get("key") == "value"


def test_a_cluster_gets_another_node_and_loses_it_again(page):
    create, more, less = page.commands("Cluster")
    page.run(create)
    node = page.client(7391)
    assert node.cluster("info")["cluster_slots_assigned"] == "16384"
    join, rebalance = more.rsplit("\n", 2)[0], more.rsplit("\n", 2)[1]

    page.run(join)
    until(lambda: all(knows(page.client(7390 + number), 7) for number in range(1, 8)))
    page.run(rebalance)
    until(lambda: all(slots_of(page.port(7397), page.client(7390 + number)) == 4096 for number in range(1, 8)))
    page.run(less)

    until(lambda: all(knows(page.client(7390 + number), 6) for number in range(1, 7)))
    assert node.cluster("info")["cluster_state"] == "ok"

"""The networks of a compose file without Docker: a network namespace for each service, joined by bridges.

As Docker does it: a service reaches what is in its networks, and the rest of the world by one of these that is
not internal. `OUTSIDE` is the rest of the world.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

OUTSIDE = "198.18.0.1"  # the address of everything outside


def missing() -> str:
    """Return why there can be no namespaces; "" if there can."""
    if os.getuid() != 0 or shutil.which("ip") is None:
        return "needs root, and the program ip"
    probe = ["unshare", "--net", "ip", "link", "add", "probe", "type", "bridge"]
    is_permitted = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return "" if is_permitted else "network namespaces are not permitted here"


class Networks:
    """Namespaces by the names of services; `outside` has `OUTSIDE`."""

    def __init__(self, compose: Mapping[str, Any]) -> None:
        self._prefix = f"t{os.getpid()}-"
        self._links = count()
        self.addresses = dict[tuple[str, str], str]()  # by service and network

        try:
            self._build(compose)
        except BaseException:
            self.remove()
            raise

    def _build(self, compose: Mapping[str, Any]) -> None:
        services = compose["services"]
        for name in ("host", "outside", *services):
            _ip("netns", "add", self._prefix + name)
            self._in(name, "link", "set", "lo", "up")
        subprocess.run([*self.enter("host"), "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
        self._join("outside", f"{OUTSIDE}/30", "host", "198.18.0.2/30")
        self._in("outside", "route", "add", "default", "via", "198.18.0.2")
        for number, (network, facts) in enumerate(compose["networks"].items(), 1):
            self._in("host", "link", "add", network, "type", "bridge")
            self._in("host", "address", "add", f"10.99.{number}.1/24", "dev", network)
            self._in("host", "link", "set", network, "up")
            inside = [name for name, service in services.items() if network in service["networks"]]
            for at, name in enumerate(inside, 2):
                self.addresses[name, network] = address = f"10.99.{number}.{at}"
                end = self._join(name, f"{address}/24", "host")
                self._in("host", "link", "set", end, "master", network)
                if not (facts or {}).get("internal"):
                    self._in(name, "route", "replace", "default", "via", f"10.99.{number}.1")

    def _join(self, name: str, address: str, other: str, other_address: str = "") -> str:
        """Join two namespaces; return the name of the other's end."""
        ends = [f"v{next(self._links)}-{self._prefix}"[:15] for _ in range(2)]
        peer = ("peer", "name", ends[1], "netns", self._prefix + other)
        self._in(name, "link", "add", ends[0], "type", "veth", *peer)
        for one, end, its in ((name, ends[0], address), (other, ends[1], other_address)):
            if its:
                self._in(one, "address", "add", its, "dev", end)
            self._in(one, "link", "set", end, "up")
        return ends[1]

    def _in(self, name: str, *command: str) -> None:
        _ip("-netns", self._prefix + name, *command)

    def enter(self, name: str) -> list[str]:
        """Return the command through which another one runs as a service."""
        return ["ip", "netns", "exec", self._prefix + name]

    def remove(self) -> None:
        """Remove all of it. The processes in it have ended."""
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            if line.startswith(self._prefix):
                _ip("netns", "delete", line.split()[0])


def _ip(*command: str) -> None:
    done = subprocess.run(["ip", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)


@contextmanager
def networks_of(compose: Mapping[str, Any]) -> Iterator[Networks]:
    if reason := missing():
        pytest.skip(reason)
    networks = Networks(compose)
    try:
        yield networks
    finally:
        networks.remove()


@contextmanager
def running(*commands: Sequence[str], **options: Any) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run processes during the block."""
    processes = list["subprocess.Popen[bytes]"]()
    try:
        for command in commands:
            processes.append(subprocess.Popen(command, **options))
        yield processes
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(60)

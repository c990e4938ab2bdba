"""One server process of a store."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.topologies.ports import Port
from tests.waiting import until
from voting_site.embedded import launch

HOST = "127.0.0.1"

PASSWORD = "secret"  # of every server with a password; a sentinel's own is another one
_SETTINGS = {
    "bind": HOST,
    "save": '""',
    "appendonly": "no",
    "appendfsync": "no",
    "databases": "4",
    "maxmemory-policy": "noeviction",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}
"""Of a server that holds data."""

_starter = ThreadPoolExecutor(1, "servers")
"""The kernel ends a server with the *thread* that started it; this one lives as long as the process."""


class Node:
    """A server in `folder` that keeps its port and its files over restarts. It does not outlive this process.

    `settings`: lines of its configuration file besides, or in place of, the usual ones.
    """

    def __init__(
        self, folder: Path, binary: Path, *, password: str = "", settings: Mapping[str, str] | None = None
    ) -> None:
        self._start(folder, binary, password, _SETTINGS | _secured(password) | dict(settings or {}))

    def _start(
        self, folder: Path, binary: Path, password: str, settings: Mapping[str, str], *options: str
    ) -> None:
        self.folder, self._binary, self._options = folder, binary, options
        self._reserved = [Port(), Port()]
        self.port, self.bus_port = (port.number for port in self._reserved)
        self.address = f"{HOST}:{self.port}"
        self._log = folder / "server.log"
        self._file = folder / "server.conf"
        folder.mkdir(parents=True)
        lines = {"port": str(self.port), "dir": str(folder)} | dict(settings)
        if "cluster-enabled" in lines:
            lines["cluster-port"] = str(self.bus_port)
        self._file.write_text("".join(f"{name} {value}\n" for name, value in lines.items()), "ascii")
        self.client = redis.Redis(
            host=HOST,
            port=self.port,
            password=password or None,
            decode_responses=True,
            socket_timeout=10,
            socket_connect_timeout=10,
            retry=Retry(NoBackoff(), 0),
        )
        self._launch()

    def _launch(self) -> None:
        self._is_frozen = False
        self._process = _starter.submit(self._popen).result()

    def _popen(self) -> "subprocess.Popen[bytes]":
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(signal.SIGKILL))]
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [*launcher, str(self._binary), str(self._file), *self._options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                start_new_session=True,
            )

    def __repr__(self) -> str:
        return f"<{self.folder.name} at {self.address}>"

    # The process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended; it may be frozen."""
        return self._process.poll() is None

    @property
    def is_up(self) -> bool:
        return self.is_running and not self._is_frozen

    def answers(self) -> bool:
        """Return whether the server is up and has loaded its data. Fails if its process has ended."""
        assert self.is_running, f"{self} ended\n{self.log()}"
        return self.is_reachable()

    def is_reachable(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False

    def log(self) -> str:
        """Return the end of what the process has printed."""
        return self._log.read_text("utf-8", "replace")[-5000:]

    def kill(self) -> None:
        """End the process as `kill -9` does, frozen or not; return when it has ended."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Let the process end in its own way."""
        self.thaw()
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self.is_running:
            self._process.send_signal(number)
        self._process.wait(60)
        self.client.close()

    def restart(self) -> None:
        """Start the process again, on the same port and in the same folder; return when it answers."""
        assert not self.is_running, f"{self} still runs"
        self._launch()
        until(self.answers)

    def freeze(self) -> None:
        """Stop the process, whose connections stay open."""
        self._is_frozen = True
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
        self._is_frozen = False

    @contextmanager
    def frozen(self) -> Iterator[None]:
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    def discard(self) -> None:
        """End the process and give its ports back: the node cannot be restarted."""
        self.kill()
        for port in self._reserved:
            port.close()

    # What the server says

    def run(self, *command: str | int) -> Any:
        """Run a command on this server, and return its reply."""
        return self.client.execute_command(*command)

    def text(self, *command: str | int) -> str:
        """Return a reply that is text."""
        return str(self.run(*command))

    def info(self, section: str) -> dict[str, object]:
        facts: dict[str, object] = self.client.info(section)
        return facts

    @property
    def is_primary(self) -> bool:
        return self.info("replication")["role"] == "master"

    def is_in_step(self) -> bool:
        """Return whether this replica is connected to its primary and has its data."""
        facts = self.info("replication")
        return facts["role"] == "slave" and facts["master_link_status"] == "up"

    def connected_replicas(self) -> int:
        """Return how many replicas this server itself counts on."""
        facts = self.info("replication").items()
        return sum(isinstance(fact, dict) and fact.get("state") == "online" for _, fact in facts)

    def offset(self) -> int:
        """Return how many bytes of changes the server has written or received."""
        return int(str(self.info("replication")["master_repl_offset"]))


class Sentinel(Node):
    """A sentinel, which writes what it learns into its configuration file."""

    def __init__(self, folder: Path, binary: Path, *, password: str, settings: Mapping[str, str]) -> None:
        own = {"bind": HOST} | ({"requirepass": password} if password else {})
        self._start(folder, binary, password, own | dict(settings), "--sentinel")


def _secured(password: str) -> Mapping[str, str]:
    return {"requirepass": password, "masterauth": password} if password else {}


def discard_all(nodes: Sequence[Node]) -> None:
    """End these processes, also if one of them does not end."""
    for node in nodes:
        with suppress(ProcessLookupError):
            os.kill(node.pid, signal.SIGKILL) if node.is_running else None
    for node in nodes:
        node.discard()

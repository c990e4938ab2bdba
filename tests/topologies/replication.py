"""A primary with replicas, watched by sentinels."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis

from tests.topologies.node import HOST, Node, Sentinel
from tests.topologies.topology import Topology
from tests.waiting import until

SERVICE = "site"
SENTINEL_PASSWORD = "watchword"


class Replication(Topology):
    """A primary, two replicas and three sentinels, of which two suffice to name another primary."""

    def __init__(
        self,
        folder: Path,
        binary: Path | None = None,
        *,
        replicas: int = 2,
        sentinels: int = 3,
        down_after_ms: int = 1000,
        failover_timeout_ms: int = 3000,
        **options: Any,
    ) -> None:
        super().__init__(folder, binary, **options)
        self.sentinels: list[Sentinel] = []
        self._replicas, self._sentinels = replicas, sentinels
        self._times = {"down-after-milliseconds": down_after_ms, "failover-timeout": failover_timeout_ms}

    @property
    def processes(self) -> list[Node]:
        return [*self.nodes, *self.sentinels]

    @property
    def url(self) -> str:
        return self.database(0)

    def database(self, number: int) -> str:
        watch = ",".join(sentinel.address for sentinel in self.sentinels)
        secret = f"&sentinel_password={SENTINEL_PASSWORD}" if self.password else ""
        return f"sentinel://{self.credentials()}{watch}/{SERVICE}?db={number}{secret}"

    def start(self) -> None:
        primary = self.start_node()
        for _ in range(self._replicas):
            self._start_replica(primary)
        for number in range(1, self._sentinels + 1):
            self._start_sentinel(self.folder / f"sentinel-{number}", primary)
        self.until_whole()

    def _start_replica(self, primary: Node) -> Node:
        replica = self.start_node(replicaof=f"{HOST} {self.reached_at(primary)}")
        until(replica.is_in_step, told=replica.log)
        return replica

    def _start_sentinel(self, folder: Path, primary: Node) -> None:
        secret = {f"sentinel auth-pass {SERVICE}": self.password} if self.password else {}
        watched = f"{HOST} {self.reached_at(primary)} {self._sentinels // 2 + 1}"
        settings = {f"sentinel monitor {SERVICE}": watched} | secret
        settings |= {f"sentinel {name} {SERVICE}": str(value) for name, value in self._times.items()}
        password = SENTINEL_PASSWORD if self.password else ""
        self.sentinels.append(Sentinel(folder, self.binary, password=password, settings=settings))
        until(self.sentinels[-1].answers)

    # Who is what

    def primary(self) -> Node:
        """Return the server that most sentinels name."""
        return self.node_at(Counter(self._named()).most_common(1)[0][0])

    def replicas(self) -> list[Node]:
        """Return the other servers, running or not."""
        primary = self.primary()
        return [node for node in self.nodes if node is not primary]

    def _named(self) -> Sequence[int]:
        """Return the port of the primary in the view of each sentinel that answers."""
        ports = []
        for sentinel in self.sentinels:
            with suppress(redis.RedisError):
                _, port = sentinel.client.sentinel_get_master_addr_by_name(SERVICE)
                ports.append(int(port))
        assert ports, "no sentinel answers"
        return ports

    # Waiting

    def until_whole(self) -> None:
        """Wait until every server and sentinel runs, knows all others, and agrees on the primary."""
        until(self._is_whole, told=self.logs)

    def _is_whole(self) -> bool:
        with suppress(redis.RedisError):
            primary, replicas = self.primary(), self.replicas()
            agreed = set(self._named()) == {self.reached_at(primary)} and primary.is_primary
            followed = primary.connected_replicas() == len(replicas) and self._follow(replicas, primary)
            return agreed and followed and all(self._sees_all(sentinel) for sentinel in self.sentinels)
        return False

    def _follow(self, replicas: Sequence[Node], primary: Node) -> bool:
        return all(
            replica.is_in_step() and replica.info("replication")["master_port"] == self.reached_at(primary)
            for replica in replicas
        )

    def _sees_all(self, sentinel: Node) -> bool:
        facts = sentinel.client.sentinel_master(SERVICE)
        others = len(self.sentinels) - 1, len(self.nodes) - 1
        if (int(facts["num-other-sentinels"]), int(facts["num-slaves"])) != others:
            return False
        has_ended = int(facts["port"]) == self.reached_at(self.primary())  # a failover that it began
        return has_ended and not (facts["is_sdown"] or facts["is_odown"])

    def until_failed_over(self, earlier: Node) -> Node:
        """Wait until another server is primary, for the sentinels and in its own view; return it."""
        until(
            lambda: set(self._named()).isdisjoint({self.reached_at(earlier)}) and self.primary().is_primary,
            told=self.logs,
        )
        return self.primary()

    # Changes

    def add_replica(self) -> Node:
        """Start one more replica; return when it has the data."""
        return self._start_replica(self.primary())

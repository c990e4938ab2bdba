"""The nodes of a cluster, as redis-py's RedisCluster discovers them."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import redis
from redis.cluster import PRIMARY, ClusterNode, RedisCluster, get_node_name
from redis.exceptions import AskError, MovedError, RedisClusterException, SlotNotCoveredError, TryAgainError

from articles.repository.store.clients.guarded_connection import answer_sooner

_log = logging.getLogger(__name__)

_LEAST_SECONDS_BETWEEN_DISCOVERIES = 0.1

SECONDS_BETWEEN_LOOKS_FOR_REPLICAS = 60.0

_UNDISCOVERED = (RedisClusterException, IndexError)
"""Errors of redis-py if no node answers, or none knows a primary."""


class Layout(NamedTuple):
    """The first slot of each range with its primary, and the slots that are being moved key by key."""

    ranges: tuple[tuple[int, str], ...] = ()
    moves: tuple[str, ...] = ()


class Discovery(RedisCluster):
    """redis-py's knowledge of the nodes, which sends no commands of the site."""

    def command(self, **_: Any) -> dict[str, Any]:
        """Return no description of commands. redis-py asks one node for it, and fails if that one is away."""
        return {}


class Nodes:
    """The nodes of a cluster. They are discovered at the first use, and again when one refuses or fails.

    A discovery takes at most as long as one reply, however many nodes hang. Meanwhile other threads use the nodes
    as they are known; if none of these answers, the next use begins with the nodes in the URL again.
    """

    def __init__(self, connect: Callable[[], Discovery], *, timeout_seconds: float) -> None:
        self._connect = connect
        self._timeout = timeout_seconds
        self._connected: Any = None
        self._connecting, self._discovering = Lock(), Lock()
        self._discovered_at = 0.0

    @property
    def _cluster(self) -> Any:
        connected = self._connected
        if connected is not None:
            return connected
        with self._connecting:
            if self._connected is None:
                try:
                    with answer_sooner(self._timeout):
                        self._connected = self._connect()
                    self._discovered_at = time.monotonic()
                except _UNDISCOVERED as error:
                    raise redis.ConnectionError(str(error)) from error
            return self._connected

    def node_of(self, key: str, *, of_replicas: bool = False) -> Any:
        """Return the client of a key's primary, or of a replica; new replicas are looked for every minute."""
        cluster = self._cluster
        try:
            node = cluster.get_node_from_key(key, replica=of_replicas)
            if node is None:
                if time.monotonic() - self._discovered_at >= SECONDS_BETWEEN_LOOKS_FOR_REPLICAS:
                    self.discover()
                node = cluster.get_node_from_key(key)
        except SlotNotCoveredError as error:
            raise redis.ConnectionError(str(error)) from error
        return self._client_of(node)

    def at(self, host: str, port: int) -> Any:
        """Return the client of a node at an address."""
        return self._client_of(self._cluster.get_node(host, port) or ClusterNode(host, port, PRIMARY))  # type: ignore[no-untyped-call]

    def primaries(self) -> list[Any]:
        """Return a client of each primary that holds slots, always in the same order."""
        holding = {nodes[0].name: nodes[0] for nodes in self._cluster.nodes_manager.slots_cache.values()}
        return [self._client_of(holding[name]) for name in sorted(holding)]

    def layout(self) -> "Layout":
        """Return where the slots are, and which are being moved. One round trip to each primary."""
        ranges, last = list[tuple[int, str]](), ""
        for slot, nodes in sorted(self._cluster.nodes_manager.slots_cache.items()):
            if nodes[0].name != last:
                ranges.append((slot, last := nodes[0].name))
        views = [client.execute_command("CLUSTER NODES") for client in self.primaries()]
        own = [facts for view in views for facts in view.values() if "myself" in facts["flags"]]
        moves = sorted(str(move) for facts in own for move in facts["migrations"])
        return Layout(tuple(ranges), tuple(moves))

    def learn(self, error: Exception, since: float, failed: Any = None) -> None:
        """Take a slot's new place from an error, or discover all nodes again, unless that was done since a moment.

        `failed`: the client of the node that did not reply, which is asked last.
        """
        if isinstance(error, MovedError):
            self._cluster.nodes_manager.move_slot(error)
        elif not isinstance(error, AskError | TryAgainError):
            self.discover(since, failed)

    def discover(self, since: float = 0.0, failed: Any = None) -> None:
        """Discover all nodes again, unless done since a moment (of `time.monotonic`) or just now."""
        cluster = self._cluster
        with self._discovering:
            latest = max(since, time.monotonic() - _LEAST_SECONDS_BETWEEN_DISCOVERIES)
            if self._discovered_at > latest:
                return
            try:
                with answer_sooner(self._timeout):
                    cluster.nodes_manager.initialize(
                        disconnect_startup_nodes_pools=False, last_failed_node_name=_name_of(failed)
                    )
            except (*_UNDISCOVERED, redis.RedisError, OSError) as error:
                _log.warning("the nodes of the cluster could not be discovered: %s", error)
                self._connected = None
            self._discovered_at = time.monotonic()

    def _client_of(self, node: Any) -> Any:
        return self._cluster.get_redis_connection(node)


def _name_of(client: Any) -> str | None:
    """Return redis-py's name of the node of a client."""
    if client is None:
        return None
    place = client.connection_pool.connection_kwargs
    return str(get_node_name(place["host"], place["port"]))

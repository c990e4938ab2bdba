"""A cluster behind the methods of one server's client.

redis-py discovers the nodes and their slots. Commands are sent by `cluster_exchange`: redis-py's pipelines execute
a script twice if the reply is late, and ask a node for the keys of each script. ADR 11 has the figures.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import redis
from redis.client import Pipeline

from articles.repository.store.clients import cluster_exchange as exchange
from articles.repository.store.clients.cluster_nodes import Nodes
from articles.repository.store.clients.guarded_connection import GuardedClient


class ClusterPipeline(Pipeline):
    """A pipeline to a cluster. A transaction is one in each shard: those of the first shard's node come last."""

    def __init__(self, exchange: exchange.Exchange, transaction: bool, **parts: Any) -> None:
        super().__init__(transaction=transaction, shard_hint=None, **parts)
        self._is_transaction = transaction
        self._exchange = exchange

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send the commands; return the replies in their order."""
        commands: list[exchange.Command] = list(self.command_stack)
        self.reset()
        for _, options in commands:
            options.pop("keys", None)
        units = exchange.transactions_of(commands) if self._is_transaction else exchange.units_of(commands)
        self._exchange.run(units)
        replies = exchange.in_order(units, len(commands))
        if raise_on_error:
            self.raise_first_error(commands, replies)  # type: ignore[no-untyped-call]
        return replies


class ClusterClient(GuardedClient):
    """The client of a cluster. A command without a key goes to every primary, or to one where any can reply."""

    def __init__(self, nodes: Nodes, pool: redis.ConnectionPool, *, of_replicas: bool = False) -> None:
        """`pool` only says how replies are decoded; nothing is sent through it."""
        super().__init__(connection_pool=pool)
        self.nodes = nodes
        self._exchange = exchange.Exchange(nodes, of_replicas=of_replicas)

    def pipeline(self, transaction: Any = True, shard_hint: Any = None) -> ClusterPipeline:
        """Return a pipeline whose commands go to the nodes of their keys. `shard_hint` is unused."""
        del shard_hint
        return ClusterPipeline(
            self._exchange,
            bool(transaction),
            connection_pool=self.connection_pool,
            response_callbacks=self.response_callbacks,
        )

    def send_together(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Send commands to the nodes of their keys; return their replies, errors as values."""
        with self.pipeline(transaction=False) as pipe:
            for words in commands:
                pipe.execute_command(*words)  # type: ignore[no-untyped-call]
            return pipe.execute(raise_on_error=False)

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """Send one command; return its reply."""
        options.pop("keys", None)
        if exchange.key_of(words) is None:
            return self._everywhere(words, options)
        unit = exchange.Unit(exchange.key_of(words), [(words, options)], [0])
        self._exchange.run([unit])
        (reply,) = exchange.in_order([unit], 1)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def scan_iter(self, *args: Any, **options: Any) -> Iterator[Any]:
        """Yield the keys of every primary, in batches of round trips. See `store.scan.walk` for keys that move."""
        for server in self.nodes.primaries():
            yield from server.scan_iter(*args, **options)

    def _everywhere(self, words: Sequence[Any], options: dict[str, Any]) -> Any:
        name = str(words[0]).partition(" ")[0].upper()
        servers: list[Any] = self.nodes.primaries()
        if name in ("FLUSHDB", "FLUSHALL", "SCRIPT", "BGREWRITEAOF"):
            replies = [self._at(server, words, options) for server in servers]
            are_lists = all(isinstance(reply, list) for reply in replies)
            return [all(flags) for flags in zip(*replies, strict=True)] if are_lists else replies[0]
        if name == "DBSIZE":
            return sum(self._at(server, words, options) for server in servers)
        return self._at(servers[0], words, options)

    def _at(self, server: Any, words: Sequence[Any], options: dict[str, Any]) -> Any:
        """Send a command to one node. If that fails, the nodes are discovered again, for the next command."""
        began = time.monotonic()
        try:
            return server.execute_command(*words, **options)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self.nodes.learn(error, began, server)
            raise

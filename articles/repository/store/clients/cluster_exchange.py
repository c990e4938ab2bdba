"""Sending commands to several nodes at once.

Commands are written to all nodes before any reply is read. A command is sent once more only if no node has
executed it: a node says where its slot is, or was not reached.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import redis
from redis.client import EMPTY_RESPONSE
from redis.exceptions import AskError, ClusterDownError, MovedError, ReadOnlyError, TryAgainError

from articles.repository.store.clients.cluster_nodes import Nodes
from articles.repository.store.clients.guarded_connection import was_not_sent_or_only_reads

Command: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""Words and options of a command, as redis-py's pipelines keep them."""

_REDIRECTIONS = (AskError, TryAgainError, ClusterDownError, ReadOnlyError)
"""Replies of a node that did not execute the command. A MovedError is an AskError."""

_ASKING = "ASKING"

_KEY_AT = {"EVAL": 3, "EVALSHA": 3, "EVAL_RO": 3, "EVALSHA_RO": 3, "OBJECT": 2, "ZINTER": 2, "ZUNION": 2}
"""Where the first key is among the words of a command; after its name unless named here."""

_WITHOUT_KEY = frozenset(
    (
        "PING", "INFO", "TIME", "DBSIZE", "SCAN", "FLUSHDB", "FLUSHALL", "WAIT", "BGREWRITEAOF", "CONFIG",
        "SCRIPT", "SLOWLOG", "CLIENT", "CLUSTER", "MULTI", "EXEC", "READONLY", "COMMAND", "ACL", "LATENCY",
        "SHUTDOWN", "REPLICAOF", "DEBUG",
    )
)  # fmt: skip
"""First words of commands without a key."""


def key_of(words: Sequence[Any]) -> str | None:
    """Return the first key of a command; None for a command without one."""
    name = str(words[0]).partition(" ")[0].upper()
    at = _KEY_AT.get(name, 1)
    return None if name in _WITHOUT_KEY or len(words) <= at else str(words[at])


@dataclass(slots=True, eq=False)
class Unit:
    """Commands that go to one node together: one with a key, and those without a key that follow it."""

    key: str | None
    commands: list[Command]
    positions: list[int]
    is_transaction: bool = False
    is_asking: bool = False  # whether the node is asked for keys of a slot that is being moved to it
    replies: list[Any] = field(default_factory=list)
    failure: Exception | None = None
    """The error with which the node refused the unit, or by which it was not reached."""

    node: Any = None  # the client of the node to which the unit was sent last

    @property
    def sent(self) -> list[tuple[Any, ...]]:
        words = [words for words, _ in self.commands]
        if self.is_transaction:
            words = [("MULTI",), *words, ("EXEC",)]
        return [(_ASKING,), *words] if self.is_asking else words

    @property
    def needs_its_shard(self) -> bool:
        """Whether the node must have all keys of the shard.

        A script uses keys that it builds from the shard's prefix, and waiting is about what was written before.
        """
        names = [str(words[0]) for words, _ in self.commands]
        return ((self.key or "").startswith("{") and names[0].startswith("EVAL")) or names[-1] == "WAIT"


class Exchange:
    """Sends units to their nodes, all at once, and reads the replies."""

    def __init__(self, nodes: Nodes, *, of_replicas: bool) -> None:
        self._nodes = nodes
        self._of_replicas = of_replicas

    def run(self, units: Sequence[Unit]) -> None:
        """Fill in replies and failures. At most two exchanges with each node."""
        began = time.monotonic()
        self._attempt(units, is_first=True)
        refused = [unit for unit in units if unit.failure and _may_be_repeated(unit, unit.failure)]
        for unit in units:
            if unit.failure:
                self._nodes.learn(unit.failure, began, unit.node)
        if refused:
            self._attempt(refused, is_first=False)

    def _attempt(self, units: Sequence[Unit], *, is_first: bool) -> None:
        open_lines = list[tuple[Any, Any, list[Unit]]]()
        try:
            for client, parts in self._by_node(units, is_first=is_first):
                if line := _sent(client, parts):
                    open_lines.append((client, line, parts))
            while open_lines:
                client, line, parts = open_lines[0]
                _read(client, line, parts)
                open_lines.pop(0)
        finally:
            for client, line, _ in open_lines:  # interrupted: replies are still to come
                line.disconnect()
                client.connection_pool.release(line)

    def _by_node(self, units: Sequence[Unit], *, is_first: bool) -> Iterator[tuple[Any, list[Unit]]]:
        parts: dict[int, tuple[Any, list[Unit]]] = {}
        for unit in units:
            failure, unit.failure, unit.replies, unit.node = unit.failure, None, [], None
            try:
                client = unit.node = self._place_of(unit, failure, is_first=is_first)
            except (redis.RedisError, OSError) as error:
                unit.failure = error
                continue
            parts.setdefault(id(client), (client, []))[1].append(unit)
        yield from parts.values()

    def _place_of(self, unit: Unit, failure: Exception | None, *, is_first: bool) -> Any:
        unit.is_asking = _is_being_moved(failure)
        if isinstance(failure, AskError) and unit.is_asking:
            return self._nodes.at(failure.host, failure.port)
        if unit.key is None:
            return self._nodes.primaries()[0]
        return self._nodes.node_of(unit.key, of_replicas=self._of_replicas and is_first)


def _is_being_moved(failure: Exception | None) -> bool:
    """Return whether a node says that another one has the key, as long as their slot is being moved."""
    return isinstance(failure, AskError) and not isinstance(failure, MovedError)


def _may_be_repeated(unit: Unit, failure: Exception) -> bool:
    if _is_being_moved(failure):
        return not unit.needs_its_shard
    return isinstance(failure, _REDIRECTIONS) or was_not_sent_or_only_reads(failure)


def _sent(client: Any, units: Sequence[Unit]) -> Any:
    """Send units to a node; return the connection that will have the replies, None if they all failed."""
    line = None
    try:
        line = client.connection_pool.get_connection()
        line.send_packed_command(line.pack_commands([words for unit in units for words in unit.sent]))
        return line
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        _fail(units, error)
        if line is not None:
            line.disconnect()
            client.connection_pool.release(line)
        return None


def _read(client: Any, line: Any, units: Sequence[Unit]) -> None:
    """Read the replies to units; those that do not arrive are failures. Releases the connection."""
    waiting = list(units)
    try:
        while waiting:
            waiting[0].replies = _replies(client, line, waiting[0])
            waiting.pop(0)
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        _fail(waiting, error)
    finally:
        if waiting:
            line.disconnect()
        client.connection_pool.release(line)


def _fail(units: Sequence[Unit], error: Exception) -> None:
    for unit in units:
        unit.failure = error


def _replies(client: Any, line: Any, unit: Unit) -> list[Any]:
    """Read the replies to a unit: one for each command, errors of the server as values."""
    if unit.is_asking:
        client.parse_response(line, _ASKING)
    if unit.is_transaction:
        return _transaction_replies(client, line, unit)
    replies = []
    for words, options in unit.commands:
        try:
            replies.append(client.parse_response(line, words[0], **options))
        except redis.ResponseError as error:
            replies.append(error)
    unit.failure = next((reply for reply in replies if isinstance(reply, _REDIRECTIONS)), None)
    return replies


def _transaction_replies(client: Any, line: Any, unit: Unit) -> list[Any]:
    replies: list[Any] = []
    for _ in range(len(unit.commands) + 2):
        try:
            replies.append(client.parse_response(line, "_"))
        except redis.ResponseError as error:
            replies.append(error)
    *queued, executed = replies
    errors = [reply for reply in queued if isinstance(reply, Exception)]
    if not isinstance(executed, list):
        refusal = errors[0] if errors else executed
        unit.failure = refusal if isinstance(refusal, _REDIRECTIONS) else None
        return [refusal] * len(unit.commands)
    known = client.response_callbacks
    return [
        reply if isinstance(reply, Exception) or words[0] not in known else known[words[0]](reply, **options)
        for (words, options), reply in zip(unit.commands, executed, strict=True)
    ]


def units_of(commands: Sequence[Command]) -> list[Unit]:
    units = list[Unit]()
    for at, command in enumerate(commands):
        key = key_of(command[0])
        if key is None and units:
            units[-1].commands.append(command)
            units[-1].positions.append(at)
        else:
            units.append(Unit(key, [command], [at]))
    return units


def transactions_of(commands: Sequence[Command]) -> list[Unit]:
    """Return a unit for each hash tag, or each key without one."""
    units: dict[str, Unit] = {}
    for at, command in enumerate(commands):
        if EMPTY_RESPONSE in command[1]:
            raise redis.RedisError("a command with an empty response cannot be in a transaction of a cluster")
        key = key_of(command[0]) or ""
        tag = key.partition("}")[0] if key.startswith("{") else key
        unit = units.setdefault(tag, Unit(key, [], [], is_transaction=True))
        unit.commands.append(command)
        unit.positions.append(at)
    return list(units.values())


def in_order(units: Sequence[Unit], count: int) -> list[Any]:
    """Return the replies of all units in the order of their commands. Raises the first failure of a line."""
    replies: list[Any] = [None] * count
    for unit in units:
        if unit.failure and not unit.replies:
            if isinstance(unit.failure, OSError):  # which redis-py raises as its own
                raise redis.ConnectionError(str(unit.failure)) from unit.failure
            raise unit.failure
        for at, reply in zip(unit.positions, unit.replies, strict=True):
            replies[at] = reply
    return replies

"""A store behind lines that can be cut."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.chaos.proxies import Proxy
from tests.topologies.node import HOST, Node
from tests.topologies.replication import Replication


class CutOffReplication(Replication):
    """Servers that sentinels, replicas and clients reach through a line each.

    Who connects to `node.address` stands on the server's side of its line: cut off with it when the line is cut.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lines: dict[Node, Proxy] = {}

    def _new_node(self, settings: Mapping[str, str]) -> Node:
        line = Proxy((HOST, 0))
        announced = {"replica-announce-ip": HOST, "replica-announce-port": str(line.port)}
        node = super()._new_node(announced | dict(settings))
        line.store = (HOST, node.port)
        self._lines[node] = line
        return node

    def reached_at(self, node: Node) -> int:
        return self._lines[node].port

    @contextmanager
    def cut_off(self, node: Node) -> Iterator[None]:
        """Cut the node's line inside the block: it and its own clients go on alone."""
        with self._lines[node].cut():
            yield

    def end(self) -> None:
        super().end()
        for line in self._lines.values():
            line.close()

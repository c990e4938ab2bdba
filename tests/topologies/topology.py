"""What all kinds of stores have in common; and the simplest kind, one server."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Self

from tests.topologies.binaries import redis_or_valkey
from tests.topologies.node import PASSWORD, Node, discard_all
from tests.waiting import until


class Topology:
    """Server processes that make up a store. They run inside the `with` block.

    `folder`: a new one, for their files. `settings`: for every server that holds data, in their configuration.
    """

    def __init__(
        self,
        folder: Path,
        binary: Path | None = None,
        *,
        has_password: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.binary = folder, binary or redis_or_valkey()
        self.password = PASSWORD if has_password else ""
        self.settings = dict(settings or {})
        self.nodes: list[Node] = []
        self._numbers = count(1)

    @property
    def processes(self) -> list[Node]:
        """All of them; `nodes` are those that hold data."""
        return self.nodes

    @property
    def url(self) -> str:
        """The value of REDIS_URL."""
        raise NotImplementedError

    def database(self, number: int) -> str:
        """Return the URL of one of the store's databases; of its only one, if it has no others."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the processes; return when they serve."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        discard_all(self.processes)

    def start_node(self, **settings: str) -> Node:
        """Start one more server for data; return when it answers."""
        (node,) = self.start_nodes(1, **settings)
        return node

    def start_nodes(self, number: int, **settings: str) -> list[Node]:
        """Start servers for data, all with these settings; return when they answer."""
        started = [self._new_node(settings) for _ in range(number)]
        for node in started:
            until(node.answers)
        return started

    def _new_node(self, settings: Mapping[str, str]) -> Node:
        folder = self.folder / f"node-{next(self._numbers)}"
        node = Node(folder, self.binary, password=self.password, settings=self.settings | dict(settings))
        self.nodes.append(node)
        return node

    def reached_at(self, node: Node) -> int:
        """Return the port at which the others reach this node."""
        return node.port

    def node_at(self, port: int) -> Node:
        (node,) = [node for node in self.nodes if self.reached_at(node) == port]
        return node

    def logs(self) -> str:
        """Return the end of what each process has printed."""
        return "\n".join(f"{node}\n{node.log()}" for node in self.processes)

    def credentials(self) -> str:
        """Return the beginning of a URL's address."""
        return f":{self.password}@" if self.password else ""


class OneServer(Topology):
    """A plain server."""

    def start(self) -> None:
        self.start_node()

    @property
    def node(self) -> Node:
        (node,) = self.nodes
        return node

    @property
    def url(self) -> str:
        return self.database(0)

    def database(self, number: int) -> str:
        return f"redis://{self.credentials()}{self.node.address}/{number}"

"""What one node of a cluster knows about all of them."""

from dataclasses import dataclass

from tests.topologies.node import Node

_OUTDATED = frozenset(("fail", "fail?", "handshake", "noaddr"))


@dataclass(frozen=True)
class Member:
    """A node as another, or itself, sees it. Of two that claim a slot, the one with the higher `epoch` wins."""

    id: str
    port: int
    flags: frozenset[str]
    primary_id: str
    epoch: int
    slots: frozenset[int]

    @property
    def is_primary(self) -> bool:
        return "master" in self.flags

    @property
    def is_itself(self) -> bool:
        return "myself" in self.flags

    @property
    def is_known(self) -> bool:
        """Whether it is a full member that is thought to be up."""
        return not self.flags & _OUTDATED


def view_of(node: Node) -> list[Member]:
    """Return all members in the view of this node."""
    return [_member(line) for line in str(node.text("CLUSTER", "NODES")).splitlines() if line]


def own_view_of(node: Node) -> Member:
    """Return what the node knows about itself."""
    (own,) = [member for member in view_of(node) if member.is_itself]
    return own


def _member(line: str) -> Member:
    """Read a line such as `<id> 127.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-5460`."""
    name, address, flags, primary, _, _, epoch, _, *parts = line.split()
    port = int(address.partition("@")[0].rpartition(":")[2])
    owned = frozenset(slot for part in parts if not part.startswith("[") for slot in _range(part))
    return Member(name, port, frozenset(flags.split(",")), primary, int(epoch), owned)


def _range(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)

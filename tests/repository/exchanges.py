"""Which node is sent what by the site, and when its replies are read."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from articles.repository.store.clients.guarded_connection import DeadlineParser, _Guarded


@dataclass
class Exchanges:
    """The packets to each node by its port, and `events`: "sent" or "read" with a port, in order."""

    monkeypatch: pytest.MonkeyPatch
    events: list[tuple[str, int]] = field(default_factory=list)
    packets: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        send, read = _Guarded.send_packed_command, _Guarded.read_response

        def send_packed_command(line, command, check_health=True):
            parts = [command] if isinstance(command, bytes) else command
            self.packets.append(
                (line.port, b"".join(part.encode() if isinstance(part, str) else part for part in parts))
            )
            self.events.append(("sent", line.port))
            return send(line, command, check_health)

        def read_response(line, *args, **options):
            self.events.append(("read", line.port))
            return read(line, *args, **options)

        self.monkeypatch.setattr(_Guarded, "send_packed_command", send_packed_command)
        self.monkeypatch.setattr(_Guarded, "read_response", read_response)

    @contextmanager
    def counted(self) -> Iterator["Exchanges"]:
        """Start counting from zero."""
        self.events.clear()
        self.packets.clear()
        yield self

    @property
    def by_port(self) -> Counter[int]:
        """How many packets went to each node."""
        return Counter(port for port, _ in self.packets)

    def containing(self, words: bytes) -> int:
        """Return how many packets contain these bytes."""
        return sum(words in packet for _, packet in self.packets)

    @property
    def sent_before_read(self) -> bool:
        """Whether everything was sent before anything was read."""
        kinds = [kind for kind, _ in self.events]
        return "sent" not in kinds[kinds.index("read") :]


def lose_replies(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the next reads find that the server has closed the connection, after it has received the command."""
    read, left = DeadlineParser.read_from_socket, [times]

    def read_from_socket(self, *args, **options):
        if not left[0]:
            return read(self, *args, **options)
        left[0] -= 1
        read(self, *args, **options)
        raise ConnectionResetError("Connection reset by peer")

    monkeypatch.setattr(DeadlineParser, "read_from_socket", read_from_socket)

"""A proxy before a store that delays, trickles and loses what the store replies, or cuts it off."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TypeAlias

Address: TypeAlias = Path | tuple[str, int]  # of a Unix socket, or host and port
_CHUNK = 64 * 1024


@dataclass
class Line:
    """How the connections behave; can be changed at any time."""

    delay: float = 0.0  # seconds by which each reply is late
    jitter: float = 0.0  # up to so many more
    loses: float = 0.0
    """Share of replies that are lost. Half of their connections end, the others stay open and silent."""
    byte_pause: float | None = None  # seconds between two bytes of a reply
    is_half_open: bool = False  # nothing passes any more, and no connection ends
    passes: Event = field(default_factory=Event)
    """Cleared while the line is cut: what is sent waits, as it does in a network that is mended later."""
    lost: int = 0
    most_open: int = 0
    open: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(1))


class Proxy:
    """Forwards a socket to the store's, with a thread for each direction of a connection.

    `address`: with the port 0, any free one. `store` may be set later, before the first connection.
    """

    def __init__(self, address: Address, store: Address | None = None) -> None:
        self.line = Line()
        self.line.passes.set()
        self.store = store
        self._lock = threading.Lock()
        self._links: set[socket.socket] = set()
        self._listener = _socket_for(address)
        self._listener.bind(_name(address))
        self._listener.listen(256)
        Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Let nothing pass inside the block, in either direction; what was sent meanwhile arrives afterwards."""
        self.line.passes.clear()
        try:
            yield
        finally:
            self.line.passes.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        assert self.store is not None
        store = _socket_for(self.store)
        with self._lock:
            self._links |= {client, store}
            self.line.open += 1
            self.line.most_open = max(self.line.most_open, self.line.open)
        with suppress(OSError):
            store.connect(_name(self.store))
            replies = Thread(target=self._pump, args=[store, client, True], daemon=True)
            replies.start()
            self._pump(client, store, False)
            replies.join()
        for link in (client, store):
            link.close()
        with self._lock:
            self._links -= {client, store}
            self.line.open -= 1

    def _pump(self, source: socket.socket, target: socket.socket, is_reply: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                self.line.passes.wait()
                if self.line.is_half_open:
                    continue
                if is_reply and self._loses():
                    if self.line.chance.random() < 0.5:
                        break
                    continue
                if is_reply:
                    self._send_late(target, data)
                else:
                    target.sendall(data)
        for link in (source, target):
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def _loses(self) -> bool:
        with self._lock:
            loses = self.line.chance.random() < self.line.loses
            self.line.lost += loses
        return loses

    def _send_late(self, target: socket.socket, data: bytes) -> None:
        if wait := self.line.delay + self.line.jitter * self.line.chance.random():
            time.sleep(wait)  # what the line does
        if self.line.byte_pause is None:
            target.sendall(data)
            return
        for number in range(len(data)):
            target.sendall(data[number : number + 1])
            time.sleep(self.line.byte_pause or 0)  # what the line does

    def close(self) -> None:
        self.line.passes.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            links = list(self._links)
        for link in links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)


def _socket_for(address: Address) -> socket.socket:
    return socket.socket(socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET, socket.SOCK_STREAM)


def _name(address: Address) -> str | tuple[str, int]:
    return str(address) if isinstance(address, Path) else address


@contextmanager
def proxy(path: Path, store: Path) -> Iterator[Proxy]:
    """Forward connections to `path` to the store's socket inside the block."""
    running = Proxy(path, store)
    try:
        yield running
    finally:
        running.close()

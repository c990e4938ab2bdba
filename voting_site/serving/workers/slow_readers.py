"""Cut connections whose reader takes a response too slowly. Linux only; elsewhere they stay until it closes.

granian has time limits for receiving and none for sending. The kernel knows how many bytes each reader has
acknowledged. A cut connection fails at its next write, and granian drops it.
"""

import fcntl
import os
import socket
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BYTES_PER_SECOND = 1_000  # lowest rate at which a reader has to take the data that is waiting
_BYTES_ACKED = struct.Struct("@120xQ")  # `tcpi_bytes_acked` of struct tcp_info, linux/tcp.h

_RESET = struct.pack("@ii", 1, 0)
"""struct linger: closing drops what is waiting, instead of leaving it in the kernel's memory."""

_OPEN_FILES = Path("/proc/self/fd")


@dataclass
class _Reader:
    inode: int
    since: float
    acknowledged: int


class SlowReaders:
    """Watches this process's connections. Call `cut` every second or so, from one thread."""

    def __init__(self, listener: socket.socket, window: float) -> None:
        """Readers are cut that take less than BYTES_PER_SECOND on average over `window` seconds."""
        self._address = listener.getsockname()
        self._window = window
        self._readers: dict[int, _Reader] = {}

    def cut(self) -> int:
        """Cut the connections of readers that are too slow; return how many there were."""
        now, waiting, cut = time.monotonic(), dict[int, _Reader](), 0
        for file, link in self._connections():
            with suppress(OSError):  # closed meanwhile
                if not _unacknowledged(link):
                    continue
                current = _Reader(os.fstat(link.fileno()).st_ino, now, _acknowledged(link))
                waiting[file] = reader = self._known(file, current)
                if now - reader.since < self._window:
                    continue
                waiting[file] = current
                if current.acknowledged - reader.acknowledged < self._window * BYTES_PER_SECOND:
                    _cut(link)
                    cut += 1
        self._readers = waiting
        return cut

    def count(self) -> int:
        """Return the number of connections; 0 where they cannot be counted."""
        return sum(1 for _ in self._connections())

    def _known(self, file: int, current: _Reader) -> _Reader:
        """Return what was recorded of the connection; `current` if it is a new one."""
        reader = self._readers.get(file)
        return reader if reader and reader.inode == current.inode else current

    def _connections(self) -> Iterator[tuple[int, socket.socket]]:
        """Yield each connection accepted on the site's address: its file descriptor, and a duplicate to use."""
        for name in os.listdir(_OPEN_FILES) if _OPEN_FILES.is_dir() else []:
            with suppress(OSError), _duplicate(int(name)) as link:  # closed meanwhile
                if self._is_of_the_site(link):
                    yield int(name), link

    def _is_of_the_site(self, link: socket.socket) -> bool:
        if link.family not in (socket.AF_INET, socket.AF_INET6) or link.type != socket.SOCK_STREAM:
            return False
        try:
            link.getpeername()
        except OSError:  # the listening socket, or closed meanwhile
            return False
        host, port, *_ = self._address
        own_host, own_port, *_ = link.getsockname()
        return own_port == port and host in ("0.0.0.0", "::", own_host)  # noqa: S104 - compared, not bound


def _duplicate(file: int) -> socket.socket:
    """Return a socket for another descriptor of the same connection. Raises OSError if it is something else."""
    copy = os.dup(file)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _unacknowledged(link: socket.socket) -> int:
    """Return the bytes that the reader has not acknowledged, sent or not."""
    count: int = struct.unpack("@i", fcntl.ioctl(link, termios.TIOCOUTQ, bytes(4)))[0]
    return count


def _acknowledged(link: socket.socket) -> int:
    count: int = _BYTES_ACKED.unpack(link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_ACKED.size))[0]
    return count


def _cut(link: socket.socket) -> None:
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    link.shutdown(socket.SHUT_RDWR)

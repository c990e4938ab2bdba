"""The sockets on which the site listens. The launcher holds them, so that connections wait during a restart.

On Linux each worker has a socket of its own at the same address, and the kernel spreads connections over them. Of
workers that share a socket, one takes nearly all connections of clients that keep them open, such as proxies, and
the other cores stay idle.
"""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from voting_site.configuration.hosts import in_address


class CannotServe(Exception):
    """The site cannot start; the message is one sentence for the operator."""


BACKLOG = 2048  # connections that wait until a worker accepts them
_SEND_BUFFER_BYTES = 128 * 1024
"""Kernel memory for data that a reader has not acknowledged. The kernel doubles it for its own overhead."""


@contextmanager
def bound(host: str, port: int, patience: float, workers: int) -> Iterator[Sequence[socket.socket]]:
    """Yield the site's sockets, one for each worker, or one for all. They refuse connections until `listen`.

    Raises CannotServe. Connections inherit the sockets' options. On Linux the kernel ends those whose reader
    acknowledges nothing for `patience` seconds; elsewhere they stay until the reader closes them.
    """
    is_shared = workers == 1 or sys.platform != "linux"
    with ExitStack() as stack:
        first = stack.enter_context(_bound(host, port, patience))
        if is_shared:
            yield [first]
            return
        first.close()  # it shares the address with none, so no other program has it
        yield [stack.enter_context(_bound(host, port, patience, reuses_port=True)) for _ in range(workers)]


def listen(listeners: Sequence[socket.socket]) -> None:
    for listener in listeners:
        listener.listen(BACKLOG)


def _bound(host: str, port: int, patience: float, *, reuses_port: bool = False) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(patience * 1000))
        if reuses_port:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise CannotServe(
            f"Cannot listen on {in_address(host)}:{port}: {error.strerror}. Set HOST or PORT to a different value."
        ) from error
    return listener


def accept_nothing(listener: socket.socket) -> None:
    """Make this process accept no more connections; others that share the socket still do. Only on Linux.

    The web server cannot stop accepting without ending. So each of its descriptors of the socket, except
    `listener` itself, is replaced by that of a socket that receives no connections.
    """
    with socket.socket(socket.AF_UNIX) as deaf, suppress(OSError):
        deaf.setblocking(False)
        deaf.bind("")  # a name that the kernel chooses
        deaf.listen(1)
        facts = os.fstat(listener.fileno())
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor != listener.fileno() and _is_same(descriptor, facts):
                os.dup2(deaf.fileno(), descriptor, inheritable=False)


def _is_same(descriptor: int, facts: os.stat_result) -> bool:
    with suppress(OSError):  # one that was closed since
        return os.path.samestat(os.fstat(descriptor), facts)
    return False

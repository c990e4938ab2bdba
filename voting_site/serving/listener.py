"""The socket on which the site listens. The launcher holds it, so that connections wait during a restart."""

import socket
import sys

from voting_site.configuration.hosts import in_address
from voting_site.serving.cannot_serve import CannotServe

BACKLOG = 2048
"""Connections that wait until a worker accepts them."""

_SEND_BUFFER_BYTES = 128 * 1024
"""Kernel memory for data that a reader has not acknowledged. The kernel doubles it for its own overhead."""


def bind(host: str, port: int, patience: float) -> socket.socket:
    """Bind the site's socket. It refuses connections until `listen(BACKLOG)`. Raises CannotServe.

    Connections inherit its options. On Linux the kernel ends those whose reader acknowledges nothing for so many
    seconds; elsewhere they stay until the reader closes them.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(patience * 1000))
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise CannotServe(
            f"Cannot listen on {in_address(host)}:{port}: {error.strerror}. Set HOST or PORT to a different value."
        ) from error
    return listener

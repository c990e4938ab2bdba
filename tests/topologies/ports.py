"""Ports of 127.0.0.1 that no other process is given, also while the server that uses one is down."""

import socket


class Port:
    """A port held by a socket that is bound but does not listen: a server may, but the system gives it to none."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        # Only now: the system would share a port among sockets that had this option when they asked for one.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number = int(self._socket.getsockname()[1])

    def close(self) -> None:
        self._socket.close()

"""Clients that hold connections as long as they can, and a reader who measures the site meanwhile."""

import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HOST = b"Host: localhost\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
TCP_CLOSED = 7  # TCP_CLOSE of linux/tcp_states.h: the server has reset the connection
ACCEPTED_WITHIN = 2.0  # seconds after which a process surely holds a connection that is not cut
PIPELINED = 100  # requests that a slow reader sends at once, so that the responses fill every buffer


@dataclass(frozen=True)
class Kind:
    """What a slow client sends at first, again at each turn, and how many bytes it reads at each turn."""

    first: bytes
    again: bytes = b""
    reads: int = 4096


def kinds(large_path: bytes) -> dict[str, Kind]:
    """Return every kind of slow connection. Slow readers ask for `large_path`."""
    asks = (b"GET " + large_path + b" HTTP/1.1\r\n" + HOST + b"\r\n") * PIPELINED
    posts = b"POST /login/ HTTP/1.1\r\n" + HOST + FORM
    return {
        "no byte": Kind(b""),
        "slow header": Kind(b"GET /healthz HTTP/1.1\r\n" + HOST, b"x"),
        "slow body": Kind(posts + b"Content-Length: 5000\r\n\r\n", b"x"),
        "slow chunks": Kind(posts + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        "never reads": Kind(asks, reads=0),
        "slow reader": Kind(asks, reads=1),
        "idle": Kind(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    }


@dataclass
class SlowClient:
    """One slow connection."""

    kind: str
    behaviour: Kind
    link: socket.socket
    began: float
    cut_after: float | None = None

    def turn(self, held: set[int]) -> None:
        """Do what the kind does once, and note when the server has cut the connection.

        A client that reads slowly does not see the end of the connection for long. It is cut when the server does
        not hold it any more: `held` are the clients' ports that it does.
        """
        if self.cut_after is not None:
            return
        try:
            if self.behaviour.again:
                self.link.send(self.behaviour.again)
            is_cut = self._is_reset() or (
                time.monotonic() - self.began > ACCEPTED_WITHIN and self.link.getsockname()[1] not in held
            )
            if self.behaviour.reads and not is_cut:
                is_cut = self.link.recv(self.behaviour.reads) == b""
        except BlockingIOError:
            return
        except OSError:
            is_cut = True
        if is_cut:
            self.cut_after = time.monotonic() - self.began
            self.link.close()

    def _is_reset(self) -> bool:
        return struct.unpack("B", self.link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1))[0] == TCP_CLOSED


def connect(port: int, name: str, behaviour: Kind) -> SlowClient:
    link = socket.socket()
    if behaviour.reads <= 1:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.settimeout(60)
    link.connect(("127.0.0.1", port))
    link.setblocking(False)
    if behaviour.first:
        link.send(behaviour.first)
    return SlowClient(name, behaviour, link, time.monotonic())


def ports_held(server_port: int) -> set[int]:
    """Return the clients' ports of the connections that a process holds at the server's port."""
    held = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote, inode = fields[1], fields[2], fields[9]
        if int(local.rpartition(":")[2], 16) == server_port and inode != "0":
            held.add(int(remote.rpartition(":")[2], 16))
    return held


@dataclass
class Reader:
    """Asks for a page again and again, each time on a new connection, as readers who come by."""

    port: int
    path: bytes = b"/healthz"
    pause: float = 0.02
    seconds: list[float] = field(default_factory=list)
    failures: int = 0

    def __enter__(self) -> "Reader":
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self.pause):
            began = time.monotonic()
            self.failures += not self.answered()
            self.seconds.append(time.monotonic() - began)

    def answered(self) -> bool:
        """Ask once; return whether the site answered."""
        request = b"GET " + self.path + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as link:
                link.sendall(request)
                answer = link.recv(4096)
                while link.recv(65536):
                    pass
        except OSError:
            return False
        return answer.startswith(b"HTTP/1.1 200")

    def quantile(self, share: float) -> float:
        return sorted(self.seconds)[min(int(share * len(self.seconds)), len(self.seconds) - 1)]


def hold(port: int, of_each: int, large_path: bytes, seconds: float) -> tuple[list[SlowClient], Reader]:
    """Hold `of_each` slow connections of each kind until all are cut, or for `seconds`.

    Return the clients, and the reader who came by meanwhile.
    """
    with Reader(port) as reader:
        clients = [
            connect(port, name, behaviour) for name, behaviour in kinds(large_path).items() for _ in range(of_each)
        ]
        end = time.monotonic() + seconds
        while time.monotonic() < end and any(client.cut_after is None for client in clients):
            began = time.monotonic()
            held = ports_held(port)
            for client in clients:
                client.turn(held)
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))  # their point is to send a byte a second
    for client in clients:
        client.link.close()
    return clients, reader

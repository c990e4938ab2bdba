"""The fetching process with servers of its own: python -m extras.links.tests.program <descriptor> <seconds>

Each host is a behaviour. Nothing else differs from the program that the site runs: its fence is up.
"""

import json
import os
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from extras.links.fetcher import main
from outgoing.fetching import World
from tests.zoo import AGENT, PUBLIC, page

_open: list[tuple[socket.socket, socket.socket]] = []


def _possible() -> str:
    """Return what the child can still do, of what it must not."""
    with socket.socket() as unlike:
        unlike.settimeout(0.5)
        tries: dict[str, Callable[[], object]] = {
            "read a file": lambda: Path("/etc/passwd").read_bytes(),
            "read the program": lambda: Path(__file__).read_bytes(),
            "list a folder": lambda: os.listdir("/tmp"),
            "write a file": lambda: Path("/tmp/links-were-here").write_bytes(b"x"),
            "reach a Unix socket": lambda: socket.socket(socket.AF_UNIX),
            "start a process": os.fork,
            "run a program": lambda: os.execv("/bin/true", ["true"]),
            "signal the site": lambda: os.kill(os.getppid(), 0),
            "use a gigabyte": lambda: bytearray(2**30),
            "reach another port": lambda: unlike.connect(("127.0.0.1", 6379)),
        }
        found = []
        for name, attempt in tries.items():
            try:
                attempt()
            except (PermissionError, MemoryError):
                continue
            except OSError:
                pass
            found.append(name)
    if set(os.environ) - {"LC_CTYPE"}:
        found.append("read the environment")
    if any(_is_socket_of_another(number) for number in range(3, 64)):
        found.append("use other sockets")
    return ", ".join(found) or "nothing"


def _is_socket_of_another(number: int) -> bool:
    """Return whether a descriptor is a socket that this program has not made."""
    try:
        is_socket = stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False
    return is_socket and number not in {one.fileno() for pair in _open for one in pair}


def resolve(host: bytes, port: int) -> list[str]:
    if host.startswith(b"resolves-slowly"):
        time.sleep(600)
    _asked.append(host.decode())
    return [PUBLIC]


_asked: list[str] = []


def connect(address: tuple[str, int], timeout: float) -> socket.socket:
    """Return a connection at which the answer has been sent already, the same for robots.txt as for the page."""
    ours, theirs = socket.socketpair()
    _open.append((ours, theirs))
    host = _asked[-1]
    if host == "dies.example":
        os._exit(1)
    elif host == "lies.example":
        os.write(1, b'{"answer": [1], "hosts": 7, "robots": "')
        os._exit(0)
    elif host == "boasts.example":
        said = {"title": "x" * 100_000, "more": "y" * 100_000}
        os.write(
            1, json.dumps({"answer": said, "hosts": ["a"] * 9_000, "robots": {"http://a": "z" * 90_000}}).encode()
        )
        os._exit(0)
    elif host == "fenced.example":
        theirs.sendall(page(_possible()))
    elif host != "says-nothing.example":
        theirs.sendall(page(f"Page of {host}", "Connection: close"))
    if host != "says-nothing.example":
        theirs.shutdown(socket.SHUT_WR)
    return ours


if __name__ == "__main__":
    main(sys.argv[1], AGENT, World(resolve=resolve, connect=connect), float(sys.argv[2]))

"""A network of its own for the program that the site runs: python -m extras.links.tests.network <folder>

In new namespaces of network and mounts: a name server whose answers change, hostile servers at public addresses,
and what must not be reached at private ones. Prints, as JSON, what the program answered and whom it reached.
"""

import ctypes
import fcntl
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from tests.zoo import AGENT, PUBLIC, Zoo, answers, bomb, page, redirect, response, sends

OTHER = "93.184.216.35"
PRIVATE = ("127.0.0.1", "10.0.0.7", "169.254.169.254", "100.100.100.200", "::1")
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

NAMES = {
    "a.example": [PUBLIC],
    "b.example": [OTHER],
    "turns.example": [PUBLIC, "127.0.0.1"],
    "inside.example": ["10.0.0.7"],
    "metadata.example": ["169.254.169.254"],
    "shared.example": ["100.100.100.200"],
}
"""The addresses of each name, one after the other at its look-ups; the last one stays. Others do not exist."""

SERVERS = {
    "/good": answers(page("A good page")),
    "/loop": answers(redirect("/loop")),
    "/to-loopback": answers(redirect("http://127.0.0.1/")),
    "/to-six": answers(redirect("http://[::1]/")),
    "/to-mapped": answers(redirect("http://[::ffff:10.0.0.7]/")),
    "/to-metadata": answers(redirect("http://metadata.example/latest/")),
    "/to-inside": answers(redirect("http://inside.example/")),
    "/to-shared": answers(redirect("http://shared.example/")),
    "/to-store": answers(redirect("http://b.example:6379/")),
    "/to-file": answers(redirect("file:///etc/passwd")),
    "/to-data": answers(redirect("data:text/html,<title>x</title>")),
    "/to-other": answers(redirect("http://b.example/good")),
    "/to-broken-tls": answers(redirect("https://b.example/")),
    "/refresh": answers(
        response(b"<meta http-equiv=refresh content='0;url=http://10.0.0.7/'><title>Stays</title>")
    ),
    "/picture": answers(
        response(b"<img src=http://10.0.0.7/><script src=//10.0.0.7/></script><title>Seen</title>")
    ),
    "/endless": sends(itertools.chain([HTML + b"<title>Endless</title>"], itertools.repeat(b"<p>" * 20_000))),
    "/drip": sends(itertools.chain([HTML + b"<title>A drip"], itertools.repeat(b".")), pause=0.2),
    "/bomb": answers(response(bomb(100_000_000), "Content-Encoding: gzip")),
    "/long": sends(itertools.chain([HTML + b"<title>"], [b"long " * 200_000] * 40)),
    "/nothing": sends([b""], pause=20),
}
LINKS = [f"http://a.example{path}" for path in SERVERS]
LINKS += [f"http://{name}/" for name in ("turns.example", "inside.example", "metadata.example", "none.example")]


def _set_up_loopback() -> None:
    """Turn the loopback interface on, and give it the addresses of all servers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for number, address in enumerate((PUBLIC, OTHER, *PRIVATE[1:-1])):
            named = struct.pack(
                "16sH2s4s8x", f"lo:{number}".encode(), socket.AF_INET, b"", socket.inet_aton(address)
            )
            fcntl.ioctl(control, 0x8916, named)  # SIOCSIFADDR
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x49))  # SIOCSIFFLAGS: up, loopback, running


def _mount(file: Path, place: str) -> None:
    bind = 4096
    if ctypes.CDLL(None).mount(str(file).encode(), str(Path(place).resolve()).encode(), b"", bind, None):
        raise OSError(f"cannot mount over {place}")


def _answer_names(server: socket.socket, counts: "defaultdict[str, int]") -> None:
    """Answer questions for addresses: type A by NAMES, nothing of other types."""
    while True:
        question, client = server.recvfrom(4096)
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length].decode())
            at += 1 + length
        name, (kind,) = ".".join(labels), struct.unpack(">H", question[at + 1 : at + 3])
        found = NAMES.get(name, []) if kind == 1 else []
        addresses = found[min(counts[name], len(found) - 1) :][:1] if found else []
        counts[name] += kind == 1
        flags = 0x8180 if name in NAMES else 0x8183
        head = question[:2] + struct.pack(">HHHHH", flags, 1, len(addresses), 0, 0)
        rows = [b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(one) for one in addresses]
        server.sendto(head + question[12 : at + 5] + b"".join(rows), client)


def _listen(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(64)
    return listener


def _serve(listener: socket.socket, reached: list[str] | None) -> None:
    """Serve hostile pages; with `reached`, only note who connects."""
    while True:
        client, _address = listener.accept()
        if reached is not None:
            reached.append(f"{listener.getsockname()[:2]}")
            client.close()
            continue
        if listener.getsockname()[1] == 443:
            client.sendall(b"HTTP/1.1 400 This is no TLS\r\n\r\n")
        threading.Thread(target=_zoo.answer, args=(_by_path, client), daemon=True).start()


def _by_path(connection: socket.socket, path: str) -> None:
    SERVERS.get(path, answers({}))(connection, path)


_zoo = Zoo({}, {})


def main(folder: str) -> None:
    place, reached = Path(folder), list[str]()
    _set_up_loopback()
    (place / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    (place / "hosts").write_text("127.0.0.1 localhost\n")
    _mount(place / "resolv.conf", "/etc/resolv.conf")
    _mount(place / "hosts", "/etc/hosts")
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    threading.Thread(target=_answer_names, args=(names, defaultdict(int)), daemon=True).start()
    for address in (PUBLIC, OTHER):
        for port in (80, 443):
            threading.Thread(target=_serve, args=(_listen(address, port), None), daemon=True).start()
    for address in (*PRIVATE, OTHER):
        for port in (80, 6379) if address != OTHER else (6379,):
            threading.Thread(target=_serve, args=(_listen(address, port), reached), daemon=True).start()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "socket"))
        listener.listen(64)
        program = [sys.executable, "-m", "extras.links.fetcher", str(listener.fileno()), AGENT]
        calls = "trace=%network,openat,open,execve,fork,vfork,clone,clone3,kill"
        trace = ["strace", "-f", "-qq", "-e", calls, "-o", str(place / "calls")]
        process = subprocess.Popen([*trace, *program], stdin=subprocess.DEVNULL, pass_fds=[listener.fileno()])
        found: dict[str, str] = {}
        end = time.monotonic() + 60
        while len(found) < len(LINKS) and time.monotonic() < end:
            for link in LINKS:
                if link not in found:
                    answer = _ask(str(place / "socket"), link)
                    if answer["state"] in ("found", "failed") and answer.get("problem") not in (
                        "busy",
                        "host-busy",
                    ):
                        found[link] = answer.get("problem") or answer["title"][:40]
            time.sleep(0.1)
        if process.poll() is not None:
            sys.exit("the program ended")
    sys.stdout.write(json.dumps({"found": found, "reached": reached}))
    sys.stdout.flush()
    os._exit(0)  # and with it all processes of its namespace


def _ask(path: str, link: str) -> dict[str, str]:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(json.dumps({"link": link, "starts": True}).encode() + b"\n")
        answer: dict[str, str] = json.loads(client.makefile("rb").readline())
        return answer


if __name__ == "__main__":
    main(sys.argv[1])

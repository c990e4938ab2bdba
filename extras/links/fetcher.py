"""The process that fetches links: python -m extras.links.fetcher <descriptor> <User-Agent>

It listens at a Unix socket that the launcher has opened, and answers at once from what it keeps. A child fetches
and reads each link that is not known, and says what it found through a pipe. Whatever a page does to the child, it
ends after some seconds, and knows no other page.
"""

import json
import os
import selectors
import signal
import socket
import sys
import time
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from extras.links import fence, reading
from extras.links.fetching import MOST_REQUESTS, PageFetch, host_in, known
from extras.links.reading import MOST_ADDRESS
from outgoing.fetching import SECONDS, NotFetched, World

DAY = 86400.0
KEPT_SECONDS = {True: DAY, False: 600.0}  # how long an answer is kept, by whether there was a page

MOST_KEPT, MOST_ROBOTS, MOST_HOSTS = 1_000, 200, 1_000
MOST_CHILDREN = 4
MOST_WAITING = 20
PER_HOST, HOST_SECONDS = 20, 60.0  # fetches that ask one host, in a time
_MOST_SENT = 400_000  # bytes that a child may say

_FIELDS = (*reading.Page._fields, "problem")

_REQUEST_BYTES = 16_384
_CLIENT_SECONDS = 0.1


class _Child(NamedTuple):
    pid: int
    pipe: int
    end: float
    said: bytearray


class Fetcher:
    """What is kept, what is being fetched, and what waits for its turn. One thread, one process."""

    def __init__(
        self, listener: socket.socket, user_agent: str, world: World, *, seconds: float = SECONDS
    ) -> None:
        self._listener, self._user_agent, self._world = listener, user_agent, world
        self._seconds = seconds
        self._kept = OrderedDict[str, tuple[float, dict[str, Any]]]()
        self._robots = OrderedDict[str, tuple[float, str]]()
        self._asked = OrderedDict[str, deque[float]]()
        self._children = dict[str, _Child]()
        self._waiting = deque[str]()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> NoReturn:
        """Answer until the process ends."""
        while True:
            ends = [child.end - time.monotonic() for child in self._children.values()]
            for key, _event in self._selector.select(max(0.0, min([*ends, 1.0]))):
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._hear(str(key.data))
            for link, child in list(self._children.items()):
                if time.monotonic() >= child.end:
                    self._finish(link, {"problem": "slow"})
            while self._waiting and len(self._children) < MOST_CHILDREN:
                self._begin(self._waiting.popleft())

    def _accept(self) -> None:
        with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
            client, _address = self._listener.accept()
            with client:
                client.settimeout(_CLIENT_SECONDS)
                asked = json.loads(client.makefile("rb").readline(_REQUEST_BYTES))
                answer = self.answer(str(asked["link"]), starts=bool(asked["starts"]))
                client.sendall(json.dumps(answer).encode() + b"\n")

    def answer(self, link: str, *, starts: bool) -> dict[str, Any]:
        """Return what is known of a link; `starts` the fetch of one that is not."""
        at, kept = self._kept.get(link, (0.0, {}))
        if kept and time.monotonic() < at + KEPT_SECONDS["problem" not in kept]:
            return kept
        if link in self._children or link in self._waiting:
            return {"state": "fetching"}
        if not starts:
            return {"state": "unknown"}
        if host_in(link) in self._busy_hosts():
            return {"state": "failed", "problem": "host-busy"}
        if len(self._waiting) >= MOST_WAITING:
            return {"state": "failed", "problem": "busy"}
        self._waiting.append(link)
        return {"state": "fetching"}

    def _busy_hosts(self) -> set[str]:
        now = time.monotonic()
        for host, times in list(self._asked.items()):
            while times and times[0] <= now - HOST_SECONDS:
                times.popleft()
            if not times:
                del self._asked[host]
        return {host for host, times in self._asked.items() if len(times) >= PER_HOST}

    def _begin(self, link: str) -> None:
        """Start the child that fetches a link."""
        self._note_host(host_in(link))
        reading_end, writing_end = os.pipe()
        busy = self._busy_hosts() - {host_in(link)}
        pid = os.fork()
        if not pid:
            self._be_child(link, busy, writing_end)
        os.close(writing_end)
        os.set_blocking(reading_end, False)
        self._children[link] = _Child(pid, reading_end, time.monotonic() + self._seconds, bytearray())
        self._selector.register(reading_end, selectors.EVENT_READ, link)

    def _be_child(self, link: str, busy: set[str], pipe: int) -> NoReturn:
        """Fetch, say what was found, and end. Nothing of the parent is left to be found but rules of robots."""
        try:
            robots = {origin: rules for origin, (at, rules) in self._robots.items() if time.monotonic() < at + DAY}
            for kept in (self._kept, self._waiting, self._children, self._robots, self._asked):
                kept.clear()
            os.dup2(pipe, 1)
            os.dup2(0, 2)
            os.closerange(3, 256)
            signal.setitimer(signal.ITIMER_REAL, self._seconds + 1)  # ends it if its parent is gone
            fence.limit_resources()
            fence.give_up_calls()
            rules, seconds = robots.copy(), self._seconds
            fetch = PageFetch(self._world, self._user_agent, robots=rules, busy=busy, seconds=seconds)
            said = json.dumps(_said(fetch, link, robots)).encode()
            while said:
                said = said[os.write(1, said) :]
        finally:
            os._exit(0)

    def _hear(self, link: str) -> None:
        """Read what a child says; it has said all when it closes the pipe."""
        child = self._children[link]
        part = os.read(child.pipe, 65_536)
        child.said.extend(part)
        if not part or len(child.said) > _MOST_SENT:
            self._finish(link, self._taken(child) if not part else {"problem": "broken"})

    def _taken(self, child: _Child) -> dict[str, Any]:
        """Return the answer in what a child said, after taking the hosts and the rules. It may be anything."""
        try:
            said = json.loads(child.said)
            for host in said["hosts"][1:MOST_REQUESTS]:
                self._note_host(str(host)[:MOST_ADDRESS])
            for origin, rules in list(known(said["robots"]).items())[:MOST_REQUESTS]:
                self._robots[origin[:MOST_ADDRESS]] = (time.monotonic(), str(rules))
                if len(self._robots) > MOST_ROBOTS:
                    self._robots.popitem(last=False)
            answer = said["answer"]
            return {name: str(answer[name])[:MOST_ADDRESS] for name in _FIELDS if name in answer}
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return {"problem": "broken"}

    def _note_host(self, host: str) -> None:
        self._asked.setdefault(host, deque()).append(time.monotonic())
        if len(self._asked) > MOST_HOSTS:
            self._asked.popitem(last=False)

    def _finish(self, link: str, answer: dict[str, Any]) -> None:
        """Keep the answer, and end the child."""
        child = self._children.pop(link)
        self._selector.unregister(child.pipe)
        os.close(child.pipe)
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
        state = "failed" if "problem" in answer else "found"
        self._kept.pop(link, None)
        self._kept[link] = (time.monotonic(), {"state": state} | answer)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def _said(fetch: PageFetch, link: str, robots: dict[str, str]) -> dict[str, Any]:
    """Fetch, and return what the child says: the answer, the hosts that were asked, and new rules of robots."""
    try:
        page, address = fetch.get(link)
        answer: dict[str, str] = reading.read(page.body, page.headers["Content-Type"] or "", address)._asdict()
    except NotFetched as reason:
        answer = {"problem": str(reason)}
    except Exception:
        answer = {"problem": "broken"}
    new = {origin: rules for origin, rules in known(fetch.robots).items() if origin not in robots}
    return {"answer": answer, "hosts": list(fetch.hosts), "robots": new}


def main(descriptor: str, user_agent: str, world: World | None = None, seconds: float = SECONDS) -> NoReturn:
    """Serve at a listening socket."""
    listener = socket.socket(fileno=int(descriptor))
    os.environ.clear()
    world = world or World()
    reading.warm_up()
    "a".encode("idna")
    if not fence.give_up_files():
        sys.stderr.write("links: this kernel has no Landlock: what fetches could read files of the site\n")
    Fetcher(listener, user_agent, world, seconds=seconds).serve()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

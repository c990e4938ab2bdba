"""The fetching process: fenced, bounded, never waiting, whatever happens to its children."""

import json
import platform
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from extras.links import asking
from extras.links.fetcher import MOST_CHILDREN, MOST_WAITING, PER_HOST
from tests.source import ROOT
from tests.waiting import until

pytestmark = pytest.mark.deep

needs_fence = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="the fence is Linux's"
)


def test_the_program_knows_neither_django_nor_the_store():
    code = "import sys, extras.links.fetcher as _; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert {"outgoing", "protego"} <= set(loaded.stdout.split())
    assert {"accounts", "articles", "django", "redis", "voting_site"}.isdisjoint(loaded.stdout.split())


class Running:
    """The process, at a socket."""

    def __init__(self, listener, process):
        self.listener, self.process = listener, process

    def ask(self, link, *, starts=True):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(self.listener.getsockname())
            client.sendall(json.dumps({"link": link, "starts": starts}).encode() + b"\n")
            return json.loads(client.makefile("rb").readline())

    def answer(self, link):
        """Return the answer that is kept at last."""
        found = {}

        def is_done():
            found.update(self.ask(link))
            return found["state"] != "fetching"

        until(is_done)
        return found


@contextmanager
def running(folder, seconds="20", program=("extras.links.tests.program",)):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen(64)
        command = [sys.executable, "-m", program[0], str(listener.fileno()), *(program[1:] or (seconds,))]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={"SECRET_KEY": "of the site"},
            stdin=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
        try:
            yield Running(listener, process)
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def fetcher(tmp_path_factory):
    with running(tmp_path_factory.mktemp("fetcher")) as process:
        yield process


def test_a_page_is_fetched_once_and_kept(fetcher):
    link = "http://a.example/kept"

    assert fetcher.ask(link, starts=False) == {"state": "unknown"}
    assert fetcher.ask(link) == {"state": "fetching"}
    assert fetcher.answer(link)["title"] == "Page of a.example"
    assert fetcher.ask(link, starts=False)["state"] == "found"


@needs_fence
def test_what_fetches_can_do_nothing_else(fetcher):
    if not _has_landlock():
        pytest.skip("this kernel has no Landlock of version 6")

    assert fetcher.answer("http://fenced.example/")["title"] == "nothing"


def _has_landlock() -> bool:
    import ctypes

    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1)) >= 6


@pytest.mark.parametrize("host", ["dies.example", "lies.example"])
def test_a_child_that_dies_or_lies_costs_one_answer(fetcher, host):
    assert fetcher.answer(f"http://{host}/") == {"state": "failed", "problem": "broken"}
    assert fetcher.answer(f"http://b.example/{host}")["title"] == "Page of b.example"


def test_what_a_child_says_is_cut_to_what_is_kept(fetcher):
    answer = fetcher.answer("http://boasts.example/")

    assert len(json.dumps(answer)) < 5_000
    assert set(answer) == {"state", "title"}


def test_a_host_is_asked_some_times_a_minute(fetcher):
    links = [f"http://often.example/{number}" for number in range(PER_HOST + 1)]

    states = [fetcher.answer(link).get("problem") for link in links]

    assert states == [None] * PER_HOST + ["host-busy"]
    assert fetcher.answer("http://seldom.example/")["state"] == "found"


def test_rubbish_at_the_socket_is_dropped(fetcher):
    for rubbish in (b"\n", b"{}\n", b"[" * 20_000 + b"\n", b'{"link": {}}\n', b"\xff\n"):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(fetcher.listener.getsockname())
            client.sendall(rubbish)
            with suppress(ConnectionError):
                assert client.recv(10) == b""
    assert fetcher.process.poll() is None


def test_slow_servers_and_slow_names_end_in_time_and_others_wait_for_their_turn(tmp_path):
    with running(tmp_path, seconds="1") as fetcher:
        slow = ["http://says-nothing.example/", "http://resolves-slowly.example/"]
        others = [f"http://resolves-slowly-{number}.example/" for number in range(MOST_CHILDREN + MOST_WAITING)]

        for link in [*slow, *others[2:]]:
            assert fetcher.ask(link) == {"state": "fetching"}
        # What began is no longer waiting: fill the queue before the first of them ends.
        problems = [
            fetcher.ask(f"http://late-{number}.example/").get("problem") for number in range(MOST_CHILDREN + 1)
        ]

        assert "busy" in problems
        assert [fetcher.answer(link)["problem"] for link in slow] == ["slow", "slow"]


@needs_fence
def test_a_child_does_not_outlive_its_time_when_the_process_is_killed(tmp_path):
    with running(tmp_path, seconds="1") as fetcher:
        children = Path(f"/proc/{fetcher.process.pid}/task/{fetcher.process.pid}/children")
        fetcher.ask("http://resolves-slowly.example/")
        until(lambda: children.read_text().split())
        (child,) = children.read_text().split()

    until(
        lambda: not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_bytes(), 30
    )


def test_the_program_of_the_site_fetches_nothing_without_a_network_and_lives(tmp_path):
    with running(tmp_path, program=("extras.links.fetcher", "agent/1")) as fetcher:
        answer = fetcher.answer("http://no-such-host.invalid/")

        assert answer["problem"] in ("unreachable", "slow")
        assert fetcher.process.poll() is None


def test_a_worker_does_not_wait_for_a_process_that_is_stopped(tmp_path, monkeypatch):
    with running(tmp_path) as fetcher:
        monkeypatch.setenv(asking.SOCKET_VARIABLE, fetcher.listener.getsockname())
        fetcher.answer("http://a.example/")
        fetcher.process.send_signal(signal.SIGSTOP)

        assert asking._ask("http://b.example/", starts=True) == {}

        fetcher.process.send_signal(signal.SIGCONT)
        assert fetcher.answer("http://a.example/")["state"] == "found"

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest
import redis

from tests.waiting import until
from voting_site.embedded import EmbeddedStoreError, StorePaths, open_store, stamp
from voting_site.embedded.binary import ServerVersion, find_binary, read_version
from voting_site.embedded.lock import Lock
from voting_site.embedded.server import Server

from .helpers import ROOT, answers, client, fill, is_alive, server_pid, site


def test_stop_ends_the_server_and_releases_the_lock(paths: StorePaths, supervise):
    supervisor = supervise()
    pid = server_pid(paths)
    assert supervisor.owns

    supervisor.stop()

    assert not is_alive(pid)
    assert not paths.socket.exists()
    assert not supervisor.owns


def test_a_killed_server_restarts_within_three_seconds_with_every_acknowledged_write(paths: StorePaths, supervise):
    supervise()
    acknowledged: list[str] = []
    enough = Event()

    def write():
        number = 0
        with client(paths) as connection:
            while not enough.wait(0.001):
                number += 1
                try:
                    connection.set(f"key:{number}", "value")
                except redis.RedisError:
                    continue
                acknowledged.append(f"key:{number}")

    def reached(goal: int) -> bool:
        return len(acknowledged) >= goal

    def is_another(pid: int) -> bool:
        try:
            return server_pid(paths) != pid
        except redis.RedisError:
            return False

    writer = Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            until(partial(reached, len(acknowledged) + 50))
            pid = server_pid(paths)
            os.kill(pid, signal.SIGKILL)
            until(partial(is_another, pid), 3)
    finally:
        enough.set()
        writer.join()

    with client(paths) as connection:
        assert len(acknowledged) > 150
        assert connection.exists(*acknowledged) == len(acknowledged)


def test_a_second_supervisor_attaches_to_the_store_and_takes_over(paths: StorePaths, supervise):
    first, second = supervise(), supervise()
    fill(paths, 10)
    pid = server_pid(paths)
    assert (first.owns, second.owns) == (True, False)

    first.stop()
    until(lambda: second.owns and answers(paths), 3)

    assert server_pid(paths) != pid
    with client(paths) as connection:
        assert connection.dbsize() == 10


def test_stopping_an_attached_supervisor_does_not_stop_the_server(paths: StorePaths, supervise):
    supervise()
    second = supervise()
    pid = server_pid(paths)

    second.stop()

    assert server_pid(paths) == pid


@pytest.mark.deep
def test_exactly_one_of_many_concurrent_processes_owns_the_store(paths: StorePaths):
    with ExitStack() as stack:
        sites = [stack.enter_context(site(paths.data_dir)) for _ in range(4)]
        roles = [process.stdout.readline().strip() for process in sites]

        assert sorted(roles) == ["attached", "attached", "attached", "owns"]


def test_an_unresponsive_owner_is_reported(paths: StorePaths, supervise):
    paths.prepare()
    lock = Lock(paths.lock)
    lock.acquire()
    supervisor = supervise(start=False)

    with pytest.raises(EmbeddedStoreError, match="the process that owns it did not answer"):
        supervisor.start(0.2)

    lock.release()
    supervisor.start(60)
    assert supervisor.owns


@pytest.mark.skipif(sys.platform != "linux", reason="a server ends with its supervisor on Linux only")
def test_a_server_ends_with_its_killed_supervisor(paths: StorePaths, supervise):
    with site(paths.data_dir) as process:
        assert process.stdout.readline() == "owns\n"
        pid = server_pid(paths)
        process.kill()
        process.wait()
        until(lambda: not is_alive(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="a server ends with its supervisor on Linux only")
def test_a_stopped_server_ends_with_its_killed_supervisor(paths: StorePaths, supervise):
    with site(paths.data_dir) as process:
        assert process.stdout.readline() == "owns\n"
        pid = server_pid(paths)
        os.kill(pid, signal.SIGSTOP)  # it can handle no signal
        try:
            process.kill()
            process.wait()
            until(lambda: not is_alive(pid))
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    supervise()
    assert answers(paths)


def test_the_lock_is_held_while_the_server_runs_without_a_supervisor(paths: StorePaths, supervise):
    paths.prepare()
    first = Lock(paths.lock)
    assert first.acquire()
    server = Server(paths, find_binary(), first, {})
    try:
        assert server.wait_until_ready(Event())
        os.close(first.fileno())  # as if the supervisor were dead

        assert not Lock(paths.lock).acquire()
    finally:
        server.stop(10)
    supervise()
    assert answers(paths)


def test_a_process_that_forgets_to_stop_leaves_no_server(paths: StorePaths):
    code = (
        "import sys; from pathlib import Path; from voting_site.embedded import *\n"
        "Supervisor(StorePaths(Path(sys.argv[1]))).start(60)"
    )
    subprocess.run([sys.executable, "-c", code, paths.data_dir], cwd=ROOT, check=True, timeout=60)

    assert "ready to exit" in paths.log.read_text()
    assert not paths.socket.exists()


@pytest.mark.deep
def test_a_failed_restart_is_retried(paths: StorePaths, supervise, caplog):
    supervise()
    fill(paths, 10)
    stamp.write(paths.stamp, ServerVersion("Valkey", (99,)))
    os.kill(server_pid(paths), signal.SIGKILL)
    until(lambda: "could not be restarted: The store in" in caplog.text)

    stamp.write(paths.stamp, read_version(find_binary()))

    until(lambda: answers(paths))
    with client(paths) as connection:
        assert connection.dbsize() == 10


def test_open_store_works_with_and_without_the_site(tmp_path: Path):
    paths = StorePaths(tmp_path)
    with open_store(tmp_path) as url:
        assert url == paths.url(0)
        fill(paths, 10)
    assert not answers(paths)

    with open_store(tmp_path), open_store(tmp_path) as url, client(paths) as connection:
        assert connection.dbsize() == 10

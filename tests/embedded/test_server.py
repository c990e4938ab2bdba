import logging
import os
import re
import signal
import socket
import stat
from pathlib import Path

import pytest
import redis

from tests.waiting import until
from voting_site.embedded import EmbeddedStoreError, StorePaths, server as server_log

from .helpers import answers, client, fill, is_alive, mode, rewrite, server_pid


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "0"), ("tls-port", "0"), ("appendonly", "yes"), ("appendfsync", "always"),
        ("aof-use-rdb-preamble", "yes"), ("aof-load-truncated", "yes"), ("save", ""),
        ("maxmemory-policy", "noeviction"), ("set-max-intset-entries", "16384"),
        ("hash-max-listpack-value", "2048"), ("unixsocketperm", "700"), ("enable-debug-command", "no"),
        ("enable-module-command", "no"), ("enable-protected-configs", "no"), ("daemonize", "no"), ("hz", "2"),
    ],
)  # fmt: skip
def test_the_server_runs_with(current_settings: dict[str, str], name: str, value: str):
    assert current_settings[name] == value


@pytest.fixture(scope="module")
def current_settings(tmp_path_factory: pytest.TempPathFactory):
    from voting_site.embedded import open_store

    paths = StorePaths(tmp_path_factory.mktemp("settings"))
    with open_store(paths.data_dir), client(paths) as connection:
        return connection.config_get("*")


@pytest.mark.skipif(
    not any(Path("/usr/lib").glob("*-linux-gnu/libjemalloc.so.2")), reason="libjemalloc2 is not installed"
)
@pytest.mark.parametrize(("chosen", "is_used"), [(None, True), ("", False)])
def test_the_server_allocates_with_jemalloc_where_it_is_installed(paths, supervise, monkeypatch, chosen, is_used):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    if chosen is not None:
        monkeypatch.setenv("LD_PRELOAD", chosen)
    supervise()

    assert ("jemalloc" in Path(f"/proc/{server_pid(paths)}/maps").read_text()) == is_used


def test_a_full_server_refuses_writes_and_keeps_its_data(paths: StorePaths, supervise):
    supervise(config={"maxmemory": "3mb"})
    with client(paths) as connection:
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            fill(paths, 100_000, size=10_000)

        assert connection.dbsize() > 100
        assert connection.info("stats")["evicted_keys"] == 0


def test_only_the_user_of_the_server_can_access_the_socket(paths: StorePaths, supervise):
    supervise()

    assert stat.S_ISSOCK(paths.socket.stat().st_mode)
    assert mode(paths.socket) == 0o700
    assert mode(paths.directory) == 0o700
    assert mode(paths.log) == 0o600


def test_an_interrupt_from_the_terminal_does_not_reach_the_server(paths: StorePaths, supervise):
    supervise()

    assert os.getsid(server_pid(paths)) != os.getsid(0)


def test_a_log_has_a_bound_while_the_server_runs(paths: StorePaths, supervise, monkeypatch):
    supervise()
    monkeypatch.setattr(server_log, "_ROTATE_BYTES", 100_000)
    former = paths.data_dir / "store.log.1"
    for number in range(3):  # as the server does: another process appends
        with paths.log.open("ab", buffering=0) as log:
            log.write(f"{number} Error accepting\n".encode() * 10_000)
        until(lambda: paths.log.stat().st_size < 100_000)
        assert former.read_text().endswith(f"{number} Error accepting\n")

    assert mode(former) == 0o600
    assert answers(paths)


def test_a_stale_socket_and_lock_do_not_prevent_a_start(paths: StorePaths, supervise):
    paths.prepare()
    paths.lock.write_text("12345")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(paths.socket))

    supervise()

    assert answers(paths)


def test_a_failed_start_reports_the_reason(paths: StorePaths, supervise):
    with pytest.raises(EmbeddedStoreError, match="maxmemory-policy") as refused:
        supervise(config={"maxmemory-policy": "nonsense"})

    assert str(paths.log) in str(refused.value)
    assert not paths.socket.exists()


def test_a_server_that_does_not_stop_is_killed(paths: StorePaths, supervise, monkeypatch):
    monkeypatch.setattr("voting_site.embedded.supervisor.STOP_TIMEOUT", 0.2)
    supervisor = supervise()
    pid = server_pid(paths)
    os.kill(pid, signal.SIGSTOP)

    supervisor.stop()

    assert not is_alive(pid)
    assert not paths.socket.exists()


@pytest.mark.deep
def test_a_start_reports_and_awaits_a_slow_load(paths: StorePaths, supervise, caplog):
    caplog.set_level(logging.INFO, "voting_site.embedded")
    supervisor = supervise(config={"rdbcompression": "no"})
    fill(paths, 230, size=500)
    rewrite(paths)
    supervisor.stop()

    supervise(config={"key-load-delay": "5000", "loading-process-events-interval-bytes": "2048"})

    assert re.search(r"the store is loading: [1-9]\d % read", caplog.text)
    with client(paths) as connection:
        assert connection.dbsize() == 230

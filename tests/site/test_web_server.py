"""The web server's processes: what dies comes back, what stops finishes its requests."""

import http.client
import os
import signal
import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.figures import value_in
from tests.site_process import DEADLINE, free_port
from tests.waiting import until
from tests.web_processes import (
    answers,
    children_of_server,
    counted,
    folder_of_metrics,
    parents,
    server_of,
    store_of,
    workers_of,
)


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_dead_web_server_is_replaced_and_the_rest_of_the_site_stays(start, number):
    site = start(is_empty=True)
    site.wait_until_up()
    store = store_of(site)
    for _ in range(3):  # the wait must not grow: every run has served
        server, old = server_of(site), workers_of(site)
        os.kill(server, number)
        until(lambda dead=server: dead not in parents(site), DEADLINE, site.told)

        seconds = until(lambda: answers(site), DEADLINE, site.told)

        assert seconds < 10, "two on a machine that does nothing else"
        until(lambda gone=old: not gone & set(parents(site)), DEADLINE, site.told)
    assert store_of(site) == store
    assert site.process.poll() is None
    assert (
        f"the web server ended with status {-number if number == signal.SIGKILL else 0} and is restarted"
        in site.told()
    )
    assert site.stop() == 0
    assert not site.processes()


def is_asleep(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def test_the_site_is_served_once_it_is_prepared_and_a_stop_ends_the_preparation(start):
    site = start()
    until(lambda: len(parents(site)) == 2, DEADLINE, site.told)
    server = server_of(site)
    (preparing,) = children_of_server(site)
    os.kill(preparing, signal.SIGSTOP)

    until(lambda: all(is_asleep(server) for _ in range(1000)), DEADLINE, site.told)

    assert children_of_server(site) == {preparing}
    with pytest.raises(OSError, match="refused"):
        site.get("/healthz")
    site.process.terminate()
    os.kill(preparing, signal.SIGCONT)
    assert site.process.wait(DEADLINE) == 0
    assert not site.processes()


def test_connections_wait_while_the_web_server_restarts(start):
    site = start(is_empty=True)
    site.wait_until_up()
    for pid in (server_of(site), *workers_of(site)):
        os.kill(pid, signal.SIGKILL)

    for _ in range(5):
        assert site.get("/healthz")[0] == 200, "none is refused"
    assert site.stop() == 0


def test_a_reload_replaces_every_process_loses_no_request_and_keeps_the_counts(start):
    site = start(is_empty=True)
    site.wait_until_up()
    assert site.get("/")[0] == 200
    before = set(parents(site))

    site.process.send_signal(signal.SIGHUP)

    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)) as link:

        def is_replaced():
            link.request("GET", "/healthz")  # by the same connection, as long as it is not told to close it
            assert link.getresponse().read() == b"alive\n"
            return not before & set(parents(site))

        until(is_replaced, DEADLINE, site.told)
    labels = {"view": "articles:front", "method": "GET", "status": "200"}
    until(lambda: value_in(site.get("/metrics")[1], "site_requests_total", **labels) == 1, DEADLINE, site.told)
    assert len(counted(site)) <= 2 * len(before)
    assert "Traceback" not in site.told()
    assert site.stop() == 0


def test_the_web_server_ends_with_the_launcher(start):
    site = start(is_empty=True)
    site.wait_until_up()

    folder = folder_of_metrics(site)
    assert folder.stat().st_mode & 0o777 == 0o700
    site.process.kill()
    site.process.wait()

    until(lambda: not site.processes(), DEADLINE, site.told)
    assert not folder.exists()


def test_slow_connections_do_not_delay_the_stop(start):
    site = start(is_empty=True)
    site.wait_until_up()
    slow = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(50)]
    for number, link in enumerate(slow):
        link.sendall(
            (b"", b"GET / HTTP/1.1\r\n", b"POST /login/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nx")[number % 3]
        )

    assert site.stop() == 0

    assert not site.processes()
    for link in slow:
        link.close()


def test_a_request_that_is_being_answered_is_finished_at_a_stop(start):
    site = start(is_empty=True)
    site.wait_until_up()
    link = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    link.putrequest("POST", "/api/views")
    link.putheader("Content-Type", "application/json")
    link.putheader("Content-Length", "16")
    link.endheaders(b'{"articleId"')
    until(lambda: site.get("/healthz")[0] == 200)
    site.process.send_signal(signal.SIGTERM)
    until(lambda: not listening(site.port), DEADLINE, site.told)

    link.send(b": 1}")

    with closing(link):
        assert link.getresponse().status == 404, "there is no such article"
    assert site.process.wait(60) == 0


def listening(port):
    """Return whether a new connection is answered within a moment."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.2) as link:
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return bool(link.recv(10))
    except OSError:
        return False


def test_the_site_listens_on_ipv6(start):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    port = free_port()
    site = start(is_empty=True, HOST="::1", PORT=str(port))
    site.wait_until_up()

    with closing(http.client.HTTPConnection("::1", port, timeout=60)) as link:
        link.request("GET", "/metrics")

        assert link.getresponse().status == 200, "the peer is known to be this machine"
    assert site.stop() == 0

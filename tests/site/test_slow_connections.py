"""Slow connections hold no thread, and are cut."""

import re
import sys
from collections import Counter

import pytest

from tests import slow_clients

PATIENCE = 3.0  # seconds, instead of twenty
OF_EACH = 100

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="slow readers are cut on Linux only")


@pytest.fixture(scope="module")
def site(module_start):
    """A site with articles, for all tests here."""
    site = module_start(WEB_PATIENCE_SECONDS=str(PATIENCE), WEB_THREADS="1")
    site.wait_until_up()
    return site


def large_path(site):
    return re.search(r'href="(/static/css/site\.[0-9a-f]+\.css)"', site.get("/")[1])[1].encode()


def test_slow_connections_delay_no_one_and_are_cut(site):
    clients, reader = slow_clients.hold(site.port, OF_EACH, large_path(site), seconds=20 * PATIENCE)

    assert reader.failures == 0, site.told()
    assert Counter(client.kind for client in clients if client.cut_after is None) == {}
    assert "Traceback" not in site.told()


def test_a_large_body_that_keeps_coming_is_not_cut(site):
    """A form may take longer than the patience for an empty one, if it is long and keeps coming."""
    behaviour = slow_clients.Kind(
        b"POST /api/views HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 300018\r\n\r\n" + b'{"articleId": 1  ',
        again=b" " * 100_000,
    )
    client = slow_clients.connect(site.port, "large", behaviour)
    client.link.setblocking(True)

    for _ in range(3):
        client.link.sendall(behaviour.again)
    client.link.sendall(b"}")

    assert client.link.recv(4096).startswith(b"HTTP/1.1 200")
    client.link.close()


def test_a_long_answer_arrives_while_its_reader_takes_it(site):
    """A reader who takes more than the lowest rate is served to the end, however long that takes."""
    path = large_path(site)
    expected = len(site.get(path.decode())[1].encode())
    behaviour = slow_clients.kinds(path)["slow reader"]
    client = slow_clients.connect(site.port, "slow but steady", behaviour)
    client.link.settimeout(60)
    received = 0

    while received < slow_clients.PIPELINED * expected:
        part = client.link.recv(65536)
        assert part, "cut"
        received += len(part)

    client.link.close()

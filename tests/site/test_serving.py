"""The whole site as its operator starts it: processes, ports, signals."""

import re
import signal

import pytest

from tests.site_process import Site, free_port


@pytest.mark.journey
def test_one_command_serves_a_populated_site_and_stops_cleanly(start):
    site = start()
    site.wait_until_up()

    status, page = site.get("/")
    style = re.search(r'href="(/static/css/site\.[0-9a-f]+\.css)"', page)[1]

    assert status == 200
    assert page.count('id="article-') == 25
    assert site.get(style)[0] == 200
    assert site.get("/readyz") == (200, "ready\n")
    told = site.told()
    for part in (f"http://localhost:{site.port}/", str(site.data_dir), "make admin"):
        assert part in told
    assert len(site.processes()) >= 2

    assert site.stop() == 0
    assert "Stopped." in site.told()
    assert not site.processes()

    again = start(PORT=str(site.port))
    again.wait_until_up()
    assert again.get("/")[1].count('id="article-') == 25
    assert again.stop(signal.SIGINT) == 0


def test_a_first_start_serves_an_empty_site(start):
    site = start(first=True)
    site.wait_until_up()

    assert "make admin" in site.get("/")[1]
    assert site.stop() == 0


def test_a_new_weight_of_a_vote_rescores_every_article(start):
    first = start()
    first.wait_until_up()
    before = re.findall(r'id="article-(\d+)"', first.get("/")[1])
    first.stop()

    second = start(VOTES_PER_DAY="5")
    second.wait_until_up()

    assert re.findall(r'id="article-(\d+)"', second.get("/")[1]) != before
    second.stop()
    audit = second.manage("audit")
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_a_second_site_on_one_data_directory_shares_its_store(start):
    first, second = start(), None
    first.wait_until_up()
    second = Site(first.data_dir, PORT=str(free_port()))
    try:
        second.wait_until_up()
        assert second.get("/")[1].count('id="article-') == 25
    finally:
        assert second.stop() == 0
    assert first.get("/readyz")[0] == 200
    assert first.stop() == 0

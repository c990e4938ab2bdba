"""A site that moves to another store, and back, while members vote."""

import re
import threading
import urllib.error
from contextlib import contextmanager

import pytest

from tests.form_browser import FormBrowser
from tests.rules import connect
from tests.site.own_store import OwnStore
from tests.store_state import client_of
from tests.waiting import until

SENTENCE = "This site is about to move to another server."


@pytest.fixture
def other_store(tmp_path):
    """A server that is not the site's."""
    folder = tmp_path / "other"
    folder.mkdir()
    store = OwnStore(folder)
    yield store
    store.stop()


@pytest.fixture
def site(start):
    """A site on its embedded store."""
    site = start(WEB_WORKERS="1", RATE_LIMITS="off", STORE_TIMEOUT_MS="5000")
    site.wait_until_up()
    return site


@pytest.fixture
def alice(site):
    browser = FormBrowser(site)
    browser.sign_up("alice-2")
    return browser


@contextmanager
def voting(browser, ids):
    """Let a member vote without pause; yield the status of each refusal, and how long it asks to wait, in s."""
    ended, waits = threading.Event(), []

    def vote():
        while not ended.is_set():
            for number in ids:
                try:
                    browser.send("/settings/", f"/articles/{number}/vote/", choice="vote", next="/")
                except urllib.error.HTTPError as refusal:
                    waits.append((refusal.code, int(refusal.headers["Retry-After"])))

    thread = threading.Thread(target=vote)
    thread.start()
    yield waits
    ended.set()
    thread.join(60)


def vote(browser, number):
    """Vote for an article as soon as the process that serves the member has followed the move."""

    def is_taken():
        try:
            return browser.send("/settings/", f"/articles/{number}/vote/", choice="vote", next="/")
        except urllib.error.HTTPError:  # 503
            return False

    until(is_taken)


def voted(browser):
    return sorted(map(int, re.findall(r'id="article-(\d+)"', browser.get("/mine/voted/"))))


def move(site, *options):
    moved = site.manage("move_store", *options)
    assert moved.returncode == 0, moved.stdout + moved.stderr
    return moved.stdout


@pytest.mark.long
def test_a_site_moves_under_votes_returns_and_moves_for_good(site, alice, other_store):
    ids = [int(number) for number in re.findall(r'id="article-(\d+)"', alice.get("/newest/"))[:6]]
    url = other_store.url

    with voting(alice, ids[:3]) as waits:
        told = move(site, url, "--shards", "4", "--notice", "0")
    assert "The audit found nothing." in told
    assert all(status == 503 and seconds > 0 for status, seconds in waits), "a refusal says when to try again"

    vote(alice, ids[3])
    assert connect(url, shards=4).articles.get(ids[3]).votes
    assert voted(alice) == sorted(ids[:4])
    assert SENTENCE not in alice.get("/newest/"), "it has moved"
    assert site.manage("audit").returncode == 0

    assert "back in the former store" in move(site, "--undo")
    vote(alice, ids[4])
    until(lambda: voted(alice) == sorted(ids[:5]))

    refused = site.manage("move_store", url, "--shards", "2", "--notice", "0")
    assert "keys" in refused.stderr, "the other store is not empty"
    client_of(url).flushdb()
    move(site, url, "--shards", "2", "--notice", "0")
    assert "The move is confirmed." in move(site, "--confirm")
    until(lambda: voted(alice) == sorted(ids[:5]))


def test_a_banner_announces_the_move(site, alice, other_store):
    ended = threading.Event()
    seen = []

    def read():
        while not ended.is_set() and not seen:
            if SENTENCE in alice.get("/newest/"):
                seen.append(True)

    reader = threading.Thread(target=read)
    reader.start()
    told = move(site, other_store.url, "--shards", "4", "--notice", "5")
    ended.set()
    reader.join(60)

    assert seen
    seconds = float(re.search(r"refused for ([0-9.]+) s", told)[1])
    assert seconds < 20


@pytest.mark.long
def test_a_move_to_nowhere_changes_nothing(site, alice):
    for url in ("", "http://example.org", "redis://127.0.0.1:1/0"):
        failed = site.manage("move_store", *([url] if url else []), "--notice", "0")
        assert failed.returncode != 0
        assert "Traceback" not in failed.stderr
    assert "No move was interrupted." in move(site, "--cancel")

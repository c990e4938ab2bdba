"""What pages show and where they read while the site moves to another store."""

import pytest

from articles import wiring
from articles.domain.articles import Choice
from articles.repository import Place
from tests.internals import end_move, forgotten_moves, let_move, refuse_changes
from tests.rules import connect
from tests.store_state import client_of
from tests.topologies import of_this_run

SENTENCE = b"This site is about to move to another server."


@pytest.fixture(autouse=True)
def watching():
    """Look for a move at every use of the store."""
    with forgotten_moves():
        yield
    wiring.forget_repositories()


@pytest.fixture
def other_url(store_paths):
    """The URL of an empty store."""
    url = store_paths.url(of_this_run.OTHER_DATABASE)
    client_of(url).flushdb()
    yield url
    client_of(url).flushdb()


@pytest.mark.parametrize(("language", "sentence"), [("en", SENTENCE), ("zh-hans", "本站即将迁移".encode())])
def test_pages_announce_that_votes_will_be_refused(site_store, article, client, language, sentence):
    assert sentence not in client.get("/newest/", headers={"accept-language": language}).content
    let_move(site_store)

    client.get("/about/")
    page = client.get("/newest/", headers={"accept-language": language})

    assert sentence in page.content


def test_a_process_follows_the_site_to_the_other_store(site_store, article, alice, client, other_url, settings):
    client.force_login(alice)
    other = connect(other_url, shards=4)
    move = site_store.move_to(other)
    move.copy(lambda *_: None)
    here, there = Place(settings.STORE_URL, settings.STORE_SHARDS), Place(other_url, 4)
    move.switch(here, there, lambda *_: None)

    voted = client.post(f"/articles/{article}/vote/", {"choice": "oppose", "next": "/"})

    assert voted.status_code == 302
    assert other.articles.get(article, alice.pk).choice is Choice.OPPOSE
    page = client.get(f"/articles/{article}/")
    assert page.status_code == 200
    assert SENTENCE not in page.content


def test_a_vote_in_the_last_seconds_is_refused_and_can_be_repeated(site_store, article, alice, client):
    client.force_login(alice)
    refuse_changes(site_store)

    refused = client.post(f"/articles/{article}/vote/", {"choice": "oppose", "next": "/"})
    assert refused.status_code == 503
    assert int(refused["Retry-After"]) > 0
    assert client.get("/newest/").status_code == 200

    end_move(site_store)
    assert client.post(f"/articles/{article}/vote/", {"choice": "oppose", "next": "/"}).status_code == 302

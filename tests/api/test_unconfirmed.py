"""Changes of which the site does not know whether they were made, and reads, which change nothing."""

import pytest

from articles.web import wiring
from tests.caller import error_of
from tests.factories import browser_of, post_as
from tests.routes import routes
from tests.store_state import lost_answers, problems
from tests.topologies.node import HOST
from tests.topologies.topology import OneServer
from tests.waiting import until


@pytest.fixture
def mirrored(tmp_path, settings):
    """A primary and its replica, which is to have every change; returns the replica."""
    with OneServer(tmp_path / "store") as server:
        settings.STORE_URL, settings.STORE_CONFIRM_REPLICAS = server.url, 1
        replica = server.start_node(replicaof=f"{HOST} {server.node.port}")
        until(replica.is_in_step, told=replica.log)
        yield replica


def test_an_unconfirmed_vote_can_be_repeated(mirrored, site_store, as_bob, alice, bob, settings):
    article = post_as(site_store, alice, "An article", "https://example.org/article").id
    browser, vote = browser_of(bob), {"choice": "vote"}
    settings.STORE_TIMEOUT_MS = 1000
    wiring.forget_repositories()
    with mirrored.frozen():
        for _ in range(2):
            answer = as_bob.put(f"articles/{article}/vote", vote)
            assert error_of(answer) == (503, "unconfirmed")
            assert answer["Retry-After"]
            assert "try again: nothing counts twice." in answer.json()["error"]["message"]
        page = browser.post(f"/articles/{article}/vote/", vote)
        assert page.status_code == 503
        assert page["Retry-After"]
        assert "did not confirm this in time" in page.content.decode()
        assert as_bob.get(f"articles/{article}").json()["votes"] == 2

    settings.STORE_TIMEOUT_MS = 10_000
    wiring.forget_repositories()
    until(mirrored.is_in_step)
    answer = as_bob.put(f"articles/{article}/vote", vote)
    assert (answer.status_code, answer.json()["votes"]) == (200, 2)
    assert problems(wiring.repository()) == []


@pytest.mark.hostile
def test_a_read_whose_answer_is_lost_never_speaks_of_saving(site_store, article, carol):
    """On every page, in every feed and in the API."""
    reader, asked = browser_of(carol), 0
    reader.get("/")  # the account and the texts of the site are known
    with lost_answers():
        for route in routes():
            answer = reader.get(route.path(article_id=str(article)))
            if answer.status_code == 503:
                asked += 1
                assert "not certain whether this was saved" not in answer.content.decode(), route
                assert "unconfirmed" not in answer.content.decode(), route
    assert asked > 50

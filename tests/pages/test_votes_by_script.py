"""The responses to the script that sends votes without leaving the page."""

import re

import pytest
from django.test import Client

from tests.cast import password_of
from tests.factories import actor, browser_of
from tests.pages.lists import counts


def vote(browser, article, choice, accept="application/json", **fields):
    fields = {"choice": choice, "next": "/newest/?page=1"} | fields
    return browser.post(f"/articles/{article}/vote/", fields, headers={"Accept": accept})


def test_the_response_holds_the_counts_after_the_vote(site_store, article, bob):
    browser = browser_of(bob)

    voted, opposed, taken_back = (vote(browser, article, choice).json() for choice in ("vote", "oppose", "none"))

    assert voted == {
        "id": article,
        "votes": 2,
        "opposes": 0,
        "choice": "vote",
        "points": "2",
        "unit": "points",
        "numbers": "2 for, 0 against",
        "told": "Your vote was counted: 2 points now.",
    }
    assert (opposed["points"], opposed["told"]) == ("0", "Your vote against it was counted: 0 points now.")
    assert (taken_back["points"], taken_back["unit"], taken_back["numbers"]) == ("1", "point", "1 for, 0 against")
    assert (taken_back["choice"], taken_back["told"]) == ("none", "Your vote was taken back: 1 point now.")
    assert counts(site_store, article) == (1, 0)


@pytest.mark.parametrize(
    "accept", ["*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html, application/json"]
)
def test_a_form_sent_by_a_browser_gets_a_page(site_store, article, bob, accept):
    assert vote(browser_of(bob), article, "vote", accept).status_code == 302


def test_a_removed_or_unknown_article_says_so(site_store, article, bob, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    removed, unknown = vote(browser_of(bob), article, "vote"), vote(browser_of(bob), 999, "vote")

    assert (removed.status_code, removed.json()["error"]) == (404, "This article has been removed.")
    assert (unknown.status_code, unknown.json()["error"]) == (404, "There is no such article.")
    assert counts(site_store, article) == (1, 0)


def test_a_logged_out_member_gets_a_login_address_that_counts_the_vote(site_store, article, bob):
    response = vote(Client(), article, "vote")
    assert response.status_code == 401
    assert "logged out" in response.json()["error"]

    page = Client().get(response.json()["address"]).content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    Client().post("/login/", fields | {"username": "bob", "password": password_of("bob")})
    assert counts(site_store, article) == (2, 0)


def test_the_buttons_keep_their_names_and_show_the_vote_as_their_state(site_store, article, bob):
    buttons = re.compile(r'aria-pressed="(\w+)" aria-label="([^"]*)"')
    browser = browser_of(bob)
    for choice, states in (
        ("none", ("false", "false")),
        ("vote", ("true", "false")),
        ("oppose", ("false", "true")),
    ):
        vote(browser, article, choice)
        names = ("Vote for “A title”", "Oppose “A title”")
        assert buttons.findall(browser.get("/").text) == list(zip(states, names, strict=True))

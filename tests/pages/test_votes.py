import re

import pytest
from django.test import Client

from tests.cast import password_of
from tests.factories import actor, browser_of
from tests.pages.lists import counts
from tests.store_state import let_close


def vote(browser, article, choice, back="/newest/?page=1"):
    return browser.post(f"/articles/{article}/vote/", {"choice": choice, "next": back})


def test_a_vote_counts_and_returns_to_the_row(site_store, article, bob):
    response = vote(browser_of(bob), article, "vote")

    assert (response.status_code, response.headers["Location"]) == (302, f"/newest/?page=1#article-{article}")
    assert counts(site_store, article) == (2, 0)


@pytest.mark.parametrize("choice", ["up", "", "VOTE", "vote:1"])
def test_an_unknown_choice_is_400(site_store, article, bob, choice):
    assert vote(browser_of(bob), article, choice).status_code == 400
    assert vote(Client(), article, choice).status_code == 400
    assert counts(site_store, article) == (1, 0)


def test_a_closed_article_refuses_and_says_why(site_store, article, bob):
    let_close(site_store, article)

    browser = browser_of(bob)
    response = browser.post(f"/articles/{article}/vote/", {"choice": "vote", "next": "/groups/"}, follow=True)

    assert "voting window has ended" in response.content.decode()
    assert counts(site_store, article) == (1, 0)


@pytest.mark.parametrize(("choice", "expected"), [("vote", (2, 0)), ("oppose", (1, 1))])
def test_a_click_before_the_login_counts_after_it(site_store, article, bob, choice, expected):
    browser = browser_of(strict=True)
    to_login = vote(browser, article, choice)
    assert to_login.headers["Location"].startswith("/login/?")
    assert counts(site_store, article) == (1, 0)

    page = browser.get(to_login.headers["Location"]).content.decode()
    form = page[page.index("<main") : page.index("</main")]  # the footer has forms of its own
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    fields = {name: value.replace("&amp;", "&") for name, value in fields.items()}
    response = browser.post("/login/", fields | {"username": "bob", "password": password_of("bob")})

    assert response.headers["Location"] == f"/newest/?page=1#article-{article}"
    assert counts(site_store, article) == expected


def test_the_login_does_not_name_a_removed_or_missing_article(site_store, article, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    for article_id in (article, 999):
        shown = Client().get(f"/login/?article={article_id}&choice=oppose").text
        assert "your vote against it will be counted" in shown
        assert "<br><a" not in shown


@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_no_other_site_chooses_for_a_reader_who_is_about_to_log_in(article, header):
    answer = Client().post(f"/articles/{article}/vote/", {"choice": "oppose"}, headers=header)

    assert answer.status_code == 400


def test_a_click_before_the_sign_up_counts_after_it(site_store, article):
    browser = Client()
    fields = {"next": "/", "article": str(article), "choice": "vote"}
    passwords = {"password1": "a long secret 71", "password2": "a long secret 71"}
    response = browser.post("/signup/", fields | passwords | {"username": "dora"})

    assert response.status_code == 302
    assert counts(site_store, article) == (2, 0)


def test_a_pending_vote_that_is_refused_does_not_block_the_login(site_store, article, bob):
    let_close(site_store, article)
    fields = {"next": "/groups/", "article": str(article), "choice": "vote"}

    response = Client().post("/login/", fields | {"username": "bob", "password": password_of("bob")}, follow=True)

    assert "voting window has ended" in response.content.decode()
    assert counts(site_store, article) == (1, 0)


def test_logging_in_without_a_login_intent_casts_no_vote(site_store, article, bob):
    Client().post("/login/?article=1&choice=vote", {"username": "bob", "password": password_of("bob")})

    assert counts(site_store, article) == (1, 0)

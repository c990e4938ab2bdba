"""Moderators merge articles by a form, readers see one page, and one click undoes it."""

import re

import pytest

from articles.domain.moderation_log import Action
from tests.cast import ALICE, BOB
from tests.factories import actor, browser_of, comment_on, member, post


@pytest.fixture
def story(site_store, article):
    """Another article of the same story, by bob, with a comment."""
    number = post(site_store, 2, poster=BOB)
    comment_on(site_store, number, "From the *other* one", ALICE)
    return number


def merge(browser, story, into, reason="The same story"):
    return browser.post(f"/articles/{story}/merge/", {"into": into, "reason": reason}, follow=True)


def actions(site_store):
    return [entry.action for entry in site_store.moderation_log.get_page().entries]


@pytest.mark.parametrize("named", ["{}", "/articles/{}/", "https://testserver/articles/{}/?comments=new#comments"])
def test_a_merged_article_leads_to_the_one_that_shows_its_comments(site_store, article, story, carol, named):
    browser = browser_of(carol)
    assert f"/articles/{story}/merge/" in browser.get(f"/articles/{story}/").text
    assert 'value="42"' in browser.get(f"/articles/{story}/merge/?into=42").text

    page = merge(browser, story, f" {named.format(article)} ")

    assert page.redirect_chain[-1] == (f"/articles/{article}/#merged-{story}", 302)
    assert "The articles have been merged." in page.text
    read = browser_of().get(f"/articles/{article}/").text
    assert "Comments from “Article 2”" in read
    assert "From the <em>other</em> one" in read
    assert "Undo the merge" not in read
    assert read.count(">Reply<") == 0
    assert f"/articles/{story}/" not in browser_of().get("/").text
    for address in (f"/articles/{story}/", f"/articles/{story}/why/", f"/articles/{story}/comments/"):
        found = browser.get(address, follow=True)
        assert found.redirect_chain[-1][0] == f"/articles/{article}/#merged-{story}", address
    assert browser_of().get(f"/articles/{story}/?start=0").status_code == 200
    assert browser_of().get(f"/comments/{story}000001/").status_code == 200
    assert browser_of().get(f"/feeds/articles/{story}/comments.atom").status_code == 200
    assert Action.MERGE in actions(site_store)


@pytest.mark.parametrize("place", ["page", "log"])
def test_one_click_undoes_a_merge_and_again_changes_nothing(site_store, article, story, carol, place):
    browser = browser_of(carol)
    merge(browser, story, article)
    shown = browser.get(f"/articles/{article}/" if place == "page" else "/moderation/").text
    (form,) = re.findall(rf'<form[^>]*action="/articles/{story}/merge/undo/">.*?</form>', shown, re.DOTALL)
    fields = dict(re.findall(r'name="(into)" value="(\d+)"', form))

    for _ in range(2):
        page = browser.post(f"/articles/{story}/merge/undo/", fields, follow=True)
        assert "The merge has been undone." in page.text

    assert (page.redirect_chain[-1], page.status_code) == ((f"/articles/{story}/", 302), 200)
    assert actions(site_store) == [Action.UNMERGE, Action.MERGE]
    assert "carol undid the merge of" in re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", browser.get("/moderation/").text)
    )


@pytest.mark.parametrize(
    ("into", "status"), [("", 400), ("https://example.org/7", 400), ("0", 400), ("999", 400), ("{story}", 400)]
)
def test_a_form_that_names_no_other_article_says_so(site_store, article, story, carol, into, status):
    page = merge(browser_of(carol), story, into.format(story=story))

    assert (page.status_code, "has-error" in page.text) == (status, True)
    assert site_store.articles.get(story).merged_into is None


def test_moderators_merge_nothing_of_their_own(site_store, article, story, carol):
    bob = member("bob", moderator=True)
    own = post(site_store, 3, poster=carol.pk)

    for browser, merged, into in ((browser_of(bob), story, article), (browser_of(carol), story, own)):
        assert "Another moderator has to decide." in merge(browser, merged, into).text
    site_store_merge = list(site_store.merges.merge(story, article, actor(carol), "The same"))
    page = browser_of(bob).post(f"/articles/{story}/merge/undo/", follow=True)

    assert ("Another moderator has to decide." in page.text, bool(site_store_merge)) == (True, True)
    assert site_store.articles.get(story).merged_into == article


def test_a_vote_on_a_merged_article_says_where_to_vote(site_store, article, story, carol):
    merge(browser_of(carol), story, article)
    browser = browser_of(member("mallory"))

    page = browser.post(f"/articles/{story}/vote/", {"choice": "vote"}, follow=True)
    script = browser.post(f"/articles/{story}/vote/", {"choice": "vote"}, headers={"Accept": "application/json"})

    assert "This article was merged into another one." in page.text
    assert (script.status_code, script.json()["error"]) == (409, "This article was merged into another one.")

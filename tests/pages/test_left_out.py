"""Leaving a member's votes out of ranking, on the moderators' page of the member."""

import pytest

from articles.domain.articles import Choice, LeftOut
from tests.factories import browser_of, comment_on
from tests.store_state import problems

PAGE = "/users/mallory/moderation/"
LEAVE_OUT, COUNT, CONTINUE = f"{PAGE}votes/", f"{PAGE}votes/count/", f"{PAGE}votes/continue/"
REASON = {"reason": "A voting ring"}


@pytest.fixture
def voted(site_store, article, mallory):
    site_store.votes.cast(article, mallory.pk, Choice.VOTE)
    return article


def test_one_act_leaves_the_votes_out_and_another_counts_them(site_store, voted, mallory, carol):
    browser = browser_of(carol)
    for _ in range(2):  # pressed twice
        assert browser.post(LEAVE_OUT, REASON).headers["Location"] == PAGE

    assert site_store.articles.get(voted).left_out == LeftOut(1, 0)
    assert "Moderators excluded them from ranking." in browser.get(PAGE).text
    why = browser.get(f"/articles/{voted}/why/").text
    assert "Excluded from ranking" in why
    assert "1 for, 0 against" in why
    reply = browser.get(f"/api/articles/{voted}/ranking").json()["score"]
    assert (reply["votes"], reply["left_out_votes"], reply["left_out_opposes"]) == (2, 1, 0)
    assert reply["ranked_points"] == 1
    for path in ("/", f"/articles/{voted}/"):
        assert "2 for, 0 against; 1 point affects ranking" in browser.get(path).text
    numbers = browser.get(f"/pulse/?ids={voted}").json()["articles"][0]["numbers"]
    assert numbers == "2 for, 0 against; 1 point affects ranking"
    assert b'"votes_left_out_of_ranking": true' in browser_of(mallory).get("/settings/data/").getvalue()
    log = browser.get("/moderation/").text
    assert "excluded the votes of" in log
    assert log.count("A voting ring") == 1
    for _ in range(2):  # pressed twice
        browser.post(COUNT, {"reason": "They are honest"})

    assert site_store.articles.get(voted).ranked_points == 2
    assert "in ranking again" in browser.get("/moderation/").text
    assert problems(site_store) == []


def test_votes_on_a_comment_are_left_out_of_its_place_and_readers_told(site_store, article, alice, mallory, carol):
    comment = comment_on(site_store, article, "Agreed", alice.pk)
    site_store.comments.cast(comment, mallory.pk, Choice.VOTE)
    page, api = f"/articles/{article}/", f"/api/comments/{comment}"
    browser = browser_of(carol)
    assert "For it: 1 of 1 vote." in browser.get(page).text

    browser.post(LEAVE_OUT, REASON)

    text = browser.get(page).text
    assert "No vote for it affects ranking, so it comes after the comments with such votes." in text
    assert "1 vote is excluded from ranking." in text
    reply = browser.get(api).json()
    assert (reply["votes"], reply["points"], reply["left_out_votes"], reply["left_out_opposes"]) == (1, 1, 1, 0)
    site_store.comments.cast(comment, carol.pk, Choice.VOTE)
    assert "For it: 1 of 1 vote." in browser.get(page).text
    browser.post(COUNT, {"reason": "They are honest"})
    assert "For it: 2 of 2 votes." in browser.get(page).text


def test_a_long_act_is_continued(site_store, voted, mallory, carol, hurry):
    hurry(True)
    browser = browser_of(carol)

    page = browser.post(LEAVE_OUT, REASON, follow=True)

    assert "This is not finished yet: continue below." in page.text
    assert CONTINUE in page.text
    hurry(False)
    assert CONTINUE not in browser.post(CONTINUE, follow=True).text
    assert site_store.left_out.get_state(mallory.pk).is_settled

"""Many fresh accounts of one network vote on one article: the votes are recorded, and flagged to moderators."""

import pytest
from django.test import Client

from tests.attacks.pages import text_of
from tests.factories import browser_of, comment_on, member

PASSWORD = "a long secret 71"


def sign_up(name: str) -> Client:
    """Return the browser of a member who has just signed up."""
    browser = Client()
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    assert browser.post("/signup/", fields, REMOTE_ADDR="2001:db8:7::1").status_code == 302
    return browser


@pytest.mark.parametrize("target", ["articles", "comments"])
def test_twenty_new_accounts_of_one_network_are_recorded_and_flagged(site_store, article, alice, carol, target):
    """Ten by the page, ten by the API, each from an address of its own, all on an article or all on a comment."""
    comment = comment_on(site_store, article, "Agreed", alice.pk)
    subject = f"{target}/{article if target == 'articles' else comment}"
    for number in range(10):
        address, browser = f"2001:db8:7:{number}::1", sign_up(f"puppet{number}")
        browser.post(f"/{subject}/vote/", {"choice": "vote"}, REMOTE_ADDR=address)
    for number in range(10, 20):
        address, browser = f"2001:db8:7:{number}::1", browser_of(member(f"puppet{number}", password="!"))
        vote = {"data": '{"choice": "vote"}', "content_type": "application/json", "REMOTE_ADDR": address}
        assert browser.put(f"/api/{subject}/vote", **vote).status_code == 200

    votes = (site_store.articles.get(article).votes, site_store.comments.get(comment).votes)
    assert votes == ((21, 0) if target == "articles" else (1, 20))
    page = browser_of(carol).get("/moderation/rings/")
    (entry,) = text_of(page.content, "li", "entry")
    assert "20 new accounts voted from one network." in entry
    assert ("Their last vote on a comment was on this comment." in entry) == (target == "comments")
    assert (f'href="/comments/{comment}/"' in page.text) == (target == "comments")
    assert b"puppet" not in page.content

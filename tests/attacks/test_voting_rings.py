"""Many fresh accounts of one network vote on one article: the votes are recorded, and flagged to moderators."""

from django.test import Client

from tests.attacks.pages import text_of
from tests.factories import browser_of, member

PASSWORD = "a long secret 71"


def sign_up(name: str) -> Client:
    """Return the browser of a member who has just signed up."""
    browser = Client()
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    assert browser.post("/signup/", fields, REMOTE_ADDR="2001:db8:7::1").status_code == 302
    return browser


def test_twenty_new_accounts_of_one_network_are_recorded_and_flagged_to_moderators(site_store, article, carol):
    """Ten by the page, ten by the API, each from an address of its own."""
    for number in range(10):
        address, browser = f"2001:db8:7:{number}::1", sign_up(f"puppet{number}")
        browser.post(f"/articles/{article}/vote/", {"choice": "vote"}, REMOTE_ADDR=address)
    for number in range(10, 20):
        address, browser = f"2001:db8:7:{number}::1", browser_of(member(f"puppet{number}", password="!"))
        vote = {"data": '{"choice": "vote"}', "content_type": "application/json", "REMOTE_ADDR": address}
        assert browser.put(f"/api/articles/{article}/vote", **vote).status_code == 200

    assert site_store.articles.get(article).votes == 21
    page = browser_of(carol).get("/moderation/rings/")
    assert "20 new accounts voted from one network." in " ".join(text_of(page.content, "li", "entry"))
    assert b"puppet" not in page.content

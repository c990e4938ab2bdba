import re

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.models import Ban, BanScope
from articles import site
from articles.domain.limits import Rate
from articles.web import rights
from tests.factories import browser_of, vote


def write_about(member, text):
    assert browser_of(member).post("/settings/about/", {"about": text})["Location"] == "/settings/about/"


def test_the_profile_tells_about_the_member_and_has_tabs(site_store, article, alice, bob):
    vote(site_store, article, 2)
    write_about(alice, "Gardener in *Lyon*. https://alice.example")

    page = Client().get("/users/alice/").text

    assert "<em>Lyon</em>" in page
    assert '<a href="https://alice.example/" rel="nofollow ugc noopener">' in page
    assert ">2 points<" in page
    assert '<a href="/users/alice/comments/">Comments</a>' in page
    assert "Voted for" not in page
    comments = Client().get("/users/alice/comments/").text
    assert "<em>Lyon</em>" in comments
    assert '<a href="/users/alice/comments/" aria-current="page">Comments</a>' in comments
    assert "Write a few lines about yourself" not in browser_of(alice).get("/users/alice/").text
    assert "Write a few lines about yourself" in browser_of(bob).get("/users/bob/").text


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("x" * 501, "The text has 501 characters. The limit is 500."),
        ("See https://spam.example/pills", "Links to spam.example cannot be posted here. Reason: “it sells”."),
        ("a" + "\u0301" * 50, "A letter in the text has more than"),
    ],
)
def test_what_is_refused_stays_in_the_form_and_changes_nothing(site_store, alice, typed, sentence):
    site.block_host("spam.example", "it sells")
    site.forget_hosts()
    write_about(alice, "Before")

    response = browser_of(alice).post("/settings/about/", {"about": typed})

    assert response.status_code == 400
    assert sentence in response.text
    assert f">{escape(typed)}</textarea>" in response.text.replace("\r", "").replace(">\n", ">")
    alice.refresh_from_db()
    assert alice.about == "Before"


@pytest.mark.parametrize("link", ["https://x.example", "<mailto:a@x.example>", "[a](http://x.example/)"])
def test_new_members_put_no_links_into_it(limits_clock, settings, bob, link, limits):
    limits(edits_new=Rate(1, 86400), changes=None)
    browser = browser_of(bob)

    response = browser.post("/settings/about/", {"about": f"See {link}"})

    assert "New members cannot put links into this text yet." in response.text
    assert browser.post("/settings/about/", {"about": "I know @bob"}).status_code == 302
    assert browser.post("/settings/about/", {"about": "I know him"}).status_code == 429, (
        "it is limited as edits are"
    )
    bob.refresh_from_db()
    assert bob.about == "I know @bob"


def test_during_a_ban_only_the_member_and_moderators_see_it_and_it_can_only_be_removed(alice, bob, carol):
    write_about(bob, "Buy pills")
    Ban.objects.begin(bob, BanScope.POSTING, "Spam", ends_at=None, moderator_id=carol.pk)

    seen = {one: "Buy pills" in browser_of(one).get("/users/bob/").text for one in (None, alice, bob, carol)}
    assert seen == {None: False, alice: False, bob: True, carol: True}
    browser = browser_of(bob)
    assert "You are banned from posting" in browser.post("/settings/about/", {"about": "More pills"}).text
    assert browser.post("/settings/about/", {"about": ""}).status_code == 302
    bob.refresh_from_db()
    assert bob.about == ""


def test_a_flag_waits_for_moderators_who_keep_or_remove_the_text(site_store, alice, bob, carol):
    write_about(alice, "Buy *pills*")
    browser, moderator, path = browser_of(bob), browser_of(carol), "/users/alice/flag/"
    assert path in browser.get("/users/alice/").text
    assert path not in browser_of(alice).get("/users/alice/").text
    assert browser.post(path, {"reason": "against-rules"}).status_code == 400
    assert browser.post(path, {"reason": "spam", "words": "<pills>"}).status_code == 302
    rights.forget_waiting()
    queue = moderator.get("/moderation/queue/").text
    assert "Buy <em>pills</em>" in queue
    assert "&lt;pills&gt;" in queue
    assert 'class="badge">1<' in queue
    assert "The moderators have not decided yet." in browser.get("/mine/flags/").text
    decision = re.search('name="newest" value="([0-9]+)"', moderator.get("/users/alice/about/").text)[1]
    moderator.post("/users/alice/about/", {"keep": "1", "newest": int(decision) - 1})
    assert "not decided yet" in browser.get("/mine/flags/").text, "it is newer than what the moderator saw"

    moderator.post("/users/alice/about/", {"keep": "1", "newest": decision, "reason": "It is a joke"})

    assert "The moderators kept it: It is a joke" in browser.get(path).text
    assert browser.post(path, {"reason": "spam"}).status_code == 400, "it is decided"
    write_about(alice, "Buy more pills")
    assert browser.post(path, {"reason": "spam"}).status_code == 302, "another text can be flagged"
    assert moderator.post("/users/alice/about/", {"newest": "0", "reason": ""}).status_code == 400
    for _ in range(2):
        moderator.post("/users/alice/about/", {"newest": "0", "reason": "Advertising"})

    log = Client().get("/moderation/").text
    assert log.count("removed the profile text of") == 1
    assert "Advertising" in log
    assert "pills" not in Client().get("/users/alice/").text
    assert "Reason: Advertising" in browser_of(alice).get("/settings/about/").text
    assert "The moderators removed it." in browser.get("/mine/flags/").text
    assert "Nothing is waiting for a decision." in moderator.get("/moderation/queue/").text


def test_members_cannot_decide_and_moderators_do_not_keep_their_own(alice, bob, carol):
    write_about(carol, "I sell pills")
    browser_of(bob).post("/users/carol/flag/", {"reason": "spam"})

    assert browser_of(bob).post("/users/carol/about/", {"newest": "0", "reason": "x"}).status_code == 403
    assert browser_of(carol).post("/users/carol/about/", {"keep": "1", "newest": "99"}).status_code == 403
    assert browser_of(bob).post("/users/alice/flag/", {"reason": "spam"}).status_code == 404, "there is no text"
    assert carol.about_flags.get().state == "open"


def test_a_kept_copy_of_the_page_ends_with_the_text(site_store, kept, outage, alice, carol):
    write_about(alice, "Buy pills")
    assert "Buy pills" in Client().get("/users/alice/").text
    browser_of(carol).post("/users/alice/about/", {"newest": "0", "reason": "Advertising"})
    outage()

    assert "Buy pills" not in Client().get("/users/alice/").text

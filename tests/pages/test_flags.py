"""Flags on the pages: the form, what moderators see and decide, and what is told to whom."""

import json
import re
import time

import pytest

from accounts.models import Ban, User
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason, FlagState
from articles.domain.reasons import usual
from tests.cast import MODERATOR
from tests.factories import browser_of, comment_on
from tests.pages.lists import text_of
from tests.store_state import set_clock

QUEUE, DECIDE, MINE = "/moderation/queue/", "/moderation/queue/decide/", "/mine/flags/"


@pytest.fixture
def flagged(site_store, article, bob):
    """The address of an article's flag by bob."""
    path = f"/articles/{article}/flag/"
    assert browser_of(bob).post(path, {"reason": "spam", "words": "It sells <pills>"}).status_code == 302
    return path


def decision(site_store, article, **fields: object) -> dict[str, object]:
    seen = f"{site_store.store.now() + 1:.3f}"
    return {"subject": root_of(article), "seen": seen, "decision": "remove", "reason": "Spam"} | fields


def test_a_member_flags_an_article_changes_the_flag_and_takes_it_back(site_store, article, bob, flagged):
    browser, subject = browser_of(bob), root_of(article)
    assert flagged in browser.get(f"/articles/{article}/").text
    page = browser.get(flagged).text
    assert "You flagged this: Spam." in page
    assert '<button class="second" type="submit" name="take_back" value="1" formnovalidate>Take it back' in page

    refused = browser.post(flagged, {"reason": "against-rules", "words": ""})
    changed = browser.post(flagged, {"reason": "against-rules", "words": "No adverts"})

    assert (refused.status_code, changed.headers["Location"]) == (400, f"/articles/{article}/")
    flag = site_store.flags.get(subject, bob.pk)
    assert (flag.reason, flag.words) == (FlagReason.AGAINST_RULES, "No adverts")
    for _ in range(2):  # pressed twice
        assert browser.post(flagged, {"reason": "spam", "take_back": "1"}).status_code == 302
    assert site_store.flags.count() == 0
    assert "You haven’t flagged anything yet." in text_of(bob, MINE)


def test_a_comment_is_flagged_from_its_line(site_store, article, alice, bob, carol):
    comment = comment_on(site_store, article, "Buy *pills*", alice.pk)
    path = f"/comments/{comment}/flag/"
    assert path in browser_of(bob).get(f"/articles/{article}/").text
    assert path not in browser_of(alice).get(f"/articles/{article}/").text
    assert "Broken link" not in text_of(bob, path)

    browser_of(bob).post(path, {"reason": "off-topic"})

    page = text_of(carol, QUEUE)
    assert "A comment on “A title”" in page
    assert "Buy pills" in page
    assert "Off-topic bob just now" in page
    assert browser_of(carol).post(DECIDE, decision(site_store, article, subject=comment)).status_code == 302
    assert site_store.comments.get(comment).removed == "Spam"


def test_only_moderators_learn_who_flagged_and_why(site_store, article, alice, mallory, carol, flagged):
    page = text_of(carol, QUEUE)

    assert "A title" in page
    assert "Spam – It sells <pills> bob just now" in page
    assert "Queue (1)" in page
    for user in (alice, mallory):
        assert browser_of(user).get(QUEUE).status_code == 403
        for path in (f"/articles/{article}/", "/moderation/", "/users/alice/"):
            assert "pills" not in browser_of(user).get(path).text
            assert QUEUE not in browser_of(user).get(path).text


def test_the_queue_shows_what_is_judged_and_leads_to_its_author(site_store, article, alice, bob, carol):
    fields = {"title": "Watches", "link": "https://watches.example/shop", "text": "Buy **now**"}
    flagged = int(browser_of(alice).post("/post/", fields)["Location"].split("/")[-2])
    site_store.flags.set(root_of(flagged), bob.pk, FlagReason.SPAM)
    site_store.flags.set(comment_on(site_store, flagged, "Me too", alice.pk), bob.pk, FlagReason.SPAM)

    page = browser_of(carol).get(QUEUE).text

    assert page.count('href="https://watches.example/shop"') == 1
    assert page.count("<p>Buy <strong>now</strong></p>") == 1
    assert page.count('href="/users/alice/moderation/"') == 2


def test_members_cannot_flag_their_own_content(site_store, article, alice):
    browser, path = browser_of(alice), f"/articles/{article}/flag/"

    comment = comment_on(site_store, article, "Mine", alice.pk)

    assert path not in browser.get(f"/articles/{article}/").text
    assert browser.post(path, {"reason": "spam"}).status_code == 400
    assert site_store.flags.count() == 0
    assert browser.get(f"/comments/{comment}/flag/").status_code == 403
    assert browser.post(f"/comments/{comment}/flag/", {"reason": "spam"}).status_code == 403


def test_posters_ask_to_withdraw_their_article_once_they_cannot_do_it(site_store, article, alice, bob, carol):
    browser, path = browser_of(alice), f"/articles/{article}/flag/"
    assert "Ask to withdraw" not in browser.get(f"/articles/{article}/").text
    set_clock(site_store, lambda: time.time() + site_store.rules.edit_window + 60)
    assert f'href="{path}">Ask to withdraw' in browser.get(f"/articles/{article}/").text
    assert "Ask to withdraw" not in browser_of(bob).get(f"/articles/{article}/").text
    assert path in browser.get(f"/articles/{article}/withdraw/").text
    assert "Spam" not in text_of(alice, path)
    assert '<input type="hidden" name="reason" value="withdrawal"' in browser.get(path).text
    assert browser_of(bob).post(path, {"reason": "withdrawal"}).status_code == 400

    for _ in range(2):  # pressed twice
        sent = browser.post(path, {"reason": "withdrawal", "words": "My employer asks"})
        assert sent.headers["Location"] == f"/articles/{article}/"

    queue = text_of(carol, QUEUE)
    assert "At the request of its poster – My employer asks" in queue
    assert "You asked the moderators to withdraw it." in text_of(alice, path)
    browser_of(carol).post(DECIDE, decision(site_store, article, reason="At the request of its poster"))
    assert site_store.articles.get(article).removed == "At the request of its poster"
    assert len(site_store.inbox.get_page(alice.pk).notices) == 1


def test_members_who_flagged_read_why_it_was_kept(site_store, article, bob, carol, flagged):
    fields = decision(site_store, article, decision="keep", reason="It is free")
    for _ in range(2):  # pressed twice
        assert browser_of(carol).post(DECIDE, fields).headers["Location"] == QUEUE

    for path in (flagged, MINE):
        assert "The moderators kept it: It is free" in text_of(bob, path)
    assert "Nothing is waiting for a decision." in text_of(carol, QUEUE)
    assert "A title , which you flagged, was kept" in text_of(bob, "/inbox/")
    assert "Reason: It is free" in text_of(bob, "/inbox/")
    assert browser_of(bob).post(flagged, {"reason": "spam"}).status_code == 400
    assert "It is free" not in text_of(carol, "/moderation/")


def sent_from_queue(user: User, decision: str, **typed: str) -> None:
    """Press a button of the queue's only form, as it is on the page, after typing into it."""
    form = re.search(
        r'<form class="form" method="post" action="/moderation/queue/decide/">.*?</form>', queue_of(user), re.S
    )
    assert form
    fields = {
        name: value
        for tag in re.findall(r"<input[^>]*>", form[0])
        for name, value in [
            (re.search(r'name="([^"]+)"', tag)[1], (re.search(r' value="([^"]*)"', tag) or ["", ""])[1])
        ]
    }
    browser_of(user).post(DECIDE, fields | typed | {"decision": decision})


def queue_of(user: User) -> str:
    return browser_of(user).get(QUEUE).text


def test_a_removal_without_a_reason_takes_that_of_the_flags(site_store, article, alice, bob, carol):
    comment = comment_on(site_store, article, "Buy pills", alice.pk)
    for subject, reason in ((root_of(article), FlagReason.WITHDRAWAL), (comment, FlagReason.OFF_TOPIC)):
        member = alice if reason is FlagReason.WITHDRAWAL else bob
        site_store.flags.set(subject, member.pk, reason)
        if reason is FlagReason.WITHDRAWAL:
            sent_from_queue(carol, "ban")  # what the poster asks for is no reason for a ban
            assert not Ban.objects.exists()
            assert site_store.articles.get(article).removed is None
            site_store.flags.take_back(subject, member.pk)

    sent_from_queue(carol, "ban")

    assert site_store.comments.get(comment).removed == "Off-topic"
    assert Ban.objects.get().reason == usual(FlagReason.OFF_TOPIC)


def test_a_comment_that_was_flagged_and_removed_is_a_notice_without_its_text(site_store, article, alice, bob):
    comment = comment_on(site_store, article, "Buy pills", alice.pk)
    browser_of(bob).post(f"/comments/{comment}/flag/", {"reason": "spam"})
    site_store.comments.remove(comment, MODERATOR, "An advert")

    inbox = text_of(bob, "/inbox/")
    assert "A comment on A title that you flagged was removed" in inbox
    assert "Reason: An advert" in inbox
    assert "Buy pills" not in inbox
    assert "flagged" not in text_of(alice, "/inbox/")


def test_a_flag_that_the_moderator_has_not_seen_stays_open(site_store, article, bob, carol, mallory, flagged):
    seen = re.search(r'name="seen" value="([^"]+)"', browser_of(carol).get(QUEUE).text)[1]
    later = site_store.store.now() + 60
    set_clock(site_store, later)
    site_store.flags.set(root_of(article), mallory.pk, FlagReason.OFF_TOPIC)

    browser_of(carol).post(DECIDE, decision(site_store, article, decision="keep", seen=seen))

    assert site_store.flags.get(root_of(article), bob.pk).state is FlagState.KEPT
    assert site_store.flags.get(root_of(article), mallory.pk).state is FlagState.OPEN


def test_a_decision_needs_permission_token_and_reason_to_remove(site_store, article, mallory, carol, flagged):
    fields = decision(site_store, article)

    assert browser_of(mallory).post(DECIDE, fields).status_code == 403
    assert browser_of(carol, strict=True).post(DECIDE, fields).status_code == 403
    for wrong in ({"reason": ""}, {"subject": "x"}, {"decision": "burn"}, {"seen": "nan"}):
        assert browser_of(carol).post(DECIDE, fields | wrong).status_code == 302, wrong
    assert site_store.articles.get(article).removed is None
    assert browser_of(carol).post(DECIDE, fields | {"subject": root_of(999)}).status_code == 404


def test_the_export_contains_the_members_flags(alice, bob, flagged):
    def exported(user):
        return json.loads(b"".join(browser_of(user).get("/settings/data/").streaming_content))["flags"]

    (flag,) = exported(bob)
    found = {name: flag[name] for name in ("comment", "reason", "words", "state")}
    assert found == {"comment": None, "reason": "spam", "words": "It sells <pills>", "state": "open"}
    assert exported(alice) == []


def test_moderators_see_how_much_waits_counted_once_for_many_pages(site_store, article, bob, carol, flagged):
    moderator, waits = browser_of(carol), '<span class="badge">1<span class="unseen"> waiting'

    page = moderator.get("/").text

    assert page.count(waits) == 2, "on the account's menu, and in it"
    assert 'href="/moderation/queue/"' in page
    assert waits not in browser_of(bob).get("/").text
    site_store.flags.take_back(root_of(article), bob.pk)
    assert moderator.get("/").text.count(waits) == 2
    assert waits not in moderator.get("/moderation/queue/").text, "the queue is counted at once"
    assert waits not in moderator.get("/").text

"""Bans: what they forbid, who sees what of them, and appeals."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import BAN_SCOPES, Ban, BanScope, User
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from moderation.bans import ban, lift_ban
from tests.factories import actor, browser_of, comment_on
from tests.pages.lists import text_of

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
BOB, APPEAL, QUEUE = "/users/bob/moderation/", "/appeal/", "/moderation/queue/"


def banned(user: User, moderator: User, scope: BanScope = BanScope.BOTH, days: int = 7) -> User:
    ban(user, scope, "Nothing but spam", days=days, moderator=actor(moderator))
    return User.objects.get(pk=user.pk)


@time_machine.travel(NOON, tick=False)
def test_a_moderator_bans_a_member_once_and_everyone_can_read_why(site_store, bob, carol):
    fields = {"scope": "both", "days": "30", "reason": "Nothing but spam"}
    for _ in range(2):  # pressed twice
        assert browser_of(carol).post(BOB, fields).headers["Location"] == BOB

    found = Ban.objects.get()
    assert (found.member, found.scope, found.reason, found.moderator) == (bob, "both", "Nothing but spam", carol)
    assert found.ends_at == NOON + timedelta(days=30)
    (entry,) = site_store.moderation_log.get_page().entries
    assert (entry.action.value, entry.title, entry.reason) == ("ban", "bob", "Nothing but spam")
    assert "carol banned bob" in text_of(bob, "/moderation/")
    assert "from posting, commenting and voting, for 30 days" in text_of(bob, "/moderation/")
    assert BOB in browser_of(carol).get("/users/bob/").text
    assert BOB not in browser_of(bob).get("/users/bob/").text
    browser_of(carol).post(BOB, fields | {"days": "365"})  # the moderator meant longer
    assert bob.bans.current().get().ends_at == NOON + timedelta(days=365)
    assert len(site_store.moderation_log.get_page().entries) == 2


@pytest.mark.parametrize("scope", BAN_SCOPES)
def test_a_ban_forbids_what_it_names_on_pages_and_in_the_api(site_store, article, alice, bob, carol, scope):
    comment, own = comment_on(site_store, article, "A comment", alice.pk), comment_on(site_store, article, "Mine")
    user = banned(bob, carol, scope)
    browser, as_json = browser_of(user), {"content_type": "application/json"}
    posting = [
        browser.post("/post/", {"title": "T", "link": "https://example.org/new"}),
        browser.post(f"/articles/{article}/comments/", {"text": "Text"}),
        browser.post(f"/comments/{own}/edit/", {"text": "Text"}),
        browser.get("/post/"),
    ]
    voting = [
        browser.put(f"/api/{one}/vote", {"choice": "vote"}, **as_json)
        for one in (f"articles/{article}", f"comments/{comment}")
    ]
    by_api = browser.post(f"/api/articles/{article}/comments", {"text": "Text"}, **as_json)
    by_form = browser.post(
        f"/articles/{article}/vote/", {"choice": "oppose"}, headers={"accept": "application/json"}
    )

    assert ({one.status_code for one in posting} == {403}) is (scope is not BanScope.VOTING)
    assert (by_api.status_code == 403) is (scope is not BanScope.VOTING)
    assert ({one.status_code for one in voting} == {403}) is (scope is not BanScope.POSTING)
    assert (by_form.status_code == 409) is (scope is not BanScope.POSTING)
    if scope is BanScope.BOTH:
        assert by_api.json()["error"]["code"] == "banned"
        assert "You are banned from posting until" in posting[0].text
        assert "Reason: “Nothing but spam”.</p>" in posting[0].text
        assert f'href="{APPEAL}">Appeal</a>' in posting[0].text
        assert by_api.json()["error"]["message"].endswith("spam”. You can appeal at /appeal/.")
        assert site_store.articles.get(article).votes == 1


@pytest.mark.parametrize("scope", [*BAN_SCOPES, BanScope.GROUP])
def test_a_banned_member_is_shown_no_form_for_what_is_forbidden(site_store, bob, carol, scope):
    own = site_store.articles.post(bob.pk, "bob", "Own", "https://example.org/own", ["python"]).id
    ban(bob, scope, "Spam", days=7, moderator=actor(carol), group="python" if scope == BanScope.GROUP else "")
    browser = browser_of(bob)

    shown = {path: browser.get(path).text for path in ("/users/bob/", "/settings/about/", "/post/")}

    assert ("<textarea" in shown["/settings/about/"]) is not bob.bans.filter(
        scope__in=("posting", "both")
    ).exists()
    assert ("/settings/about/" in shown["/users/bob/"]) is ("<textarea" in shown["/settings/about/"])
    assert ('name="groups" value="python"' in shown["/post/"]) is (scope == BanScope.VOTING)
    assert browser.get(f"/articles/{own}/edit/").status_code == (200 if scope == BanScope.VOTING else 403)


@time_machine.travel(NOON, tick=False)
def test_a_ban_ends_when_it_expires_or_is_lifted(site_store, article, bob, carol):
    user = banned(bob, carol)
    User.objects.filter(pk=user.pk).update(ban_ends_at=timezone.now() - timedelta(seconds=1))
    assert browser_of(user).get("/post/").status_code == 200
    lift_ban(user.bans.get(), "It is over", actor(carol))

    banned(bob, carol, days=0)
    assert browser_of(bob).get("/post/").status_code == 403
    for _ in range(2):  # pressed twice
        lift = f"{BOB}bans/{Ban.objects.first().pk}/lift/"
        assert browser_of(carol).post(lift, {"reason": "Time served"}).headers["Location"] == BOB

    assert browser_of(bob).get("/post/").status_code == 200
    actions = [entry.action.value for entry in site_store.moderation_log.get_page().entries]
    assert actions == ["lift-ban", "ban", "lift-ban", "ban"]
    assert "carol lifted the ban on bob" in text_of(bob, "/moderation/")


def test_each_ban_has_its_own_appeal(site_store, bob, carol):
    for scope in (BanScope.POSTING, BanScope.VOTING):
        ban(bob, scope, "Spam", days=7, moderator=actor(carol))
    posting, voting = Ban.objects.get(scope="posting"), Ban.objects.get(scope="voting")
    browser = browser_of(bob)
    other = Ban.objects.begin(carol, BanScope.BOTH, "?", ends_at=None, moderator_id=bob.pk)

    assert text_of(bob, APPEAL).count("Banned from") == 2
    assert "Markdown" not in text_of(bob, APPEAL)
    for wrong in ({}, {"ban": other.pk}, {"ban": "x"}):
        assert browser.post(APPEAL, {"text": "Please"} | wrong).status_code == 400
    for text in ("About my posts", "Again"):
        assert browser.post(APPEAL, {"ban": posting.pk, "text": text}).headers["Location"] == APPEAL
    assert browser.post(APPEAL, {"text": "About my votes"}).headers["Location"] == APPEAL  # one is left

    found = {one.scope: one.appeal for one in Ban.objects.filter(member=bob)}
    assert found == {"posting": "About my posts", "voting": "About my votes"}
    assert text_of(carol, QUEUE).count("Lift the ban") == 2
    fields = {"decision": "lift", "answer": "All right"}
    browser_of(carol).post(f"/moderation/queue/appeals/{voting.pk}/", fields)
    assert browser_of(bob).get("/post/").status_code == 403
    page = text_of(bob, APPEAL)
    assert "All right" in page
    assert page.count("Banned from") == 2
    assert "The ban was lifted." in page
    log = text_of(bob, "/moderation/")
    assert "carol lifted the ban on bob" in log
    assert "after an appeal" in log
    assert "All right" not in log  # only the member and the moderators read the answer
    fields = {"decision": "lift", "answer": "All right"}
    browser_of(carol).post(f"/moderation/queue/appeals/{posting.pk}/", fields)
    assert browser_of(bob).get("/post/").status_code == 200


@pytest.mark.parametrize("is_banned", [False, True])
def test_one_button_in_the_queue_removes_and_bans_no_shorter(site_store, article, alice, bob, carol, is_banned):
    if is_banned:
        ban(alice, BanScope.POSTING, "Again and again", days=0, moderator=actor(carol))
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    fields = {"subject": root_of(article), "seen": "1", "decision": "ban", "reason": "Spam"}
    assert "Remove, and ban alice for 7 days" in text_of(carol, QUEUE)

    assert browser_of(carol).post("/moderation/queue/decide/", fields).status_code == 302

    assert site_store.articles.get(article).removed == "Spam"
    found = Ban.objects.get(lifted_at=None)
    assert (found.member, found.ends_at is None) == (alice, is_banned)


def test_a_vote_that_waits_for_the_login_is_refused_too(site_store, article, bob, carol):
    banned(bob, carol, BanScope.VOTING)
    fields = {"username": "bob", "password": "bob's long secret", "article": str(article), "choice": "vote"}
    browser = browser_of()

    page = browser.post("/login/", fields | {"next": "/"}, follow=True)

    assert "You are banned from voting until" in page.text
    assert site_store.articles.get(article).votes == 1


def test_a_member_appeals_once_and_reads_the_answer(site_store, bob, carol):
    user, browser = banned(bob, carol), browser_of(bob)
    assert "You are banned from parts of the site." in text_of(user, "/settings/")
    assert browser.post(APPEAL, {"text": " "}).status_code == 400

    for text in ("It was <my> cousin", "Again"):
        assert browser.post(APPEAL, {"text": text}).headers["Location"] == APPEAL

    page = text_of(carol, QUEUE)
    assert "It was <my> cousin" in page
    assert "Again" not in page
    assert "Queue (1)" in page
    answer = f"/moderation/queue/appeals/{Ban.objects.get().pk}/"
    assert browser_of(bob).post(answer, {"decision": "lift", "answer": "x"}).status_code == 403
    for _ in range(2):  # pressed twice
        fields = {"decision": "keep", "answer": "We know your cousin"}
        assert browser_of(carol).post(answer, fields).headers["Location"] == QUEUE
    assert "We know your cousin" in text_of(bob, APPEAL)
    assert "Appeals" not in text_of(carol, QUEUE)
    assert browser.get("/post/").status_code == 403


@pytest.mark.parametrize("second", ["All right", "We know your cousin"])
def test_the_second_answer_to_an_appeal_is_refused_and_shows_the_first(site_store, bob, carol, second):
    banned(bob, carol)
    browser_of(bob).post(APPEAL, {"text": "Please"})
    answer = f"/moderation/queue/appeals/{Ban.objects.get().pk}/"

    for decision, text in (("keep", "We know your cousin"), ("lift", second)):
        browser = browser_of(carol)
        browser.post(answer, {"decision": decision, "answer": text})

    assert "Another moderator has already answered this appeal: “We know your cousin”" in browser.get(QUEUE).text
    assert Ban.objects.get().answer == "We know your cousin"
    assert bob.bans.current().exists()


def test_the_inbox_says_when_a_ban_began_was_answered_and_was_lifted(site_store, bob, carol):
    def news() -> tuple[str, bool]:
        """Return what the inbox says, and whether the header counts it, on a page that reads every shard."""
        page, elsewhere = text_of(bob, "/inbox/"), browser_of(bob).get("/").text
        return page, '<span class="badge">1<' in elsewhere

    def mark_as_read() -> None:
        assert browser_of(bob).post("/inbox/read/", {"until": str(site_store.store.now())}).status_code == 302

    banned(bob, carol)
    page, is_counted = news()
    assert is_counted
    assert "Reason: Nothing but spam" in page
    assert f'href="{APPEAL}"' in browser_of(bob).get("/inbox/").text
    assert "Mark all as read" in page
    mark_as_read()
    page, is_counted = news()
    assert not is_counted
    assert "Reason: Nothing but spam" in page  # as long as the ban lasts
    assert "Mark all as read" not in page

    browser_of(bob).post(APPEAL, {"text": "Please"})
    fields = {"decision": "keep", "answer": "Not yet"}
    browser_of(carol).post(f"/moderation/queue/appeals/{Ban.objects.get().pk}/", fields)
    page, is_counted = news()
    assert is_counted
    assert "Not yet" in page
    mark_as_read()

    lift_ban(bob.bans.get(), "It is over", actor(carol))
    page, is_counted = news()
    assert is_counted
    assert "The ban was lifted." in page
    mark_as_read()
    page, is_counted = news()
    assert not is_counted
    assert "spam" not in page

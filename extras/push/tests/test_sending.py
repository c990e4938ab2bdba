"""What is pushed, when, and what happens when a push service does not take it."""

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from accounts import account_deletion, sessions
from accounts.models import BanScope, Block, Mute, Token, User
from articles import housekeeping
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.text.searching import Kind
from articles.web.hiding import change
from extras.push import protocol, sending
from extras.push.models import Choice, Device
from extras.push.sending import SETTLE_SECONDS
from moderation.bans import ban
from outgoing import posting
from tasks import OUT, work_off
from tests.cast import password_of
from tests.factories import actor, browser_of, comment_on, member
from tests.push_service import FakeBrowser

pytestmark = pytest.mark.django_db


@pytest.fixture
def said(article, site_store, later, bob):
    """A function that lets bob comment on alice's article some seconds ago; it returns the comment."""

    def say(text="I *agree*", **facts):
        comment = comment_on(site_store, article, text, bob.pk, **facts)
        later.advance(SETTLE_SECONDS + 1)
        return comment

    return say


def pass_by(pause):
    """Let time pass for waiting tasks and failing devices."""
    for row in DBTaskResult.objects.all():
        row.enqueued_at, row.run_after = row.enqueued_at - pause, row.run_after - pause
        row.save()
    for device in Device.objects.exclude(failing_since=None):
        Device.objects.filter(pk=device.pk).update(failing_since=device.failing_since - pause)


def test_a_reply_is_pushed_once_with_its_page(device_of, push, said, alice):
    browser, _device = device_of(alice)
    comment = said()

    ((path, body),) = push()

    assert path == "/firefox"
    assert browser.read(body) == {
        "title": "bob commented on your article A title",
        "body": "I agree",
        "data": f"/comments/{comment}/",
        "tag": "inbox",
        "renotify": True,
        "lang": "en",
        "icon": "/static/touch-icon.png",
    }
    assert push() == []


def test_it_is_pushed_seconds_after_it_was_written(device_of, push, said, later, article, site_store, alice, bob):
    device_of(alice)
    comment_on(site_store, article, "Wait", bob.pk)
    later.advance(SETTLE_SECONDS - 1)
    assert push() == []

    later.advance(2)

    assert len(push()) == 1


def test_each_device_has_its_message_in_the_members_language(device_of, push, said, alice):
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    device_of(alice, "phone"), device_of(alice, "laptop")
    said()

    sent = push()

    assert sorted(path for path, _body in sent) == ["/laptop", "/phone"]
    browser, _device = device_of(alice, "phone")
    said("More")
    messages = dict(push())
    assert browser.read(messages["/phone"])["lang"] == "zh-Hans"


def test_several_new_notices_are_one_message_that_leads_to_the_inbox(device_of, push, said, alice):
    browser, _device = device_of(alice)
    said("One")
    said("Two")

    ((_path, body),) = push()

    message = browser.read(body)
    assert (message["title"], message["data"]) == ("2 new notices on Article Voting", "/inbox/")
    assert message["body"] == "bob commented on your article A title"


def no_device(alice, article, comment, store):
    Device.objects.all().delete()


def no_kind(alice, article, comment, store):
    Choice.objects.filter(member=alice).update(kinds="mention")


def read(alice, article, comment, store):
    User.objects.filter(pk=alice.pk).update(inbox_read_until=store.store.now())


def deleted(alice, article, comment, store):
    store.comments.delete(comment, 2)


def removed(alice, article, comment, store):
    store.comments.remove(comment, actor(alice), "spam")


def removed_article(alice, article, comment, store):
    store.articles.remove(article, actor(alice), "spam")


def inactive(alice, article, comment, store):
    User.objects.filter(pk=alice.pk).update(is_active=False)


def deleted_account(alice, article, comment, store):
    account_deletion.begin(alice.pk)


WAYS = [no_device, no_kind, read, deleted, removed, removed_article, inactive, deleted_account]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_queued", [False, True])
def test_what_is_gone_read_or_not_wanted_is_not_pushed(
    device_of, push, said, service, site_store, article, alice, way, is_queued
):
    """Whether it changes before housekeeping looks, or before the task runs."""
    device_of(alice)
    comment = said()
    if is_queued:
        assert sending.send_due(site_store, 60) == 1
    way(alice, article, comment, site_store)

    assert push() == []
    assert work_off(OUT) == 0


def blocked(alice, bob, article):
    Block.objects.create(user=alice, blocked=bob)


def muted(alice, bob, article):
    Mute.objects.mute(alice, article)


@pytest.mark.parametrize("silence", [blocked, muted])
def test_what_makes_no_notice_is_not_pushed(device_of, push, later, service, article, alice, bob, silence):
    device_of(alice)
    silence(alice, bob, article)

    browser_of(bob).post(f"/articles/{article}/comments/", {"text": "Hello @alice"})
    later.advance(SETTLE_SECONDS + 1)

    assert push() == []


def test_a_mention_in_a_hidden_group_is_not_pushed(device_of, push, later, site_store, alice, bob, carol):
    device_of(carol)
    number = site_store.articles.post(alice.pk, "alice", "About snakes", "https://example.org/s", ["python"]).id
    change(carol.pk, Kind.GROUP, "python", hidden=True)

    browser_of(bob).post(f"/articles/{number}/comments/", {"text": "@carol see this"})
    later.advance(SETTLE_SECONDS + 1)
    assert push() == []

    change(carol.pk, Kind.GROUP, "python", hidden=False)
    browser_of(bob).post(f"/articles/{number}/comments/", {"text": "@carol see that"})
    later.advance(SETTLE_SECONDS + 1)
    assert len(push()) == 1


def test_a_ban_is_pushed_to_members_who_want_moderator_actions(device_of, push, later, service, alice, bob, carol):
    wanting, _device = device_of(bob, "bob", kinds="moderation")
    device_of(alice, "alice")
    for banned in (alice, bob):
        ban(banned, BanScope.POSTING, "Enough", days=7, moderator=actor(carol))
    User.objects.filter(pk__in=(alice.pk, bob.pk)).update(ban_changed_at=later())
    later.advance(SETTLE_SECONDS + 1)

    ((path, body),) = push()

    assert path == "/bob"
    message = wanting.read(body)
    assert (message["title"], message["data"]) == ("Moderators made a decision about you.", "/inbox/")
    assert push() == []


def test_moderators_learn_what_waits_and_others_do_not(device_of, push, later, site_store, article, alice, bob):
    dora = member("dora", moderator=True)
    moderator, _device = device_of(dora, "moderator")
    device_of(alice, "member")
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    later.advance(SETTLE_SECONDS + 2)

    ((path, body),) = push()

    assert path == "/moderator"
    message = moderator.read(body)
    assert (message["title"], message["tag"]) == ("1 new item to review on Article Voting", "waiting")
    assert message["body"] == "“A title” is flagged: Spam"
    assert message["data"].startswith("/moderation/queue/#flagged-")
    assert push() == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_is_gone_is_deleted(device_of, push, said, service, alice, status):
    device_of(alice)
    service.answers = [(status, {})]
    said()

    assert push() == []

    assert not Device.objects.exists()
    assert not DBTaskResult.objects.exists()


@pytest.mark.parametrize("status", [429, 500, 302])
def test_what_a_service_does_not_take_is_sent_with_what_came_later(device_of, push, said, service, alice, status):
    browser, device = device_of(alice)
    service.answers = [(status, {})]
    said("One")
    assert push() == []
    said("Two")
    assert push() == [], "a device that fails has one task"
    assert DBTaskResult.objects.count() == 1

    pass_by(timedelta(minutes=1))
    ((_path, body),) = push()

    assert browser.read(body)["title"] == "2 new notices on Article Voting"
    device.refresh_from_db()
    assert device.failing_since is None
    assert not DBTaskResult.objects.exists()


def in_two_hours():
    return format_datetime(timezone.now() + timedelta(hours=2), usegmt=True)


@pytest.mark.parametrize("wish", ["7200", in_two_hours])
def test_a_service_that_asks_for_a_pause_gets_it(device_of, push, said, service, alice, wish):
    device_of(alice)
    service.answers = [(429, {"Retry-After": wish if isinstance(wish, str) else wish()})]
    said()
    push()

    pass_by(timedelta(hours=1))
    assert push() == []
    pass_by(timedelta(hours=1, minutes=1))
    assert len(push()) == 1


def test_a_device_that_fails_for_a_day_is_forgotten(device_of, push, said, service, alice, caplog):
    _browser, device = device_of(alice)
    service.answers = [(500, {})] * 3
    said()
    push()
    pass_by(timedelta(hours=23))
    push()
    assert Device.objects.exists()

    pass_by(timedelta(hours=2 + 23))
    push()

    assert not Device.objects.exists()
    assert not DBTaskResult.objects.exists()
    assert f"device {device.pk} has failed for a day and is forgotten: 500" in caplog.text


def test_slow_services_and_private_addresses_are_failures(device_of, push, said, service, alice, monkeypatch):
    _browser, device = device_of(alice)
    monkeypatch.setattr(posting, "SECONDS", 0.3)
    service.hangs = True
    said()
    assert push() == []
    service.hangs, service.addresses = False, ["127.0.0.1"]
    pass_by(timedelta(minutes=1))
    assert push() == []
    device.refresh_from_db()
    assert device.failing_since

    service.addresses = ["93.184.216.34"]
    pass_by(timedelta(minutes=2))

    assert len(push()) == 1


@pytest.mark.deep
def test_a_slow_service_delays_one_member(device_of, push, said, service, site_store, alice, carol, monkeypatch):
    for name in ("one", "two", "three"):
        device_of(alice, name)
    device_of(carol, "carol")
    said("Hello @carol", mentioned=[carol.pk])
    monkeypatch.setattr(posting, "SLOW_SECONDS", 0.2)
    service.seconds = 0.25

    assert [path for path, _body in push()] == ["/one", "/carol"]
    assert Device.objects.exclude(failing_since=None).count() == 2, "they get no further task"

    service.seconds = 0.0
    posting._resting.clear()  # the pause has passed
    pass_by(timedelta(minutes=1))
    assert sorted(path for path, _body in push()) == ["/three", "/two"]
    assert not Device.objects.exclude(failing_since=None).exists()


@pytest.mark.parametrize(("scopes", "expected"), [(("vote",), []), (("vote", "moderate"), ["/program"])])
def test_a_program_without_the_moderators_scope_learns_nothing_of_the_queue(
    service, push, later, site_store, article, bob, scopes, expected
):
    token, _plain = Token.objects.issue(member("dora", moderator=True), "phone", scopes=scopes)
    flat = protocol.clean_subscription(FakeBrowser("program").subscription)
    Device.objects.add(token.user, flat, token=token, session=None)
    Choice.objects.update(pushed_until=0)
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    later.advance(SETTLE_SECONDS + 2)

    assert [path for path, _body in push()] == expected


def log_out(login, alice):
    login.post("/logout/")


def log_out_elsewhere(login, alice):
    sessions.end_others(alice.pk, "")


def expire(login, alice):
    session = login.session
    session.set_expiry(-1)
    session.save()


def change_password(login, alice):
    alice.set_password("another one")
    alice.save()


@pytest.mark.parametrize("end", [log_out, log_out_elsewhere, expire, change_password])
@pytest.mark.parametrize("is_queued", [False, True])
def test_a_device_that_is_logged_out_gets_nothing(service, push, said, site_store, alice, end, is_queued):
    login = browser_of(alice)
    login.post("/settings/push/device/", {"subscription": json.dumps(FakeBrowser().subscription)})
    assert Device.objects.exists()
    Choice.objects.update(pushed_until=0)
    said()
    if is_queued:
        sending.send_due(site_store, 60)

    end(login, alice)

    assert push() == []
    assert not Device.objects.exists()


def test_a_login_whose_password_the_member_changes_there_keeps_its_device(service, push, said, alice):
    login = browser_of(alice)
    login.post("/settings/push/device/", {"subscription": json.dumps(FakeBrowser().subscription)})
    Choice.objects.update(pushed_until=0)
    new = "a quite different one 7"
    typed = {"old_password": password_of("alice"), "new_password1": new, "new_password2": new}
    assert login.post("/password/", typed).status_code == 302
    said()

    assert len(push()) == 1


def test_a_device_ends_with_its_token(service, push, said, alice):
    token, _plain = Token.objects.issue(alice, "phone")
    flat = protocol.clean_subscription(FakeBrowser().subscription)
    Device.objects.add(alice, flat, token=token, session=None)
    Choice.objects.update(pushed_until=0)
    said()
    assert len(push()) == 1
    said("More")
    Token.objects.update(expires_at=timezone.now())

    assert push() == []
    assert not Device.objects.exists()


def test_the_device_of_a_program_stays_between_renewals_of_its_token(alice, monkeypatch):
    monkeypatch.setattr(Token, "is_renewed", property(lambda token: token.name == "renewed"))
    ended = timezone.now() - timedelta(hours=1)
    tokens = [Token.objects.issue(alice, name, expires_at=ended)[0] for name in ("renewed", "typed")]
    devices = [Device.objects.create(user=alice, token=one, digest=one.name, secret="x") for one in tokens]

    assert [one.is_logged_in for one in devices] == [True, False]


def test_with_another_secret_key_devices_are_forgotten(device_of, push, said, alice, settings):
    device_of(alice)
    said()
    settings.SECRET_KEY = "another secret key of the same site"

    assert push() == []
    assert not Device.objects.exists()


def test_a_claim_and_its_tasks_are_one_transaction(device_of, push, said, site_store, alice, monkeypatch):
    device_of(alice)
    said()

    def dies(*_):
        raise SystemExit

    with monkeypatch.context() as broken:
        broken.setattr(sending, "add", dies)
        with pytest.raises(SystemExit):
            sending.send_due(site_store, 60)
    sending._Round.last = 0  # another process

    assert len(push()) == 1


def test_housekeeping_pushes_every_ten_seconds_between_rounds(device_of, site_store, settings):
    waits, steps = [], []

    class Stopping:
        def is_set(self):
            return len(waits) >= 3

        def wait(self, seconds):
            waits.append(seconds)

    def open_repository():
        return site_store

    for pushes in (True, False):
        settings.WEB_PUSH = pushes
        waits.clear()
        housekeeping.keep(open_repository, 600, Stopping(), lambda results: steps.append(len(results)))
        assert all(seconds <= 10 for seconds in waits) is pushes

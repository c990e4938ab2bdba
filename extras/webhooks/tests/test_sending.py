"""What webhooks send, and what follows when a receiver refuses it."""

import json
from datetime import timedelta

import pytest
import standardwebhooks
from django.core import mail
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from accounts import account_deletion
from accounts.models import BanScope
from articles import housekeeping
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.web.groups import set_visibility
from extras.webhooks import events, sending
from extras.webhooks.events import EVENTS
from extras.webhooks.models import LOGGED, MOST_WAITING, Delivery, Webhook
from moderation.bans import ban
from tasks import OUT, work_off
from tests.factories import actor, comment_on, post, post_as, vote
from tests.store_state import write_acts

pytestmark = pytest.mark.django_db

EVERYTHING = ",".join(EVENTS)


def said(sent):
    return [json.loads(body) for _path, _headers, body in sent]


def pass_by(pause):
    """Let time pass for waiting tasks, deliveries, and failing webhooks."""
    for row in DBTaskResult.objects.all():
        row.enqueued_at, row.run_after = row.enqueued_at - pause, row.run_after - pause
        row.save()
    for one in Webhook.objects.exclude(failing_since=None):
        Webhook.objects.filter(pk=one.pk).update(failing_since=one.failing_since - pause)
    for one in Delivery.objects.all():
        Delivery.objects.filter(pk=one.pk).update(added_at=one.added_at - pause)


def test_a_posted_article_is_told_once_with_a_signature(hook, tell, site_store, alice):
    webhook = hook()
    article = post_as(site_store, alice, "A title", "https://example.org/a").id

    ((path, headers, body),) = tell()

    assert path == "/hook"
    told = json.loads(body)
    assert (told["type"], told["line"]) == ("article.posted", "alice posted “A title”")
    assert told["address"] == f"https://news.example.org/articles/{article}/"
    assert (told["data"]["article"]["id"], told["data"]["article"]["title"]) == (article, "A title")
    key = "whsec_" + webhook.read_secret().keys[0]
    assert standardwebhooks.Webhook(key).verify(body, headers) == told
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(key).verify(body + b" ", headers)
    vote(site_store, article)
    assert tell() == []


def test_each_kind_of_event_is_told(hook, tell, site_store, alice, bob, carol, python, later):
    hook(events=EVERYTHING, points=2)
    later.advance(1)
    by = actor(carol)
    article = post_as(site_store, alice, "A title", "https://example.org/a", ["python"]).id
    comment = comment_on(site_store, article, "It is *good*", bob.pk)
    vote(site_store, article)
    site_store.groups.create("redis", "Redis", by)
    ban(bob, BanScope.BOTH, "Spam", days=7, moderator=by)
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    later.advance(10)

    first = said(tell())
    site_store.articles.remove(article, by, "It is spam.")
    second = said(tell())

    lines = {one["type"]: one["line"] for one in first}
    assert lines == {
        "article.posted": "alice posted “A title”",
        "article.points": "“A title” has 2 points",
        "comment.posted": "bob commented on “A title”: It is good",
        "group.changed": "Group created: Redis",
        "member.banned": "Member banned: bob – Spam",
        "queue.waiting": "“A title” is flagged: Spam",
    }
    (removed,) = second
    assert (removed["type"], removed["line"]) == ("article.removed", "Article removed: A title – It is spam.")
    assert {one["data"]["comment"]["id"] for one in first if one["type"] == "comment.posted"} == {comment}


def test_housekeeping_says_how_many_deliveries_it_queued(hook, receiver, site_store, alice, settings):
    settings.STORE_OPENER = "contextlib.nullcontext"
    hook()
    post_as(site_store, alice, "A title", "https://example.org/a")

    done = {one.step: one.result for one in housekeeping.run(site_store)}

    assert done["webhooks"] == "1 delivery queued"


def test_an_act_that_this_version_does_not_know_is_no_event(site_store, article):
    write_acts(site_store, (article, "pin", "A title"))

    found = events.find(site_store, events.Position((0, ""), 0, 0)).events
    assert {one.kind for one in found} == {"article.posted", "article.points"}


def test_a_webhook_is_about_its_groups_and_about_closed_ones_only_by_name(
    hook, tell, site_store, carol, alice, django_capture_on_commit_callbacks
):
    for slug in ("python", "secret"):
        site_store.groups.create(slug, slug.title(), actor(carol))
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("secret", actor(carol), "?", is_closed=True)
    hook(path="/all")
    hook(path="/python", groups="python")
    hook(path="/secret", groups="secret")
    for title, groups in (("P", ["python"]), ("S", ["secret"]), ("Both", ["python", "secret"]), ("N", [])):
        post_as(site_store, alice, title, f"https://example.org/{title}", groups)

    found = {}
    for path, _headers, body in tell():
        found.setdefault(path, set()).add(json.loads(body)["data"]["article"]["title"])

    assert found == {"/all": {"P", "N"}, "/python": {"P"}, "/secret": {"S", "Both"}}


def test_members_are_told_of_a_queue_if_they_decide_it(hook, tell, site_store, article, alice, bob, carol, later):
    hook(bob, path="/bob", events="queue.waiting")
    hook(carol, path="/carol", events="queue.waiting")
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    later.advance(10)

    assert {path for path, *_rest in tell()} == {"/carol"}


def test_the_line_is_in_the_language_of_the_member_who_added_the_webhook(hook, tell, site_store, alice):
    hook(form="ntfy", language="zh-hans")
    post(site_store, 1, poster=alice.pk)

    ((_path, _headers, body),) = tell()

    assert body.decode() == "alice 发布了《Article 1》"


def test_a_failure_is_tried_again_with_the_same_id_until_it_is_taken(hook, tell, receiver, site_store, alice):
    webhook = hook()
    post_as(site_store, alice, "A title", "https://example.org/a")
    receiver.answers = [(500, {}), (302, {"Location": "https://push.example.org/b"})]

    ((_path, first, _body),) = tell()
    pass_by(timedelta(minutes=1))
    work_off(OUT)
    pass_by(timedelta(minutes=5))
    work_off(OUT)

    assert [headers["webhook-id"] for _path, headers, _body in receiver.taken] == [first["webhook-id"]] * 3
    delivery = webhook.deliveries.get()
    webhook.refresh_from_db()
    assert (delivery.state, delivery.status, webhook.failing_since) == (Delivery.DONE, 200, None)


def test_a_receiver_that_is_gone_is_switched_off_and_mailed_about(hook, tell, receiver, site_store, alice, bob):
    bob.verified_email = bob.email = "bob@example.org"
    bob.save()
    webhook = hook(bob)
    receiver.answers = [(410, {})]
    for number in (1, 2):
        post(site_store, number, poster=alice.pk)

    tell()
    work_off("mail")

    webhook.refresh_from_db()
    assert (webhook.off_because, len(receiver.taken)) == ("gone", 1)
    (message,) = mail.outbox
    assert (message.to, f"/settings/webhooks/{webhook.pk}/" in message.body) == (["bob@example.org"], True)
    assert {one.state for one in webhook.deliveries.all()} == {Delivery.FAILED}
    post(site_store, 3, poster=alice.pk)
    assert tell() == []


def test_a_receiver_that_fails_for_a_day_is_switched_off(hook, tell, receiver, site_store, alice):
    webhook = hook()
    post(site_store, 1, poster=alice.pk)
    receiver.answers = [(500, {})] * 99

    tell()
    for _hour in range(40):
        pass_by(timedelta(hours=1))
        work_off(OUT)

    webhook.refresh_from_db()
    assert (webhook.off_because, 4 < len(receiver.taken) < 20) == ("failing", True)
    assert not DBTaskResult.objects.exists()


def test_what_is_refused_holds_up_no_others_and_a_webhook_has_one_task(hook, tell, receiver, site_store, alice):
    webhook = hook()
    receiver.answers = [(400, {})]
    for number in (1, 2, 3):
        post(site_store, number, poster=alice.pk)

    assert len(tell()) == 1
    tell()
    assert DBTaskResult.objects.count() == 1
    pass_by(timedelta(minutes=1))
    work_off(OUT)

    told = [json.loads(body)["data"]["article"]["id"] for _path, _headers, body in receiver.taken]
    assert told == [1, 2, 3, 1]
    assert {one.state for one in webhook.deliveries.all()} == {Delivery.DONE}


def test_what_waits_without_a_task_is_taken_up(hook, tell, receiver, site_store, alice):
    hook()
    post(site_store, 1, poster=alice.pk)
    sending.announce(site_store, 60)
    DBTaskResult.objects.all().delete()

    assert len(tell()) == 1


@pytest.mark.deep
def test_a_slow_receiver_delays_the_webhooks_of_its_member(hook, tell, receiver, site_store, alice, bob):
    hook(bob, path="/one")
    hook(bob, path="/two")
    hook(alice, path="/other")
    receiver.seconds = 1.05
    post(site_store, 1, poster=alice.pk)

    assert {path for path, *_rest in tell()} == {"/one", "/other"}


def test_private_addresses_are_reached_if_the_host_is_named(hook, tell, receiver, site_store, alice, settings):
    receiver.addresses = ["10.0.0.7"]
    webhook = hook()
    post(site_store, 1, poster=alice.pk)
    assert tell() == []
    assert webhook.deliveries.get().problem == "not-public"

    settings.WEBHOOK_HOSTS = frozenset({"push.example.org"})
    pass_by(timedelta(minutes=1))
    work_off(OUT)

    assert receiver.connected == ["10.0.0.7"]
    assert webhook.deliveries.get().state == Delivery.DONE


def test_a_new_key_signs_beside_the_old_one_for_a_day(hook, tell, site_store, alice):
    webhook = hook()
    old = webhook.read_secret().keys[0]
    webhook.rotate()
    new = webhook.read_secret().keys[0]
    post(site_store, 1, poster=alice.pk)

    ((_path, headers, body),) = tell()

    assert old != new
    for key in (old, new):
        assert standardwebhooks.Webhook("whsec_" + key).verify(body, headers)
    Webhook.objects.filter(pk=webhook.pk).update(rotated_at=timezone.now() - timedelta(days=2))
    post(site_store, 2, poster=alice.pk)
    ((_path, headers, body),) = tell()
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook("whsec_" + old).verify(body, headers)


def test_the_log_keeps_the_last_deliveries_and_sends_one_again(hook, tell, receiver, site_store, alice):
    webhook = hook()
    for number in range(1, LOGGED + 4):
        post(site_store, number, poster=alice.pk)
    tell()
    tell()
    sending.test(webhook)
    work_off(OUT)

    kept = webhook.deliveries.exclude(body="")
    before = len(receiver.taken)
    assert sending.replay(kept.last())
    work_off(OUT)

    assert kept.count() <= LOGGED + 1
    assert len(receiver.taken) == before + 1
    assert not sending.replay(webhook.deliveries.last())


def test_a_waiting_delivery_keeps_no_text_and_sends_it_as_it_is_then(hook, tell, receiver, site_store, alice, bob):
    webhook = hook(events="article.posted,comment.posted")
    article = post_as(site_store, alice, "A title", "", text="𠀀" * 20_000).id
    comment = comment_on(site_store, article, "𠀁" * 20_000, bob.pk)
    receiver.answers = [(500, {})]
    assert len(tell()) == 1

    assert sum(len(one.body.encode()) for one in webhook.deliveries.all()) < 4_000
    site_store.comments.edit(comment, bob.pk, "Shorter")
    pass_by(timedelta(minutes=1))
    work_off(OUT)
    data = {one["type"]: one["data"] for one in said(receiver.taken[1:])}
    assert data["article.posted"]["article"]["text"] == "𠀀" * 20_000
    assert data["comment.posted"]["comment"]["text"] == "Shorter"
    ids = [headers["webhook-id"] for _path, headers, _body in receiver.taken]
    assert ids[0] in ids[1:]


@pytest.mark.parametrize("how", ["article removed", "comment removed", "comment deleted", "group closed"])
def test_what_others_do_not_see_any_longer_is_not_sent(
    hook, tell, receiver, site_store, alice, bob, carol, python, how, django_capture_on_commit_callbacks
):
    webhook = hook(events="comment.posted")
    article = post_as(site_store, alice, "A title", "https://example.org/a", ["python"]).id
    comment = comment_on(site_store, article, "A secret", bob.pk)
    receiver.answers = [(500, {})]
    assert len(tell()) == 1

    if how == "article removed":
        site_store.articles.remove(article, actor(carol), "Spam")
    elif how == "comment removed":
        site_store.comments.remove(comment, actor(carol), "Spam")
    elif how == "comment deleted":
        site_store.comments.delete(comment, bob.pk)
    else:
        with django_capture_on_commit_callbacks(execute=True):
            set_visibility("python", actor(carol), "?", is_closed=True)
    pass_by(timedelta(minutes=1))
    work_off(OUT)

    assert len(receiver.taken) == 1
    assert [(one.state, one.problem) for one in webhook.deliveries.all()] == [(Delivery.FAILED, "removed")]


def test_what_waits_is_bounded(hook, tell, site_store, alice, monkeypatch):
    monkeypatch.setattr(sending, "MOST_WAITING", 2)
    webhook = hook()
    for number in (1, 2, 3):
        post(site_store, number, poster=alice.pk)

    assert len(tell()) == 2

    assert [one.problem for one in webhook.deliveries.filter(state=Delivery.FAILED)] == ["full"]
    assert MOST_WAITING == 1000


def test_a_process_that_dies_between_two_steps_loses_nothing(hook, tell, site_store, alice, monkeypatch):
    hook()
    post(site_store, 1, poster=alice.pk)

    def die(_position):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sending, "_save_position", die)
        with pytest.raises(KeyboardInterrupt):
            sending.announce(site_store, 60)

    assert not Delivery.objects.exists()
    assert len(tell()) == 1


def test_webhooks_end_with_their_member(hook, tell, site_store, alice, bob, settings):
    hook(bob)
    post(site_store, 1, poster=alice.pk)
    sending.announce(site_store, 60)
    account_deletion.begin(bob.pk)

    assert tell() == []
    assert not Webhook.objects.exists()


def test_nothing_is_told_while_members_may_not_have_webhooks(hook, tell, site_store, alice, bob, settings):
    hook(bob)
    settings.WEBHOOKS = "site"
    post(site_store, 1, poster=alice.pk)

    assert tell() == []

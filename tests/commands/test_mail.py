"""Mail about notices, as housekeeping sends it, to a real mail server too."""

import mailbox
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from accounts.forms import NOTICE_LABELS
from accounts.models import AboutFlag, Ban, BanScope, User, WaitingAccount
from articles import housekeeping, mailing
from articles.domain.comments import article_of, root_of
from articles.domain.flags import FlagReason
from articles.domain.limits import Rate
from articles.domain.notices import NoticeKind
from articles.web import wiring
from moderation import mail as moderators_mail
from moderation.bans import ban, lift_ban
from tasks import LONGEST, tidy
from tests.cast import MODERATOR
from tests.clock import Clock
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.mail_backends import wait_until_sent
from tests.mails import mail_server
from tests.site_process import free_port
from tests.store_state import set_clock


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """The port of a mail server, and the folder of the mails that it accepts."""
    port, folder = free_port(), tmp_path_factory.mktemp("mail") / "box"
    with mail_server(port, folder):
        yield port, folder


@pytest.fixture
def received(server, settings) -> Callable[[], list[EmailMessage]]:
    """Let the site send to the mail server; return a function that returns what it has accepted since."""
    port, folder = server
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    box = mailbox.Maildir(str(folder))
    before = set(box.keys())

    def found() -> list[EmailMessage]:
        return [message_from_bytes(box.get_bytes(key), policy=default) for key in set(box.keys()) - before]

    return found


@pytest.fixture
def later(site_store, monkeypatch, settings) -> Clock:
    """The clock of the site, whose address is news.example.org. Housekeeping begins with the first member."""
    settings.SITE_URL = "https://news.example.org"
    monkeypatch.setattr(mailing._Round, "last", 0)
    clock = Clock()
    set_clock(site_store, clock)
    return clock


def mailed(user: User, *kinds: str, **facts: object) -> User:
    """Let a member with a verified address have these kinds mailed, by default all."""
    user.email = user.verified_email = f"{user.username}@example.org"
    user.mail_kinds = ",".join(kinds or NOTICE_LABELS)
    for name, value in facts.items():
        setattr(user, name, value)
    user.save()
    return user


def send(site_store, send_due=mailing.send_due) -> int:
    number = send_due(site_store, 60)
    wait_until_sent()
    return number


def recipients() -> list[str]:
    return [address for message in mail.outbox for address in message.to]


def test_a_mail_server_gets_each_notice_once_as_text_and_html(site_store, article, later, received, alice, bob):
    mailed(alice)
    comment = comment_on(site_store, article, "I *agree* & <b>disagree</b>" + "!" * 300, bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)

    assert (send(site_store), send(site_store)) == (1, 0)

    (message,) = received()
    text, html = (message.get_body([kind]).get_content() for kind in ("plain", "html"))
    assert (message["To"], message["Subject"]) == ("alice@example.org", "bob commented on your article A title")
    assert "bob commented on your article A title" in text
    assert re.search("^I agree & <b>disagree</b>!+…$", text, re.MULTILINE)
    assert f"https://news.example.org/comments/{comment}/" in text
    assert f'href="https://news.example.org/articles/{article}/"' in html
    assert "<b>" not in html
    assert 'href="/' not in html
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = re.fullmatch(
        r"<https://news\.example\.org(/unsubscribe/[^>]+/)>", message["List-Unsubscribe"].strip()
    )
    assert address is not None
    one_click = browser_of(strict=True).post(address[1], {"List-Unsubscribe": "One-Click"})
    assert one_click.status_code == 200
    alice.refresh_from_db()
    assert alice.mail_kinds == ""


def test_a_mail_survives_a_death_before_sending(site_store, article, later, received, alice, bob, monkeypatch):
    mailed(alice)
    comment_on(site_store, article, "Hello", bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)

    def dies(*_):
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(mailing, "draw_later", dies)
        with pytest.raises(SystemExit):
            send(site_store)
    mailing._Round.last = 0

    assert (send(site_store), send(site_store)) == (1, 0)
    assert len(received()) == 1


def test_a_mail_that_is_sent_again_has_the_same_id(site_store, article, later, received, alice, bob, monkeypatch):
    mailed(alice)
    comment_on(site_store, article, "Hello", bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)
    deliver = EmailMultiAlternatives.send

    def die_after(message, *args):
        deliver(message, *args)
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(EmailMultiAlternatives, "send", die_after)
        with pytest.raises(SystemExit):
            send(site_store)
    DBTaskResult.objects.update(started_at=timezone.now() - LONGEST - timedelta(seconds=1))
    tidy()
    wait_until_sent()

    one, other = received()
    assert one["Message-ID"] == other["Message-ID"]


def test_mails_wait_while_the_mail_server_is_away(site_store, article, later, received, alice, bob, settings):
    mailed(alice)
    comment_on(site_store, article, "Hello", bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1

    steps = {done.step: done for done in housekeeping.run(site_store)}
    assert steps["mail"].result == "1 mail queued"
    assert "ConnectionRefusedError" in steps["tasks"].error
    settings.EMAIL_PORT, mailing._Round.last = port, 0
    DBTaskResult.objects.update(run_after=timezone.now())
    steps = {done.step: done for done in housekeeping.run(site_store)}

    assert steps["tasks"].result == "1 task done"
    assert len(received()) == 1


def test_two_processes_do_not_send_the_same_mail(site_store, article, later, alice, bob):
    mailed(alice)
    comment_on(site_store, article, "Hello", bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)
    (due,) = mailing._due(site_store, float("inf"))

    assert [mailing._mail_of(due).claim(), mailing._mail_of(due).claim()] == [True, False]


def test_members_get_only_what_they_asked_for_at_a_verified_address(site_store, article, later, alice, bob, carol):
    for user in (alice, bob, carol):
        site_store.comments.post(article, 7, "eve", f"@{user.username}", mentioned=[user.pk])
    mailed(alice, "moderation")
    mailed(bob, verified_email="former@example.org")
    mailed(carol, "mention")
    site_store.articles.remove(post_as(site_store, alice, "Other", "https://example.org/o").id, MODERATOR, "Spam")
    later.advance(mailing.SETTLE_SECONDS - 1)

    assert send(site_store) == 0
    later.advance(2)
    assert send(site_store) == 2
    assert sorted(recipients()) == ["alice@example.org", "carol@example.org"]
    assert ["removed Other" in message.body for message in mail.outbox] == [True, False]


def test_a_ban_and_its_end_are_mailed_once_to_those_who_want_it(site_store, article, later, alice, bob, carol):
    for user in (mailed(alice, "mention"), mailed(bob, "moderation", "mention")):
        ban(user, BanScope.POSTING, "Nothing but <spam>", days=7, moderator=actor(carol))
    later.now = time.time()
    later.advance(mailing.SETTLE_SECONDS - 5)
    assert send(site_store) == 0
    site_store.comments.post(article, 7, "eve", "@bob", mentioned=[bob.pk])
    later.advance(10)

    assert (send(site_store), send(site_store)) == (1, 0)
    (message,) = mail.outbox
    assert message.to == ["bob@example.org"]
    assert message.subject.startswith("Banned from: Posting and commenting, until")
    assert f"{message.subject}." in message.body
    assert "Reason: Nothing but <spam>" in message.body
    assert "https://news.example.org/appeal/" in message.body
    html = message.alternatives[0].content
    assert "&lt;spam&gt;" in html
    assert 'href="https://news.example.org/appeal/"' in html

    later.advance(mailing.SETTLE_SECONDS)
    assert send(site_store) == 1
    assert "mentioned you" in mail.outbox[-1].body
    ban(bob, BanScope.VOTING, "A ring", days=0, moderator=actor(carol))
    Ban.objects.filter(scope="voting").update(begins_at=datetime.fromtimestamp(later(), UTC))
    User.objects.filter(pk=bob.pk).update(ban_changed_at=later())
    later.advance(mailing.SETTLE_SECONDS + 1)
    assert (send(site_store), send(site_store)) == (1, 0)
    assert "Banned from: Voting, without end." in mail.outbox[-1].body
    assert "spam" not in mail.outbox[-1].body
    lift_ban(bob.bans.get(scope="posting"), "It was wrong", actor(carol))
    Ban.objects.filter(scope="posting").update(lifted_at=datetime.fromtimestamp(later(), UTC))
    User.objects.filter(pk=bob.pk).update(ban_changed_at=later())
    later.advance(mailing.SETTLE_SECONDS + 1)
    assert (send(site_store), send(site_store)) == (1, 0)
    assert "The ban was lifted." in mail.outbox[-1].body
    assert "ring" not in mail.outbox[-1].body


def test_what_was_read_on_the_site_and_what_came_before_is_not_mailed(site_store, article, later, alice, bob):
    comment_on(site_store, article, "Hello", bob.pk)
    mailed(alice, inbox_read_until=later())
    later.advance(mailing.SETTLE_SECONDS + 1)
    assert send(site_store) == 0
    mailed(alice, inbox_read_until=0, mailed_until=later())
    assert send(site_store) == 0


def test_a_run_sends_a_bounded_number_and_the_next_continues(site_store, later, alice, bob, carol, monkeypatch):
    monkeypatch.setattr(mailing, "MAILS_PER_RUN", 2)
    for user in (alice, bob, carol):
        mailed(user)
        posted = post_as(site_store, user, f"By {user.username}", f"https://example.org/{user.pk}").id
        site_store.comments.post(posted, 7, "eve", "Hello")
    later.advance(mailing.SETTLE_SECONDS + 1)

    assert [send(site_store), send(site_store), send(site_store)] == [2, 1, 0]
    assert recipients() == [f"{name}@example.org" for name in ("alice", "bob", "carol")]


def test_a_mail_is_in_the_members_language(site_store, article, later, alice, bob):
    mailed(alice, language="zh-hans")
    comment_on(site_store, article, "你好", bob.pk)
    later.advance(mailing.SETTLE_SECONDS + 1)

    assert send(site_store) == 1
    assert "bob 评论了你的文章《A title》" in mail.outbox[0].body


def gone(site_store, what: str, comment: int, bob: User) -> None:
    """Take away what a notice about a comment by bob is about."""
    match what:
        case "deleted":
            site_store.comments.delete(comment, bob.pk)
        case "removed":
            site_store.comments.remove(comment, MODERATOR, "Spam")
        case "removed with its article":
            site_store.articles.remove(article_of(comment), MODERATOR, "Spam")


@pytest.mark.parametrize("what", ["deleted", "removed", "removed with its article"])
def test_what_is_gone_by_the_time_of_sending_is_left_out(site_store, article, later, alice, bob, carol, what):
    mailed(alice, "reply", "mention")
    other = post_as(site_store, carol, "Other", "https://example.org/o").id
    comments = [
        comment_on(site_store, one, "Hidden @alice", bob.pk, mentioned=[alice.pk]) for one in (article, other)
    ]
    later.advance(mailing.SETTLE_SECONDS + 1)
    assert mailing.send_due(site_store, 60) == 1  # the mail waits for the mail server

    gone(site_store, what, comments[0], bob)
    waiting = list(DBTaskResult.objects.all())
    wait_until_sent()

    (message,) = mail.outbox
    assert message.subject == "bob mentioned you in a comment on Other"
    assert f"/comments/{comments[1]}/" in message.body
    assert f"/comments/{comments[0]}/" not in message.body + message.alternatives[0].content

    gone(site_store, what, comments[1], bob)
    DBTaskResult.objects.bulk_create(waiting)
    wait_until_sent()
    assert len(mail.outbox) == 1, "nothing is left to say"


def test_a_mail_above_the_limit_of_its_address_waits_and_comes_with_what_is_new(
    site_store, article, limits_clock, alice, bob, limits, monkeypatch
):
    monkeypatch.setattr(mailing._Round, "last", 0)
    limits(mails=Rate(1, 86_400))
    mailed(alice, "reply")
    store = wiring.repository()
    for number in range(14):
        store.comments.post(article, bob.pk, "bob", f"Comment {number}")
        limits_clock.advance(mailing.SETTLE_SECONDS + 1)
        mailing.send_due(store, 60)
    wait_until_sent()
    assert len(mail.outbox) == 12

    limits_clock.advance(7_200)
    assert mailing.send_due(store, 60) == 1
    wait_until_sent()
    assert mail.outbox[-1].subject == "2 new notices: bob commented on your article A title"


def test_a_digest_has_the_weeks_best_articles_of_followed_groups(site_store, later, received, alice, bob, carol):
    for slug in ("python", "redis", "java"):
        site_store.groups.create(slug, slug.title())
    post_as(site_store, bob, "Old", "https://example.org/old", ["python"])
    later.advance(1)
    mailed(alice, digest=True, digested_at=later(), followed_groups="python,redis", hidden_groups="java")
    mailed(bob, digest=True, digested_at=later(), followed_groups="empty")
    mailed(carol, digest=False, followed_groups="python")
    later.advance(mailing.WEEK - 3600)
    for title, groups in {
        "Good": ["python"],
        "Else": [],
        "Hidden": ["python", "java"],
        "Better": ["redis"],
    }.items():
        post_as(site_store, bob, title, f"https://example.org/{title}", groups)
    assert mailing.send_digests(site_store, 60) == 0
    later.advance(3600)

    assert [send(site_store, mailing.send_digests) for _ in range(2)] == [1, 0]

    (message,) = received()
    text, html = (message.get_body([kind]).get_content() for kind in ("plain", "html"))
    best, *_others = re.findall("Good|Better|Old|Else|Hidden", text)
    assert message["Subject"] == f"This week on Article Voting: {best}"
    assert re.findall("Good|Better|Old|Else|Hidden", text) == re.findall("Good|Better|Old", html)[1:]
    assert sorted(re.findall("Good|Better|Old|Else|Hidden", text)) == ["Better", "Good"]
    address = re.fullmatch(r"<https://news\.example\.org(/\S+)>", message["List-Unsubscribe"].strip())
    assert address is not None
    browser_of(strict=True).post(address[1])
    alice.refresh_from_db()
    assert (alice.digest, alice.mail_kinds != "") == (False, True)


def test_every_kind_of_notice_can_be_mailed():
    assert tuple(NoticeKind) == tuple(NOTICE_LABELS)


def moderator_by_mail(user: User, often: str = "now", **facts: object) -> User:
    """Let a moderator with a verified address have mailed what waits, and no notices."""
    mailed(user, waiting_mail=often, **facts)
    User.objects.filter(pk=user.pk).update(mail_kinds="")
    return user


def send_waiting(site_store) -> int:
    return send(site_store, moderators_mail.send_waiting)


def flagged(site_store, article: int, member: User, reason: FlagReason = FlagReason.SPAM) -> None:
    site_store.flags.set(root_of(article), member.pk, reason)


@pytest.fixture
def waiting(site_store, article, later, alice, bob, mallory) -> str:
    """What waits: a flag on alice's article, her request, bob's appeal, a sign-up. Return its address."""
    other = post_as(site_store, alice, "Other", "https://example.org/o").id
    flagged(site_store, article, bob)
    flagged(site_store, other, alice, FlagReason.WITHDRAWAL)
    ban(bob, BanScope.VOTING, "A ring", days=0, moderator=actor(mallory))
    now = datetime.fromtimestamp(later(), UTC)
    Ban.objects.update(appeal="It was not me", appealed_at=now)
    WaitingAccount.objects.create(user=User.objects.create_user("newcomer", is_active=False), since=now)
    later.advance(moderators_mail.SETTLE_SECONDS + 1)
    return f"https://news.example.org/moderation/queue/#flagged-{root_of(article)}"


def test_a_flagged_profile_is_mailed_to_other_moderators(site_store, later, received, alice, bob, carol):
    moderator_by_mail(carol)
    now = datetime.fromtimestamp(later(), UTC)
    for flagger, flagged in ((bob, alice), (carol, alice), (carol, bob), (bob, carol)):
        AboutFlag.objects.create(member=flagged, flagger=flagger, reason="spam", set_at=now)
    later.advance(moderators_mail.SETTLE_SECONDS + 1)

    assert (send_waiting(site_store), send_waiting(site_store)) == (1, 0)

    text = received()[0].get_body(["plain"]).get_content()
    assert "The profile of alice is flagged: Spam\nhttps://news.example.org/users/alice/about/" in text
    assert "profile of bob" not in text
    assert "profile of carol" not in text


def test_what_waits_is_mailed_once_to_a_moderator_with_a_link_to_each_page(site_store, waiting, received, carol):
    moderator_by_mail(carol)

    assert (send_waiting(site_store), send_waiting(site_store)) == (1, 0)

    (message,) = received()
    text, html = (message.get_body([kind]).get_content() for kind in ("plain", "html"))
    assert message["Subject"] == "4 new items to review: bob appeals against a ban."
    assert "“A title” is flagged: Spam\n" + waiting in text
    assert "The poster of “Other” asks to withdraw it." in text
    assert (
        f"bob appeals against a ban.\nhttps://news.example.org/moderation/queue/#appeal-{Ban.objects.get().pk}"
        in text
    )
    assert "newcomer signed up and waits for approval.\nhttps://news.example.org/moderation/members/" in text
    assert f'href="{waiting}"' in html
    address = re.fullmatch(r"<https://news\.example\.org(/\S+)>", message["List-Unsubscribe"].strip())
    assert address is not None
    browser_of(strict=True).post(address[1])
    carol.refresh_from_db()
    assert carol.waiting_mail == ""


def test_a_moderator_gets_only_what_that_moderator_can_decide(site_store, article, waiting, alice, bob, carol):
    for user, permission in ((alice, "remove_articles"), (bob, "ban_members")):
        user.user_permissions.add(Permission.objects.get(codename=permission))
        moderator_by_mail(user)
    moderator_by_mail(carol, verified_email="former@example.org")
    mailed(User.objects.create_user("reader"), waiting_mail="now")

    assert send_waiting(site_store) == 1
    (message,) = mail.outbox
    assert message.to == ["alice@example.org"]
    assert "newcomer signed up" in message.body
    assert "title" not in message.body
    assert " bob" not in " ".join(message.body.split())  # a link may have any letters


def test_a_moderator_hears_nothing_of_what_only_that_moderator_flagged(site_store, article, later, carol):
    moderator_by_mail(carol)
    flagged(site_store, article, carol)
    later.advance(moderators_mail.SETTLE_SECONDS + 1)

    assert send_waiting(site_store) == 0


@pytest.mark.parametrize(("often", "seconds"), [("now", 6), ("hourly", 3600), ("daily", 86400)])
def test_moderators_get_mail_as_often_as_they_chose_and_none_without_news(
    site_store, article, later, alice, bob, mallory, carol, often, seconds
):
    moderator_by_mail(carol, often)
    flagged(site_store, article, bob)
    later.advance(6)
    assert send_waiting(site_store) == 1
    later.advance(seconds - 6)
    site_store.flags.set(root_of(article), mallory.pk, FlagReason.OFF_TOPIC)
    flagged(site_store, post_as(site_store, alice, "Next", "https://example.org/n").id, bob)
    later.advance(5)
    assert send_waiting(site_store) == (seconds < 60)
    later.advance(1)
    assert send_waiting(site_store) == (seconds > 60)
    assert "A title" not in mail.outbox[-1].body
    later.advance(2 * seconds)
    assert send_waiting(site_store) == 0
    moderator_by_mail(member("dana", moderator=True))
    assert send_waiting(site_store) == 1
    assert (recipients()[-1], mail.outbox[-1].subject[:2]) == ("dana@example.org", "2 ")


def test_what_waits_that_was_decided_is_not_mailed(site_store, article, waiting, later, carol):
    moderator_by_mail(carol)
    site_store.flags.keep(root_of(article), later())
    WaitingAccount.objects.all().delete()
    Ban.objects.update(answer="No", answered_at=datetime.fromtimestamp(later(), UTC))

    assert send_waiting(site_store) == 1
    assert mail.outbox[0].subject == "The poster of “Other” asks to withdraw it."

"""Replies by mail: which are posted, which are refused with a mail, and which are dropped."""

import mailbox
import os
import re
import smtplib
import socket
import stat
from collections import Counter
from contextlib import suppress
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, default
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core import mail
from django.utils import timezone

from accounts.models import Ban, BanScope, HeldPost
from articles import housekeeping, mailing
from articles.domain.errors import StoreUnavailable
from articles.web.rules.matching import Definition, RuleAct, Subject
from extras.replies import posting as replies
from extras.replies.addresses import read_reply_address, reply_address
from extras.replies.mails import MARKER, MOST_BYTES
from extras.replies.tests.samples import AUTOMATIC, HOSTILE
from moderation.bans import ban
from moderation.rules import pages
from tasks import TaskQueueFull
from tests.cases import for_each
from tests.factories import actor, comment_on
from tests.mail_backends import wait_until_sent
from tests.mails import mail_server
from tests.site_process import free_port
from tests.store_state import client_of


@pytest.fixture
def box(settings, tmp_path) -> mailbox.Maildir:
    """The maildir of a site that takes replies by mail."""
    settings.SITE_URL = "https://news.example.org"
    settings.REPLY_ADDRESS, settings.DATA_DIR = "reply@news.example.org", tmp_path
    return mailbox.Maildir(str(tmp_path / "replies"))


@pytest.fixture
def comment(site_store, article, alice, bob, box) -> int:
    """A comment by bob on alice's article; her address is verified."""
    alice.email = alice.verified_email = "alice@example.org"
    alice.save()
    return comment_on(site_store, article, "What do you think?", bob.pk)


def letter(user, comment, text="I agree.", **headers: str) -> EmailMessage:
    """Return a mail by which a member replies to a comment."""
    found = EmailMessage(policy=SMTP)
    fields = {"From": f"Alice <{user.email}>", "To": reply_address(user.pk, comment), "Subject": "Re: A title"}
    fields |= {"Message-ID": "<1@example.org>"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    for name, value in fields.items():
        if value:
            found[name] = value
    found.set_content(text)
    return found


def put(box, *letters: EmailMessage | bytes) -> None:
    for one in letters:
        box.add(one if isinstance(one, bytes) else one.as_bytes())


def handled(*letters, box, **expected: int) -> None:
    put(box, *letters)
    assert dict(replies.post_due(60)) == expected
    assert len(box) == 0
    wait_until_sent()


def texts(store, article) -> list[str]:
    """Return the newest comments first."""
    return [one.text for one in store.comments.list_newest(since=0, article_id=article)]


def test_a_reply_by_mail_is_a_reply_on_the_site(site_store, article, alice, bob, comment, box):
    handled(letter(alice, comment, f"I *agree*.\n\nOn 11/28/26 10:00, X wrote:\n> {MARKER}"), box=box, posted=1)

    newest, _first = site_store.comments.list_newest(since=0, article_id=article)
    assert (newest.text, newest.author, newest.parent) == ("I *agree*.", alice.pk, comment)
    assert len(site_store.inbox.get_page(bob.pk).notices) == 1
    assert mail.outbox == []


def test_the_address_is_signed_for_one_member_and_one_comment(alice, bob, comment, box):
    address = reply_address(alice.pk, comment)
    assert len(address.partition("@")[0]) <= 64
    assert read_reply_address(f"x <{address.upper()}>, y@z.org") == (alice.pk, comment)
    what, _dash, _signature = address.partition("@")[0].rpartition("-")
    for wrong in (
        *(
            address[:n] + ("a" if address[n] != "a" else "b") + address[n + 1 :]
            for n in range(6, address.index("@"))
        ),
        address.replace("news.example.org", "example.org"),
        address.replace("reply+", "other+"),
        f"x{address}",
        f"{address}.evil.org",
        what + "@news.example.org",
    ):
        assert read_reply_address(wrong) is None, wrong
    assert len({address, reply_address(bob.pk, comment), reply_address(alice.pk, comment + 1)}) == 3


def test_without_the_setting_no_mail_has_an_address(alice, settings):
    assert settings.REPLY_ADDRESS == ""
    assert reply_address(alice.pk, 7) == ""
    (step,) = apps.get_app_config("replies").steps()
    assert step.work(None, 60) == 0


def test_an_address_is_found_in_any_header_that_names_recipients(site_store, article, alice, comment, box):
    address = reply_address(alice.pk, comment)
    for number, name in enumerate(("Cc", "Delivered_To", "X_Original_To", "Envelope_To")):
        headers = {"To": "list@example.org", name: address.upper(), "Message_ID": f"<{number}@x>"}
        handled(letter(alice, comment, f"By {name}", **headers), box=box, posted=1)
    assert len(texts(site_store, article)) == 5


def test_only_mail_from_the_member_s_own_address_is_posted(site_store, article, alice, bob, comment, box):
    for sender in (
        "bob@example.org", "alice@example.org.evil.org", "alice@example.org, bob@example.org",
        '"alice@example.org" <bob@example.org>', "",
    ):  # fmt: skip
        handled(letter(alice, comment, "Mine?", From=sender), box=box, refused=1)
        (answer,) = mail.outbox
        found = (answer.to, "another address than alice@example.org" in answer.body)
        assert found == (["alice@example.org"], True)
        assert "Mine?" not in answer.body, "another person may have written it"
        mail.outbox.clear()
    assert texts(site_store, article) == ["What do you think?"]
    handled(letter(alice, comment, From="ALICE@Example.ORG"), box=box, posted=1)


def test_what_is_to_no_valid_address_is_dropped_without_an_answer(site_store, article, alice, bob, comment, box):
    handled(letter(alice, comment, To="reply@news.example.org"), box=box, dropped=1)
    handled(letter(alice, comment, To=f"x{reply_address(alice.pk, comment)}"), box=box, dropped=1)
    handled(letter(alice, comment, To=reply_address(10**9, comment)), box=box, dropped=1)
    handled(b"", b"\n\n", b"\xff\x00", box=box, dropped=3)
    assert (texts(site_store, article), mail.outbox) == (["What do you think?"], [])


@pytest.mark.parametrize(
    "facts",
    [{"is_active": False}, {"left_at": timezone.now()}, {"verified_email": "old@example.org"}, {"email": ""}],
)
def test_former_members_and_those_without_a_verified_address_are_not_answered(alice, comment, box, facts):
    sent = letter(alice, comment)
    for name, value in facts.items():
        setattr(alice, name, value)
    alice.save()

    handled(sent, box=box, dropped=1)
    assert mail.outbox == []


def test_mail_of_programs_is_dropped_without_an_answer(site_store, article, alice, comment, box):
    for head in AUTOMATIC:
        name, _colon, value = head.partition(": ")
        sent = letter(alice, comment)
        del sent[name]
        sent[name] = value
        handled(sent, box=box, dropped=1)
    assert (texts(site_store, article), mail.outbox) == (["What do you think?"], [])


def test_mail_from_the_site_itself_is_dropped(alice, comment, box, settings):
    settings.EMAIL_FROM = "News <noreply@news.example.org>"
    for own in ("noreply@News.example.org", reply_address(alice.pk, comment)):
        alice.email = alice.verified_email = own
        alice.save()
        handled(letter(alice, comment), box=box, dropped=1)
    assert mail.outbox == []


def refused(alice, comment, box, text="I agree.", **headers):
    """Send a reply that is refused; return the answer."""
    handled(letter(alice, comment, text, **headers), box=box, refused=1)
    (answer,) = mail.outbox
    mail.outbox.clear()
    assert answer.to == ["alice@example.org"]
    return answer


def test_what_the_site_refuses_is_in_the_answer_with_the_text(site_store, article, alice, carol, comment, box):
    site_store.comments.lock(article, actor(carol), "Enough")

    answer = refused(alice, comment, box, "One\n\nTwo")

    assert answer.subject == "Your reply on Article Voting was not published"
    assert "This discussion is locked by a moderator." in answer.body
    assert "> One\n>\n> Two" in answer.body
    assert f"https://news.example.org/comments/{comment}/" in answer.body
    assert answer.extra_headers["Auto-Submitted"] == "auto-replied"
    assert answer.extra_headers["In-Reply-To"] == "<1@example.org>"
    assert "Reply-To" not in answer.extra_headers


def test_the_rules_of_the_site_apply(site_store, article, alice, carol, comment, box):
    site_store.comments.remove(comment, actor(carol), "Rude")
    assert "This comment was removed by a moderator." in refused(alice, comment, box).body
    site_store.comments.restore(comment, actor(carol), "Sorry")
    ban(alice, BanScope.POSTING, "Spam", days=7, moderator=actor(carol))
    answer = refused(alice, comment, box).body
    assert "You are banned from posting until" in answer
    assert "https://news.example.org/appeal/" in answer
    Ban.objects.all().delete()
    alice.refresh_from_db()
    alice.banned_from = ""
    alice.save()
    site_store.articles.remove(article, actor(carol), "Gone")
    assert "This article has been removed." in refused(alice, comment, box).body


def test_a_member_gets_five_answers_a_day(alice, comment, box, limits_clock):
    handled(*(letter(alice, comment, " ") for _ in range(7)), box=box, refused=7)
    assert len(mail.outbox) == 5


def rule(carol, act):
    written = pages.create(
        "Pills", Definition(Subject.COMMENT, act, words=("pills",), sentence="No pills"), actor(carol)
    )
    pages.try_out(written)
    pages.switch_on(written, 0, actor(carol))


def test_moderators_rules_hold_replies(site_store, article, alice, carol, comment, box):
    rule(carol, RuleAct.HOLD)
    handled(letter(alice, comment, "Buy pills"), letter(alice, comment, "Buy pills"), box=box, held=2)
    assert HeldPost.objects.get().text == "Buy pills"
    assert "A moderator has to approve this" in mail.outbox[0].body
    assert mail.outbox[0].subject == "Your reply on Article Voting is waiting for approval"


def test_an_answer_is_in_the_member_s_language(alice, comment, box):
    alice.language = "zh-hans"
    alice.save()

    answer = refused(alice, comment, box, " ")

    assert "alice" in answer.body
    assert not re.search("[a-z]{4,} [a-z]{4,} [a-z]{4,}", answer.body), answer.body


def test_headers_of_a_mail_cannot_forge_those_of_the_answer(alice, comment, box):
    raw = letter(alice, comment, " ").as_bytes()
    raw = raw.replace(b"<1@example.org>", b"<1@example.org>\r\n\tBcc: victim@example.org <2@x>")

    put(box, raw)
    assert dict(replies.post_due(60)) == {"refused": 1}
    wait_until_sent()
    assert "victim" not in mail.outbox[0].message().as_string()


def test_what_cannot_be_told_from_the_quotation_is_refused(site_store, article, alice, comment, box):
    for left in (
        "https://news.example.org/unsubscribe/secret/",
        f"Reply by mail: {reply_address(alice.pk, comment)}",
    ):
        assert "Delete it before you send" in refused(alice, comment, box, f"Mine\n{left}").body
    assert "contains no text besides" in refused(alice, comment, box, f"{MARKER} x").body
    assert texts(site_store, article) == ["What do you think?"]


def test_no_spelling_of_an_address_is_published(site_store, article, alice, comment, box):
    secret = reply_address(alice.pk, comment)
    for left in (
        "Van: X\nAan: ALICE@example.org\nOnderwerp: y", "<mailto:alice@example.org>",
        "ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｏｒｇ", "alice%40example.org &#97;lice@example.org",
        "alice@exam\nple.org", "ali\u200bce\\@example.org", secret.upper(), f"{secret[:12]}\n{secret[12:]}",
    ):  # fmt: skip
        assert "Delete it before you send" in refused(alice, comment, box, f"Mine\n{left}").body
    assert texts(site_store, article) == ["What do you think?"]


def test_mails_that_are_too_large_or_unreadable_are_refused(alice, comment, box):
    large = letter(alice, comment)
    large.add_attachment(b"x" * MOST_BYTES, maintype="image", subtype="png", filename="x.png")
    handled(large, box=box, refused=1)
    assert "larger than 100 KB" in mail.outbox[0].body
    picture = letter(alice, comment)
    picture.set_content(b"x", maintype="image", subtype="png")
    handled(picture, box=box, refused=1)
    assert "Its text cannot be read." in mail.outbox[1].body


@pytest.mark.deep
def test_hostile_mails_are_handled(site_store, article, alice, comment, box):
    address = reply_address(alice.pk, comment)
    head = f"From: alice@example.org\nTo: {address}\n"
    put(box, *((head + one).encode() for one in HOSTILE.values()))

    runs = -(-len(HOSTILE) // replies.MAILS_PER_RUN)
    done = sum((replies.post_due(600) for _ in range(runs)), Counter())

    assert (done.total(), len(box), done["failed"]) == (len(HOSTILE), 0, 0)


def test_a_mail_that_arrives_twice_is_posted_once(site_store, article, alice, comment, box):
    client = client_of(settings.STORE_URL)
    handled(letter(alice, comment), letter(alice, comment, Received="again"), box=box, posted=2)
    assert texts(site_store, article) == ["I agree.", "What do you think?"]
    assert max(map(client.ttl, client.scan_iter("*comment:sent:*"))) > 29 * 86400, "mails may wait for long"
    without = letter(alice, comment, Message_ID="")
    handled(without, without, box=box, posted=2)
    assert len(texts(site_store, article)) == 3


class Killed(BaseException):
    """The process is killed."""


def dying(monkeypatch, where: object, name: str, error: type[BaseException] = Killed, *, after: bool = False):
    """Let a function raise an error, `after` it has done its work or before."""
    real = getattr(where, name)

    def dies(*args, **options):
        if after:
            real(*args, **options)
        raise error

    monkeypatch.setattr(where, name, dies)


@for_each(
    "where, name, after",
    [
        (replies, "_read", True), (replies.comments, "post", False), (replies.comments, "post", True),
        (Path, "unlink", False), (Path, "unlink", True),
    ],
)  # fmt: skip
def test_no_reply_is_lost_or_doubled_if_it_dies(where, name, after, site_store, article, alice, comment, box):
    before = texts(site_store, article)
    put(box, letter(alice, comment, f"{name} {after}", Message_ID=f"<{name}{after}@x>"))
    with pytest.MonkeyPatch.context() as own:
        dying(own, where, name, after=after)
        with pytest.raises(Killed):
            replies.post_due(60)

    replies.post_due(60)

    assert texts(site_store, article) == [f"{name} {after}", *before]
    assert len(box) == 0


def test_a_mail_has_one_answer_when_the_process_dies(alice, comment, box, monkeypatch):
    put(box, letter(alice, comment, " "))
    for error, after in ((Killed, True), (Killed, False), (TaskQueueFull, False)):
        with pytest.MonkeyPatch.context() as own:
            dying(own, replies, "send_later", error, after=after)
            with pytest.raises(error):
                replies.post_due(60)
    assert len(box) == 1

    assert dict(replies.post_due(60)) == {"refused": 1}
    wait_until_sent()
    assert (len(mail.outbox), len(box)) == (1, 0)


def test_mails_wait_while_the_store_is_away(site_store, article, alice, comment, box, settings):
    put(box, letter(alice, comment))
    with pytest.MonkeyPatch.context() as own:
        dying(own, replies.comments, "post", StoreUnavailable)
        with pytest.raises(StoreUnavailable):
            replies.post_due(60)
    assert len(box) == 1

    handled(box=box, posted=1)


def test_a_mail_that_meets_an_error_of_the_site_is_put_aside(alice, comment, box, caplog):
    put(box, letter(alice, comment))
    with pytest.MonkeyPatch.context() as own:
        own.setattr(replies.comments, "post", lambda *_a, **_b: 1 // 0)
        assert dict(replies.post_due(60)) == {"failed": 1}

    assert "could not be handled" in caplog.text
    assert (len(list(replies.folder().iterdir())), len(list(replies.aside().iterdir()))) == (0, 1)
    assert dict(replies.post_due(60)) == {}


def test_only_files_are_read(site_store, article, alice, comment, box, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(letter(alice, comment, "Not a mail").as_bytes())
    new = replies.folder()
    (new / "link").symlink_to(secret)
    (new / "dangling").symlink_to(tmp_path / "nothing")
    (new / "folder").mkdir()
    os.mkfifo(new / "pipe")
    (new / ".hidden").write_bytes(secret.read_bytes())
    with socket.socket(socket.AF_UNIX) as line, suppress(OSError):
        line.bind(str(new / "socket"))
    (new / os.fsdecode(b"\xff\xfe")).write_bytes(letter(alice, comment).as_bytes())

    assert dict(replies.post_due(60)) == {"posted": 1}

    assert secret.exists()
    assert {"link", "dangling", "folder", "pipe", ".hidden"} <= {one.name for one in new.iterdir()}
    assert texts(site_store, article)[0] == "I agree."
    assert stat.S_ISFIFO((new / "pipe").stat().st_mode)


def test_what_becomes_a_link_or_a_pipe_is_not_followed(box, tmp_path):
    for make in (os.mkfifo, lambda path: path.symlink_to("/etc/passwd")):
        path = replies.folder() / "x"
        make(path)
        with pytest.raises((OSError, replies._Dropped)):
            replies._read(path)
        path.unlink()


def test_a_run_is_bounded_and_the_next_one_continues(alice, comment, box, monkeypatch):
    monkeypatch.setattr(replies, "MAILS_PER_RUN", 2)
    put(box, *(b"" for _ in range(5)))

    assert [replies.post_due(60).total() for _ in range(4)] == [2, 2, 1, 0]
    put(box, b"", b"")
    assert replies.post_due(-1).total() == 1, "it ends after its time"


def test_a_folder_that_cannot_be_changed_is_an_error_before_anything_is_posted(alice, comment, box, settings):
    settings.DATA_DIR = Path("/nowhere")
    with pytest.raises(OSError, match="cannot be read and changed"):
        replies.post_due(60)


@pytest.fixture
def mailed(later, alice, comment, monkeypatch):
    """Alice, who wants mail about replies and moderators."""
    monkeypatch.setattr(mailing._Round, "last", 0)
    alice.mail_kinds = "reply,moderation"
    alice.save()
    return alice


def sent_notices(site_store, later) -> EmailMessage:
    later.advance(mailing.SETTLE_SECONDS + 1)
    assert mailing.send_due(site_store, 60) == 1
    wait_until_sent()
    return message_from_bytes(mail.outbox[-1].message().as_bytes(), policy=default)


def parts_of(message: EmailMessage) -> tuple[str, str]:
    text, html = (message.get_body([kind]).get_content() for kind in ("plain", "html"))
    return text, html


def test_a_mail_about_one_comment_can_be_answered(site_store, article, later, mailed, comment, box):
    message = sent_notices(site_store, later)

    assert read_reply_address(message["Reply-To"]) == (mailed.pk, comment)
    text, html = parts_of(message)
    assert text.startswith(f"{MARKER} Write your reply above this line.")
    assert html.index(MARKER) < html.index("Hello alice")
    link = re.search(r'href="mailto:([^"?]+)\?subject=Re%3A%20A%20title"', html)
    assert link is not None
    assert link[1].replace("%2B", "+") == message["Reply-To"]


def test_a_mail_of_several_comments_has_an_address_of_each(site_store, article, later, mailed, bob, comment, box):
    other = comment_on(site_store, article, "And you?", bob.pk)
    message = sent_notices(site_store, later)

    text, html = parts_of(message)
    assert (message["Reply-To"], MARKER in text) == (None, False)
    found = [read_reply_address(one) for one in re.findall(r"Reply by mail\n(\S+)", text)]
    assert found == [(mailed.pk, other), (mailed.pk, comment)]
    assert html.count("mailto:") == 2


def test_mails_say_nothing_of_replies_if_none_is_possible(site_store, article, later, mailed, carol, comment, box):
    site_store.comments.lock(article, actor(carol), "Enough")
    message = sent_notices(site_store, later)

    text, html = parts_of(message)
    assert message["Reply-To"] is None
    assert "mailto:" not in html
    assert "Reply by mail" not in text


def test_a_reply_by_mail_server_is_posted(site_store, article, later, mailed, comment, box, settings, tmp_path):
    message = sent_notices(site_store, later)
    text, _html = parts_of(message)
    port, settings.DATA_DIR = free_port(), Path(tmp_path / "delivered")
    settings.DATA_DIR.mkdir()
    answer = EmailMessage(policy=SMTP)
    answer["From"], answer["To"], answer["Message-ID"] = (
        "alice@example.org",
        message["Reply-To"],
        "<7@example.org>",
    )
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    answer.set_content(f"我同意。\n\nOn 11/28/26 10:00, Article Voting wrote:\n{quoted}")

    with mail_server(port, settings.DATA_DIR / "replies") as count:
        with smtplib.SMTP("127.0.0.1", port) as line:
            line.send_message(answer, "alice@example.org", [message["Reply-To"]])
        assert count() == 1
        (step,) = [one for one in housekeeping._FREQUENT if one.name == "replies"]
        assert [one.result for one in housekeeping.run(site_store, steps=[step])] == ["1 reply taken"]
        assert count() == 0

    assert texts(site_store, article)[0] == "我同意。"

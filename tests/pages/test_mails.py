"""Every kind of mail: who gets it, in which language, where it leads, and what it must not say."""

import ast
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pyotp
import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.core.management import call_command
from django.template import engines
from django.test import Client
from django.utils.translation import gettext, override

from accounts.forms import NOTICE_LABELS
from accounts.mail import Kind, language_of
from accounts.models import LegalNotice, User
from accounts.sign_in import second_factor
from accounts.sign_in.changes import Change, tell_change
from articles import mailing
from articles.configuration import choices
from articles.doctor.mail import answer_test
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from moderation import content, mail as moderators_mail, members
from tests import extras
from tests.authenticator import Authenticator
from tests.cast import PASSWORD
from tests.clock import Clock
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.html import nodes_of, tree_of
from tests.mail_backends import wait_until_sent
from tests.source import modules
from tests.store_state import set_clock

SITE = "https://news.example.org"
ALICE, STRANGER = "alice@example.org", "victim@stranger.example"
TITLE = 'R&D <b>"Pre"</b>'


@pytest.fixture
def world(site_store, settings, tmp_path) -> SimpleNamespace:
    """A site with all kinds of mail, on which everyone else has an address that no one may learn."""
    settings.SITE_URL, settings.ALLOWED_HOSTS = SITE, ["*"]
    choices.save("LEGAL_NOTICES", "1")
    extras.switch_on()
    clock = Clock()
    set_clock(site_store, clock)
    others = {
        name: member(name, password=PASSWORD, email=f"{name}@example.org", moderator=name == "carol")
        for name in ("bob", "carol")
    }
    alice = member("alice", password=PASSWORD, email=ALICE, verified_email=ALICE)
    User.objects.filter(pk=alice.pk).update(mail_kinds=",".join(NOTICE_LABELS), followed_groups="python")
    site_store.groups.create("python", "Python")
    article = post_as(site_store, alice, TITLE, "https://example.org/a", ["python"]).id
    return SimpleNamespace(store=site_store, clock=clock, article=article, alice=alice, **others)


def notices(world) -> None:
    comment_on(world.store, world.article, 'See *it*: <i>"Bob"</i>', world.bob.pk)
    other = post_as(world.store, world.alice, TITLE, "https://example.org/o").id
    world.store.articles.remove(other, actor(world.carol), "Spam!")
    world.clock.advance(mailing.SETTLE_SECONDS + 1)
    for _ in range(2):  # a run begins where another one ended
        mailing.send_due(world.store, 60)


def digest(world) -> None:
    User.objects.filter(pk=world.alice.pk).update(digest=True, digested_at=world.clock() - mailing.WEEK)
    mailing.send_digests(world.store, 60)


def waiting(world) -> None:
    User.objects.filter(pk=world.alice.pk).update(waiting_mail="now", is_superuser=True)
    flagged = post_as(world.store, world.bob, TITLE, "https://example.org/b").id
    world.store.flags.set(root_of(flagged), world.carol.pk, FlagReason.SPAM)
    world.clock.advance(moderators_mail.SETTLE_SECONDS + 1)
    moderators_mail.send_waiting(world.store, 60)


def statement(world) -> None:
    grounds = content.Grounds("rules", "Rule 3", "Facts!")
    content.remove(root_of(world.article), actor(world.carol), "Spam!", grounds)
    moderators_mail.send_waiting(world.store, 60)


def legal_notice(world) -> None:
    facts = {"address": f"/articles/{world.article}/", "reason": "rules", "explanation": "x", "name": "x"}
    LegalNotice.objects.create(email=ALICE, language=world.alice.language, to_mail="receipt", **facts)
    moderators_mail.send_waiting(world.store, 60)


def verification(world) -> None:
    User.objects.filter(pk=world.alice.pk).update(verified_email="")
    browser_of(world.alice).post("/settings/mail/link/")


def password_reset(world) -> None:
    Client().post("/password/reset/", {"email": ALICE})


def sign_in_changed(world) -> None:
    with language_of(world.alice):
        for change in Change:
            tell_change(world.alice, change, "Club")


def wrong_codes(world) -> None:
    second_factor.warn(world.alice)


def mail_of_operator(world) -> None:
    with language_of(world.alice):
        answer_test.call(ALICE, "a key")


CAUSES: dict[str, Callable[[SimpleNamespace], None]] = {
    Kind.VERIFICATION: verification,
    Kind.PASSWORD_RESET: password_reset,
    Kind.SIGN_IN_CHANGED: sign_in_changed,
    Kind.WRONG_CODES: wrong_codes,
    Kind.TEST: mail_of_operator,
    Kind.NOTICES: notices,
    Kind.DIGEST: digest,
    Kind.WAITING: waiting,
    Kind.STATEMENT: statement,
    Kind.LEGAL_NOTICE: legal_notice,
}
OF_EXTRAS = {kind: cause for causes in extras.all_of("MAILS") for kind, cause in causes.items()}
CAUSES |= {kind: lambda world, cause=cause: cause(world.alice) for kind, cause in OF_EXTRAS.items()}


def mails(world, kind: str, language: str) -> list[EmailMultiAlternatives]:
    """Return the mails of a kind that alice gets in a language."""
    User.objects.filter(pk=world.alice.pk).update(language=language)
    CAUSES[kind](SimpleNamespace(**vars(world) | {"alice": User.objects.get(pk=world.alice.pk)}))
    wait_until_sent()
    return mail.outbox


def test_every_kind_has_a_case_and_a_template_and_none_passes_by_the_door():
    assert CAUSES.keys() == {*Kind, *OF_EXTRAS}
    assert ACTS.keys() == {*Change, *extras.joined("CHANGES")}
    drawn = {
        str(path.relative_to(folder))
        for folder in engines["jinja2"].template_dirs
        for path in Path(folder).rglob("*.html")
        if '{% extends "mail/layout.html" %}' in path.read_text("utf-8")
    }
    assert drawn == CAUSES.keys()
    senders = set()
    for name, path in modules().items():
        imports = [one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.ImportFrom)]
        if any(one.module in ("django.core.mail", "django.core") for one in imports if "mail" in ast.unparse(one)):
            senders.add(name)
    assert senders == {"accounts.mail"}


WITHOUT_UNSUBSCRIBING = set(CAUSES) - {Kind.NOTICES, Kind.DIGEST, Kind.WAITING}
TAGS = {"en": "en", "zh-hans": "zh-Hans", "zh-hant": "zh-Hant"}
ENGLISH = re.compile(r"\b(the|you|your|has|have|been|this|from|of|and|to|by)\b", re.IGNORECASE)
SIMPLIFIED = re.compile("[这邮账链决复书网们过数据请处]")
AGES = re.compile(r"\bago\b|just now|刚|剛|昨天|(秒|分钟|分鐘|小时|小時|天|周|月)前")
ADDRESSES = re.compile(r"[\w.+-]+@[\w.-]*\w")


@pytest.mark.deep
@pytest.mark.parametrize("language", TAGS)
@pytest.mark.parametrize("kind", CAUSES)
def test_a_mail_of_each_kind_is_whole_in_each_language(world, kind, language):
    found = mails(world, kind, language)

    assert len(found) == (len(Change) if kind is Kind.SIGN_IN_CHANGED else 1)
    for message in found:
        html, headers = message.alternatives[0].content, message.message()
        assert (message.to, message.cc, message.bcc) == ([ALICE], [], [])
        assert re.fullmatch(r"<\S+@news\.example\.org>", headers["Message-ID"])
        assert headers["Auto-Submitted"].startswith("auto-")
        assert ("List-Unsubscribe" in headers) == (kind not in WITHOUT_UNSUBSCRIBING)
        check_words(message, html, language)
        check_links(message, html, world)
        everything = f"{message.subject} {message.body} {unquote(html)} {headers['Reply-To']}"
        assert set(ADDRESSES.findall(everything)) <= {ALICE}


def check_words(message, html: str, language: str) -> None:
    """Check the language of a mail, that its times are absolute, and that it looks like the site."""
    own = re.sub(r"https?://\S+|" + re.escape(TITLE), "", f"{message.subject}\n{message.body}")
    assert f'<html lang="{TAGS[language]}">' in html
    assert bool(re.search("[\u4e00-\u9fff]", own)) == (language != "en")
    if language != "en":
        assert not ENGLISH.search(own)
    if language == "zh-hant":
        assert not SIMPLIFIED.search(own)
    assert not AGES.search(own)
    assert message.subject.strip() == message.subject != ""
    assert "<b>" not in html.replace("<blockquote>", "")
    for words in ("Article Voting", "prefers-color-scheme: dark", "width=device-width", "max-width: 600px"):
        assert words in html
    elements = {node.name for node in nodes_of(tree_of(html))}
    assert elements.isdisjoint({"script", "img", "link", "form", "iframe"})


def check_links(message, html: str, world) -> None:
    """Check that each link leads to a page that the receiver may see, and that the plain text has the buttons'."""
    links = {node.attrs["href"]: node.attrs for node in nodes_of(tree_of(html)) if node.name == "a"}
    buttons = [address for address, attrs in links.items() if attrs.get("class") == "button"]
    assert buttons or "<li" in html or "auto-" in message.extra_headers["Auto-Submitted"]
    for address in buttons:
        assert address in message.body
    for address in links:
        assert address.startswith(f"{SITE}/"), address
        answer = browser_of(world.alice).get(address.removeprefix(SITE).partition("#")[0])
        assert answer.status_code in (200, 302, 410), address  # 410: the article of a statement


# Changes of how a member signs in

NEW = "staple battery horse correct"


def app_secret(browser: Client) -> str:
    page = browser.get("/settings/security/app/").text
    return re.search(r'id="key"[^>]* value="([A-Z2-7 ]+)"', page)[1].replace(" ", "")


def add_app(browser: Client) -> None:
    browser.post("/settings/security/app/", {"code": pyotp.TOTP(app_secret(browser)).now()})


def add_passkey(browser: Client) -> None:
    options = json.loads(browser.post("/login/passkey/options/", {"for": "add"}).text)
    credential = Authenticator().create(options, SITE)
    browser.post("/settings/security/passkeys/", {"credential": credential, "name": "phone"})


def remove_passkey(browser: Client) -> None:
    add_passkey(browser)
    number = browser.get("/settings/").wsgi_request.user.passkeys.get().pk
    browser.post(f"/settings/security/passkeys/{number}/remove/")


def after_app(path: str) -> Callable[[Client], None]:
    def act(browser: Client) -> None:
        add_app(browser)
        browser.post(f"/settings/security/{path}/")

    return act


def turn_on(browser: Client) -> None:
    add_passkey(browser)
    browser.post("/settings/security/second-step/on/")


def member_of(browser: Client) -> User:
    return User.objects.get(pk=browser.session["_auth_user_id"])


def form(path: str, **fields: str) -> Callable[[Client], None]:
    return lambda browser: browser.post(path, fields)


ACTS: dict[Enum, Callable[[Client], object]] = {
    Change.PASSWORD: form("/password/", old_password=PASSWORD, new_password1=NEW, new_password2=NEW),
    Change.NAME: lambda _browser: call_command("rename_member", "alice", "Club"),
    Change.ADDRESS: form("/settings/email/", email="new@example.org"),
    Change.PASSKEY_ADDED: add_passkey,
    Change.PASSKEY_REMOVED: remove_passkey,
    Change.APP_ADDED: add_app,
    Change.APP_REMOVED: after_app("app/remove"),
    Change.TURNED_ON: turn_on,
    Change.TURNED_OFF: after_app("second-step/off"),
    Change.NEW_CODES: after_app("codes"),
    Change.RESET: after_app("reset"),
    Change.TOKEN_ADDED: form("/settings/tokens/", name="Club"),
    Change.DELETED: form("/settings/delete/", name="alice"),
    **extras.joined("CHANGES"),
}


def told() -> list[EmailMultiAlternatives]:
    """Return the mails that were sent, except links that verify a new address."""
    wait_until_sent()
    return [message for message in mail.outbox if "/settings/mail/verify/" not in message.body]


@pytest.mark.deep
@pytest.mark.parametrize("change", ACTS, ids=lambda change: change.name)
def test_each_change_of_how_a_member_signs_in_is_told_to_the_verified_address(world, change):
    ACTS[change](browser_of(world.alice))
    if change is Change.RESET:
        members.reset_second_factor(User.objects.get(pk=world.alice.pk), "Lost", actor(world.carol))

    message = told()[-1]
    assert {tuple(one.to) for one in told()} == {(ALICE,)}
    assert message.subject == change.value % {"site": "Article Voting", "name": "Club"}
    assert re.search(r"https://news\.example\.org/(password/reset|settings/security|about)/", message.body)


def change_address(browser: Client, path: str) -> None:
    page = browser.get(f"{path}change/").context
    fields = {name: value for name, value in page["adminform"].form.initial.items() if isinstance(value, str)}
    browser.post(f"{path}change/", fields | {"email": "new@example.org", "is_active": "on"})


DELETE = {"action": "delete_selected", "post": "yes"}
BY_OTHERS: dict[str, tuple[Change, Callable[[Client, int], object]]] = {
    "set the password": (
        Change.PASSWORD,
        lambda boss, pk: boss.post(
            f"/admin/accounts/user/{pk}/password/", {"password1": NEW, "password2": NEW, "usable_password": "true"}
        ),
    ),
    "disable the password": (
        Change.PASSWORD,
        lambda boss, pk: boss.post(
            f"/admin/accounts/user/{pk}/password/", {"usable_password": "false", "unset-password": "1"}
        ),
    ),
    "change the address": (Change.ADDRESS, lambda boss, pk: change_address(boss, f"/admin/accounts/user/{pk}/")),
    "delete": (
        Change.DELETED,
        lambda boss, pk: boss.post("/admin/accounts/user/", DELETE | {"_selected_action": [pk]}),
    ),
    "delete by a command": (Change.DELETED, lambda _boss, _pk: call_command("delete_member", "alice")),
    "rename by a command": (Change.NAME, lambda _boss, _pk: call_command("rename_member", "alice", "Club")),
    "reset the second step by a command": (
        Change.RESET,
        lambda _boss, _pk: call_command("reset_second_factor", "alice"),
    ),
}


@pytest.mark.parametrize("act", BY_OTHERS)
def test_what_the_operator_changes_is_told_once_in_the_language_of_the_member(world, act):
    change, do = BY_OTHERS[act]
    if change is Change.RESET:
        after_app("codes")(browser_of(world.alice))
        wait_until_sent()
        mail.outbox.clear()
    facts = {"is_staff": True, "is_superuser": True, "language": "en", "password": PASSWORD}
    User.objects.filter(pk=world.alice.pk).update(language="zh-hans")
    do(browser_of(member("boss", **facts)), world.alice.pk)
    wait_until_sent()

    (message,) = mail.outbox
    with override("zh-hans"):
        sentence = gettext(change.value) % {"site": "Article Voting", "name": "Club"}
    assert (message.to, message.subject) == ([ALICE], sentence)
    check_words(message, message.alternatives[0].content, "zh-hans")


def test_a_new_password_is_told_whoever_sets_it_and_a_new_hash_of_the_same_is_not(world):
    world.alice.set_password(NEW)
    world.alice.save()
    member("dora", password=NEW, email="d@example.org", verified_email="d@example.org")
    wait_until_sent()
    assert [message.to for message in mail.outbox] == [[ALICE]]

    User.objects.filter(pk=world.alice.pk).update(password="pbkdf2_sha256$1$salt$x")
    assert not User.objects.get(pk=world.alice.pk).check_password(NEW)
    browser_of().post("/login/", {"username": "alice", "password": NEW})
    wait_until_sent()
    assert len(mail.outbox) == 1


@pytest.mark.deep
@pytest.mark.parametrize(
    "change", [one for one in ACTS if one not in (Change.DELETED, Change.RESET)], ids=lambda change: change.name
)
def test_a_change_after_one_of_the_address_is_told_to_the_last_verified_one(world, change):
    User.objects.filter(pk=world.alice.pk).update(email=STRANGER)
    ACTS[change](browser_of(User.objects.get(pk=world.alice.pk)))

    assert {tuple(message.to) for message in told()} == {(ALICE,)}


def test_nothing_is_told_where_no_address_was_ever_verified(world):
    User.objects.filter(pk=world.alice.pk).update(email=STRANGER, verified_email="")
    browser = browser_of(User.objects.get(pk=world.alice.pk))
    for change in sorted(set(ACTS) - {Change.RESET}, key=lambda one: (one is Change.DELETED, one.name)):
        ACTS[change](browser)
        browser = browser if change is not Change.PASSWORD else browser_of(User.objects.get(pk=world.alice.pk))

    assert told() == []


def test_a_change_repeated_is_told_a_few_times_and_keeps_no_other_one_away(world, settings, limits_clock, limits):
    limits(changes=None)
    browser = browser_of(world.alice)
    add_app(browser)
    for _ in range(30):
        browser.post("/settings/security/codes/")
    ACTS[Change.PASSWORD](browser)
    wait_until_sent()

    found = Counter(re.sub(" (of|for) your account.*", "", message.subject) for message in mail.outbox)
    codes, app = "New recovery codes have been created", "An authenticator app has been set up"
    assert found == {codes: settings.LIMITS["mails"].uses, app: 1, "The password": 1}


# Strangers


def acts_of(browser: Client, chance: random.Random) -> None:
    """Do something by chance that sends mail, or could, with the address of a stranger."""
    spelling = chance.choice([STRANGER, STRANGER.upper(), "victim+x@stranger.example", "victim@STRANGER.example"])
    member_now, network = member_of(browser), f"203.{chance.randrange(99)}.0.7"
    notice = {"address": "/users/bob/", "reason": "rules", "explanation": "x", "name": "x", "good_faith": "on"}
    possible: list[Callable[[], object]] = [
        lambda: browser.post("/settings/email/", {"email": spelling}),
        lambda: browser.post("/settings/mail/link/", REMOTE_ADDR=network),
        lambda: Client().post("/password/reset/", {"email": spelling}, REMOTE_ADDR=network),
        lambda: Client().post("/notices/", notice | {"email": spelling}, REMOTE_ADDR=network),
        lambda: second_factor.warn(member_now),
        *(lambda act=act: act(browser) for change, act in ACTS.items() if change in RANDOM),
    ]
    chance.choice(possible)()


RANDOM = (Change.PASSKEY_ADDED, Change.NEW_CODES, Change.TURNED_OFF, Change.TOKEN_ADDED)
"""Changes that can follow each other in any order."""


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3))
def test_no_acts_of_a_member_send_a_stranger_more_than_the_limits(world, settings, limits_clock, seed, limits):
    limits(changes=None)
    chance = random.Random(seed)
    for name in ("mallory", "mallory2"):
        browser = browser_of(member(name, password=PASSWORD, email=STRANGER))
        for _ in range(60):
            acts_of(browser, chance)
        moderators_mail.send_waiting(world.store, 60)
        wait_until_sent()

    to_stranger = [one for one in mail.outbox if "stranger.example" in one.to[0].lower()]
    assert to_stranger
    kinds = Counter(re.sub(r"(Verify|Choose|Receipt|.*account).*", r"\1", one.subject) for one in to_stranger)
    most = settings.LIMITS["mails"].uses
    assert kinds["Verify"] + kinds["Choose"] <= most
    assert kinds["Receipt"] <= 2 * most
    assert kinds.keys() <= {"Verify", "Choose", "Receipt"}

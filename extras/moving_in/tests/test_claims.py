"""The owner of an account that moved in gets it once, and other readers do not learn whose it was."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import get_user
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser
from django.core import mail
from django.db import connection
from django.db.models import QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from accounts import account_deletion
from accounts.models import User
from accounts.web.login_intent import LoginIntent, member_arrived
from articles.configuration import choices
from articles.domain.articles import WITHDRAWN
from articles.domain.errors import StoreUnavailable
from articles.domain.limits import Rate
from articles.web import extras
from extras.moving_in import claims, pages
from extras.moving_in.models import MovedAccount
from extras.moving_in.tests.doors import waiting
from tasks import OUT, work_off
from tests.cast import MODERATOR, PASSWORD
from tests.factories import browser_of, comment_on, imported, member
from tests.internals import meanwhile
from tests.mail_backends import wait_until_sent

ADDRESS = "Ann@old.example"
SENT = "If an unclaimed account matches, we’ve sent a link to its email address."
NOW_AND_THEN = re.compile("articles_(sitesetting|knownstore)")  # read once a second
NOT_VALID = "This link is not valid: it has already been used, or it has expired."


@pytest.fixture
def ann(site_store):
    return waiting(address=ADDRESS, old_id="Ann Old")


def ask(typed=ADDRESS, browser=None, **headers):
    answer = (browser or Client(headers=headers)).post("/claim/", {"email": typed}, follow=True)
    wait_until_sent()
    return answer


def link_in(message):
    return re.search(r"https?://[^/]+(/claim/[\w:-]+/)", message.body)[1]


def choose(link, browser=None, password=PASSWORD, **fields):
    fields |= {"username": "ann", "new_password1": password, "new_password2": password}
    return (browser or Client()).post(link, fields)


@pytest.mark.parametrize("typed", [ADDRESS, "ANN@OLD.EXAMPLE", "ann", "Ann Old"])
def test_a_link_goes_to_the_address_from_the_source(ann, typed):
    assert SENT in ask(typed).text

    (message,) = mail.outbox
    assert message.to == [ADDRESS]
    assert "Your account ann from old.example has moved to" in message.body


@pytest.mark.parametrize(
    ("language", "subject", "heading"),
    [("en", "Claim your account on Article Voting", "Claim the account ann"),
     ("zh-hans", "认领你在 Article Voting 的账号", "认领账号 ann")],
)  # fmt: skip
def test_the_owner_claims_the_account_with_the_link(ann, client, language, subject, heading):
    ask(**{"accept-language": language})
    (message,) = mail.outbox
    assert message.subject == subject
    link = link_in(message)
    assert heading in client.get(link, headers={"accept-language": language}).text

    answer = choose(link, client)

    assert answer["Location"] == "/"
    user = User.objects.get(username="ann")
    assert get_user(client) == user
    assert (user.email, user.verified_email) == ("Ann@old.example", "Ann@old.example")
    assert user.check_password(PASSWORD)
    ann.refresh_from_db()
    assert ann.claimed_at is not None
    assert ann.address == ""
    assert choose(link, client)["Location"] == "/"
    assert NOT_VALID in Client().get(link).text


def test_several_accounts_of_an_address_come_in_one_mail(ann):
    waiting("bea", address=ADDRESS)
    ask()

    (message,) = mail.outbox
    assert len(set(re.findall(r"/claim/[\w:-]+/", message.body))) == 2


def test_neither_answer_nor_work_shows_whether_an_account_waits(ann):
    waiting("without", address="")
    User.objects.filter(pk=waiting("closed", address="closed@old.example").pk).update(is_active=False)
    claims.take(waiting("done", address="done@old.example").user)
    member("zoe", email="zoe@example.org")
    names, seen = ("ann", "none", "without", "closed", "done", "zoe"), {}

    for typed in (*names, ADDRESS, "a@b.example", "done@old.example", "zoe@example.org"):
        with CaptureQueriesContext(connection) as queries:
            answer = Client().post("/claim/", {"email": typed})
        asked = [one["sql"].split()[:3] for one in queries if not NOW_AND_THEN.search(one["sql"])]
        seen[typed] = (answer.status_code, answer["Location"], asked)
        assert SENT in answer.client.get("/claim/").text
        assert DBTaskResult.objects.filter(status="READY").count() == 1
        wait_until_sent()

    assert all(one == seen["none"] for one in seen.values())
    assert [one.to for one in mail.outbox] == [[ADDRESS]] * 2


def test_an_address_gets_no_more_mails_by_name_and_address_than_the_limit_says(ann, limits, limits_clock):
    limits(mails=Rate(2, 86_400))

    statuses = [ask(typed).status_code for typed in ("ann", ADDRESS, "ann", ADDRESS, "ann", ADDRESS)]

    assert statuses == [200] * 4 + [429] * 2
    assert len(mail.outbox) == 2


@pytest.mark.parametrize("wrong", ["old", "forged", "claimed", "closed", "deleted"])
def test_a_link_that_is_not_valid_changes_nothing(ann, wrong):
    link = claims.path_of(ann, ADDRESS)
    later = timezone.now()
    match wrong:
        case "old":
            later += timedelta(days=claims.DAYS, seconds=9)
        case "forged":
            link = f"{link[:-3]}xx/"
        case "claimed":
            MovedAccount.objects.update(claimed_at=later)
        case "closed":
            User.objects.update(is_active=False)
        case "deleted":
            account_deletion.begin(ann.pk)
    before = User.objects.values_list("password", "email", "left_at").get(pk=ann.pk)

    with time_machine.travel(later, tick=False):
        for answer in (Client().get(link), choose(link), choose(link, name="ann"), choose(link, connect="x" * 22)):
            assert answer.status_code == 404
            assert NOT_VALID in answer.text
    assert User.objects.values_list("password", "email", "left_at").get(pk=ann.pk) == before


def failing_once(withdraw):
    """Return a method that ends at its first call, as a process does that is killed."""
    calls = []

    def method(_self, *args, **options):
        calls.append(args)
        if len(calls) == 1:
            raise StoreUnavailable
        return withdraw(*args, **options)

    return method


def delete(link, **_):
    return Client().post(link, {"name": "ann"})


@pytest.mark.parametrize("second", [choose, delete])
def test_of_two_who_claim_or_delete_at_once_one_does(ann, second):
    link, late = claims.path_of(ann, ADDRESS), []

    def interfere():
        if not late:
            late.append(True)
            late.append(choose(link, password="the first of two words"))

    with meanwhile(QuerySet, "update", interfere):  # after both have found that the account waits
        answer = second(link, password="the second of two words")

    assert late[1].status_code == 302
    assert answer.status_code == 200
    user = User.objects.get(pk=ann.pk)
    assert user.check_password("the first of two words")
    assert user.left_at is None


def test_the_owner_deletes_the_account_instead(ann, client):
    link = claims.path_of(ann, ADDRESS)
    assert "This is not your username." in client.post(link, {"name": "other"}).text

    answer = client.post(link, {"name": "Ann"}, follow=True)

    assert "The account has been deleted." in answer.text
    assert User.objects.get(pk=ann.pk).left_at is not None
    assert not MovedAccount.objects.exists()
    assert not get_user(client).is_authenticated


def test_the_owner_deletes_the_account_with_what_it_posted(ann, client, site_store, monkeypatch):
    User.objects.filter(pk=ann.pk).update(password=make_password("an old password"))
    bob, days = member("bob").pk, 86_400
    old = imported(1, site_store.store.now() - 90 * days, poster=ann.pk, poster_name="ann", text="Her text")
    gone, other, fresh = site_store.imports.add(
        [old, imported(2, old.posted_at, poster=bob), imported(3, old.posted_at + 1, poster=ann.pk)]
    )
    site_store.articles.remove(fresh, MODERATOR, "Spam")
    answered, _alone = (comment_on(site_store, other, "Hers", user=ann.pk) for _ in range(2))
    reply = comment_on(site_store, other, "His", user=bob, parent=answered)
    link = claims.path_of(ann, ADDRESS)
    assert "posts" in client.get(link).text

    answer = client.post(link, {"name": "ann", "posts": "on"}, follow=True)

    assert "The account and what it posted are being deleted." in answer.text
    assert choose(link).status_code == 404
    assert not User.objects.get(pk=ann.pk).has_usable_password()
    withdraw = site_store.articles.withdraw
    monkeypatch.setattr(type(site_store.articles), "withdraw", failing_once(withdraw))
    for _ in range(2):  # the first is interrupted
        DBTaskResult.objects.update(run_after=timezone.now())
        work_off(OUT)
    assert User.objects.get(pk=ann.pk).left_at is not None
    assert site_store.articles.get(gone).removed == WITHDRAWN
    assert site_store.articles.get(fresh).removed == "Spam"
    assert [(one.id, one.text, one.is_deleted) for one in site_store.imports.iterate_comments(other)] == [
        (answered, "", True), (reply, "His", False),
    ]  # fmt: skip
    assert site_store.articles.get(other).removed is None


def test_an_account_that_cannot_be_deleted_yet_still_waits(ann, client, monkeypatch):
    monkeypatch.setattr(pages, "add", lambda *_: (_ for _ in ()).throw(claims.TaskQueueFull()))
    link = claims.path_of(ann, ADDRESS)

    assert "Too much is waiting to be done here." in client.post(link, {"name": "ann", "posts": "on"}).text

    assert client.post(link, {"name": "ann"}).status_code == 302
    assert User.objects.get(pk=ann.pk).left_at is not None


def test_who_is_logged_in_as_another_member_becomes_the_owner_of_the_account_alone(ann):
    bob = member("bob", email="bob@example.org")
    browser = browser_of(bob)

    choose(claims.path_of(ann, ADDRESS), browser)

    assert get_user(browser).username == "ann"
    bob.refresh_from_db()
    assert bob.email == "bob@example.org"


def test_accounts_are_claimed_on_a_site_for_members_that_is_closed_to_newcomers(ann, client):
    choices.save("READING", "members")
    choices.save("SIGN_UP", "closed")
    choices.forget()
    assert client.get("/")["Location"].startswith("/login/")

    assert "Did you have an account at old.example?" in client.get("/login/").text
    ask(browser=client)
    assert choose(link_in(mail.outbox[0]), client)["Location"] == "/"
    assert get_user(client).username == "ann"


def test_a_banned_member_who_moved_in_claims_the_account_and_stays_banned(ann, client):
    User.objects.filter(pk=ann.pk).update(banned_from="both")

    choose(claims.path_of(ann, ADDRESS), client)

    assert get_user(client).banned_from == "both"


def test_a_site_without_passwords_lets_the_owner_in_to_add_a_way(ann, client, settings):
    settings.PASSWORDS = False
    link = claims.path_of(ann, ADDRESS)
    assert "new_password1" not in client.get(link).text

    assert client.post(link)["Location"] == "/settings/security/"
    assert get_user(client).username == "ann"


@pytest.mark.parametrize("page", ["/login/", "/signup/", "/password/reset/"])
def test_pages_about_logging_in_lead_to_the_claim_while_accounts_wait(ann, client, page):
    assert 'Did you have an account at old.example? <a href="/claim/">' in client.get(page).text

    MovedAccount.objects.update(claimed_at=timezone.now())

    assert "/claim/" not in client.get(page).text
    assert client.get("/claim/").status_code == 404


def test_no_one_signs_up_with_a_name_that_waits_or_one_that_looks_like_it(ann, client):
    for name in ("ann", "ANN"):
        form = {"username": name, "password1": PASSWORD, "password2": PASSWORD, "email": ""}
        assert "This name is taken." in client.post("/signup/", form).text


def test_while_too_many_mails_wait_the_answer_is_the_same(ann, monkeypatch):
    monkeypatch.setattr(claims, "add", lambda *_: (_ for _ in ()).throw(claims.TaskQueueFull()))

    assert SENT in ask().text
    assert mail.outbox == []


# By a moderator

SEND, WHY = "/users/ann/moderation/claim/", {"reason": "Asked by letter"}
UNCLAIMED = "Moved here from old.example. Its owner has not claimed the account yet."


def test_a_moderator_sends_the_link_to_another_address(site_store, ann, client):
    moderator = browser_of(member("carol", moderator=True))
    assert SEND in moderator.get("/users/ann/moderation/").text
    assert "Enter a valid email address." in moderator.post(SEND, {"email": "x", **WHY}, follow=True).text
    assert "Enter a reason." in moderator.post(SEND, {"email": "new@ann.example"}, follow=True).text

    sent = {"email": "new@ann.example", **WHY}
    assert "We’ve sent the link to new@ann.example." in moderator.post(SEND, sent, follow=True).text
    wait_until_sent()
    (message,) = mail.outbox
    assert message.to == ["new@ann.example"]
    choose(link_in(message), client)

    assert get_user(client).verified_email == "new@ann.example"
    (entry,) = site_store.moderation_log.get_page().entries
    assert (entry.action, entry.actor_name, entry.reason) == ("send-claim", "carol", WHY["reason"])
    log = Client().get("/moderation/").text
    assert "sent a link that claims an account" in log
    assert "ann" not in re.sub(r"[a-z]ann|ann[a-z]", "", log)
    assert SEND not in moderator.get("/users/ann/moderation/").text
    mail.outbox.clear()
    assert moderator.post(SEND, sent).status_code == 302
    wait_until_sent()
    assert [one.subject for one in mail.outbox] == [
        "The password of your account on Article Voting has been changed"
    ]


def test_a_moderator_hands_the_link_over(ann, client):
    answer = browser_of(member("carol", moderator=True)).post(SEND, WHY, follow=True)

    choose(re.search(r"https?://[^/]+(/claim/[\w:-]+/)", answer.text)[1], client)

    assert (get_user(client).username, get_user(client).email) == ("ann", "")
    assert mail.outbox == []


def test_moderators_give_away_no_account_of_a_moderator_and_members_none(ann):
    assert browser_of(member("bob")).post(SEND, WHY).status_code == 403
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    carol = browser_of(member("carol", moderator=True))

    assert SEND not in carol.get("/users/ann/moderation/").text
    assert carol.post(SEND, WHY).status_code == 403
    assert browser_of(member("boss", is_superuser=True)).post(SEND, WHY).status_code == 302


# By an account elsewhere


@pytest.fixture
def at_newcomers(rf):
    """Return what someone with this address sees who has come from elsewhere."""

    def look(address):
        request = rf.get("/")
        request.user = AnonymousUser()
        return extras.drawn("newcomer", request, intent=LoginIntent(connect="c" * 22), address=address)

    return look


def test_a_newcomer_with_the_address_claims_the_account_and_connects_it(ann, at_newcomers, client):
    assert at_newcomers("") == at_newcomers("other@old.example") == ""
    User.objects.filter(pk=ann.pk).update(password=make_password("an old password"))
    shown = at_newcomers("ann@old.example")
    assert "The account ann from old.example has your email address." in shown
    link = re.search(r'action="(/claim/[\w:-]+/)"', shown)[1]
    connected = []

    def connect(intent, user, **_):
        connected.append((intent.connect, user.username))

    member_arrived.connect(connect)
    answer = client.post(link, {"connect": re.search('name="connect" value="(.+?)"', shown)[1]})
    member_arrived.disconnect(connect)

    assert answer["Location"] == "/"
    assert connected == [("c" * 22, "ann")]
    assert get_user(client).verified_email == ADDRESS
    assert not get_user(client).has_usable_password()


# How it looks


def test_an_account_looks_unclaimed_until_it_is_claimed_and_shows_no_address(ann, client):
    for browser in (client, browser_of(member("carol", moderator=True))):
        for page in ("/users/ann/", "/users/ann/comments/", "/users/ann/moderation/", "/claim/"):
            shown = browser.get(page).text
            assert (UNCLAIMED in shown) == page.endswith(("ann/", "comments/"))
            assert ADDRESS.lower() not in shown.lower()

    choose(claims.path_of(ann, ADDRESS))

    assert UNCLAIMED not in client.get("/users/ann/").text


def test_pages_of_other_members_ask_nothing_more(site_store, alice, client):
    with CaptureQueriesContext(connection) as queries:
        client.get("/users/alice/")

    assert not [one for one in queries if "moving_in" in one["sql"]]

"""Rate limits of pages and forms: what is refused, what readers see, and what stays possible for others."""

import json
import time

import pyotp
import pytest
from django.core import mail
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client
from django.utils.http import urlsafe_base64_encode

from accounts.forms import LoginForm
from accounts.models import Authenticator, User
from accounts.passwords import HashesBusy
from accounts.sign_in import codes, second_factor
from articles.domain.articles import ArticleId
from articles.domain.errors import LimitReached
from articles.domain.limits import Rate
from articles.web import wiring
from articles.web.limits import FORMS, PAGES
from tests.cast import PASSWORD, password_of
from tests.factories import browser_of, comment_on, member
from tests.internals import Limits, failing
from tests.mail_backends import wait_until_sent
from tests.routes import routes

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
HOME, ELSEWHERE = "203.0.113.7", "198.51.100.9"


USES = 6

TAKE, EXHAUSTED = (Limits, "take"), LimitReached("changes", 60_000)
LIMITED_BY_THEIR_SCRIPT = {"/articles/1/vote/", "/comments/1000001/vote/"}


@pytest.fixture(autouse=True)
def _limited(limits, limits_clock) -> None:
    """Limit each of these actions to so many uses."""
    few = dict.fromkeys(("votes", "changes", "search", "feeds", "refresh", "lookups"), Rate(USES, USES * 600))
    limits(**few)


@pytest.fixture
def dave(db: None) -> User:
    return member("dave", email="dave@example.org", password=PASSWORD)


def log_in(name: str, password: str = "wrong", address: str = HOME, browser: Client | None = None, path="/login/"):
    fields = {"username": name, "password": password}
    return (browser or Client()).post(path, fields, REMOTE_ADDR=address)


def statuses(responses) -> list[int]:
    return [response.status_code for response in responses]


# Passwords


@pytest.mark.parametrize("name", ["dave", "nobody"])
def test_guesses_of_a_password_are_throttled_whether_or_not_the_account_exists(dave, name):
    responses = [log_in(name, f"guess {n}") for n in range(12)]

    assert statuses(responses) == [200] * 10 + [429] * 2
    assert responses[-1]["Retry-After"] == "60"
    assert log_in(name, PASSWORD).status_code == 429


def test_codes_of_the_second_step_share_the_limit_of_passwords(dave):
    second_factor.turn_on(dave)
    browser = Client(REMOTE_ADDR=HOME)
    browser.post("/login/", {"username": "dave", "password": PASSWORD})

    guesses = [browser.post("/login/second/", {"code": f"{n:06}"}) for n in range(11)]

    assert statuses(guesses) == [200] * 10 + [429]
    assert log_in("dave").status_code == 429


def networks(count: int) -> list[str]:
    """Addresses of different providers."""
    return [f"198.{n}.100.7" for n in range(count)]


def code_of(seconds: int = 0) -> str:
    return pyotp.TOTP(SECRET).at(int(time.time()) + seconds)


@pytest.fixture
def with_app(dave) -> list[str]:
    """Dave with an authenticator app; returns recovery codes."""
    assert codes.save_secret(dave, SECRET, code_of())
    Authenticator.objects.update(last_step=0)
    User.objects.filter(pk=dave.pk).update(verified_email=dave.email, language="zh-hans")
    return second_factor.turn_on(dave)


def at_second_step(address: str) -> Client:
    browser = Client(REMOTE_ADDR=address)
    assert log_in("dave", PASSWORD, address, browser).status_code == 302
    return browser


def enter(browser: Client, code: str) -> int:
    return browser.post("/login/second/", {"code": code}).status_code


@pytest.mark.deep
def test_codes_are_limited_by_account_through_all_networks(with_app, limits_clock):
    waiting = at_second_step(HOME)
    compared = []
    for n, address in enumerate(networks(12)):
        answers = [enter(at_second_step(address), code) for code in (f"{n:06}", f"{n:03} {n:03}")]
        compared += [answer for answer in answers if answer != 429]

    assert compared == [200] * 10
    assert enter(waiting, code_of()) == 429
    assert enter(at_second_step(ELSEWHERE), with_app[0]) == 302  # not guessable, so it stays a way in
    limits_clock.advance(60)
    assert enter(waiting, code_of()) == 302
    for minute in range(60):
        limits_clock.advance(60)
        compared.append(enter(at_second_step(networks(99)[minute + 20]), "000000"))
    assert compared.count(200) == 10 + 20 + 1  # 30 in a day, and what an hour refills


def test_codes_that_are_compared_at_once_share_the_limit(with_app, dave, monkeypatch):
    compared = []

    def meanwhile(_member: User, _digits: str) -> bool:
        compared.append(1)
        return codes.accept(dave, "000000")

    monkeypatch.setattr(codes, "_accept_of_app", meanwhile)
    with pytest.raises(LimitReached):
        codes.accept(dave, "000000")
    assert len(compared) == 10


@pytest.mark.deep
def test_right_codes_take_nothing_from_the_limit_of_wrong_ones(with_app, limits_clock):
    for address in networks(40):
        Authenticator.objects.update(last_step=0)
        assert enter(at_second_step(address), code_of()) == 302


@pytest.mark.deep
def test_a_member_is_warned_once_a_day_that_someone_enters_wrong_codes(with_app, limits_clock):
    for _day in range(2):
        for address in networks(9):
            enter(at_second_step(address), "00000")
        wait_until_sent()
        limits_clock.advance(86_400)

    first, second = mail.outbox
    assert (first.to, first.body) == (["dave@example.org"], second.body)
    assert "/password/reset/" in first.body
    assert "密码" in first.subject


@pytest.mark.parametrize("verified", ["", "old@example.org"])
def test_no_one_else_is_warned_and_a_few_mistyped_codes_warn_no_one(with_app, dave, verified):
    browser = at_second_step(HOME)
    for _ in range(3):
        enter(browser, "000000")
    User.objects.filter(pk=dave.pk).update(verified_email=verified)
    for _ in range(6):
        enter(browser, "000000")
    wait_until_sent()

    assert mail.outbox == []


def guess(door: str, address: str, password: str) -> int:
    """Guess Dave's password at a door; return the status."""
    browser = Client(REMOTE_ADDR=address)
    match door:
        case "change":
            form = {"username": "dave", "new_password1": password, "new_password2": password}
            return browser.post("/password/", form | {"old_password": "x"}).status_code
        case "signup":
            form = {"username": "dave", "password1": password, "password2": password}
            return browser.post("/signup/", form).status_code
    return log_in("dave", password, address, browser).status_code


DOORS = ("login", "change", "signup")


def test_guesses_of_a_password_are_limited_by_account_at_every_door(dave, limits):
    limits(guesses=Rate(USES, 86_400))
    at_home = browser_of(dave)
    at_home.post("/login/", {"username": "dave", "password": PASSWORD}, REMOTE_ADDR=HOME)

    guesses = [guess(door, address, "wrong") for door, address in zip(DOORS * 3, networks(9), strict=True)]

    assert guesses.count(429) == len(guesses) - USES
    assert {guess(door, ELSEWHERE, PASSWORD) for door in DOORS} == {429}
    assert log_in("dave", PASSWORD, HOME).status_code == 302  # the member is logged in on this network
    assert at_home.post("/login/confirm/", {"password": PASSWORD}, REMOTE_ADDR=ELSEWHERE).status_code == 302
    dave.set_password("a new password, by mail")
    dave.save()
    assert log_in("dave", "a new password, by mail", ELSEWHERE).status_code == 302


def test_guesses_are_limited_alike_for_names_that_no_one_has(limits):
    limits(guesses=Rate(USES, 86_400))

    assert statuses([log_in("nobody", address=one) for one in networks(USES + 1)]) == [200] * USES + [429]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("subnet", "uses"),
    [
        ("2001:db8:1:2::{:x}", 10), ("2001:db8:1:{:x}::1", 10), ("2001:db8:{:x}::1", 30),
        ("198.51.100.{}", 10), ("198.51.{}.1", 30),
    ],
)  # fmt: skip
def test_guesses_at_one_account_from_the_networks_of_one_provider_are_throttled_together(dave, subnet, uses):
    responses = [log_in("dave", address=subnet.format(n + 1)) for n in range(uses + 4)]

    assert statuses(responses) == [200] * uses + [429] * 4
    assert log_in("dave", PASSWORD, address=subnet.format(200)).status_code == 429
    assert log_in("dave", PASSWORD, HOME).status_code == 302
    assert log_in("dave", PASSWORD, "2001:db9::1").status_code == 302
    assert log_in("bob", "wrong", address=subnet.format(200)).status_code == 200


@pytest.mark.deep
def test_a_login_takes_nothing_of_the_limits_of_wrong_passwords_wherever_it_came_from(dave):
    logins = [log_in("dave", PASSWORD, address=f"2001:db8:{n + 1:x}::1") for n in range(40)]

    assert statuses(logins) == [302] * 40


@pytest.mark.deep
def test_one_password_on_many_accounts_is_throttled_by_network(dave):
    responses = [log_in(f"member{n}", "123456") for n in range(62)]

    assert statuses(responses) == [200] * 60 + [429] * 2
    assert log_in("dave", PASSWORD, ELSEWHERE).status_code == 302


def test_many_networks_of_one_ipv6_customer_are_throttled_together(limits):
    limits(logins_network=Rate(2, 3600))

    responses = [log_in(f"member{n}", address=f"2001:db8:1:{n:x}::1") for n in range(11)]

    assert statuses(responses) == [200] * 10 + [429]


@pytest.mark.deep
def test_logins_over_and_over_are_throttled_by_account_and_network(dave, bob):
    responses = [log_in("dave", PASSWORD) for _ in range(32)]

    assert statuses(responses) == [302] * 30 + [429] * 2
    assert responses[-1]["Retry-After"] == "20"
    assert "Too many passwords were entered in a short time." in responses[-1].content.decode()
    assert log_in("dave", PASSWORD, ELSEWHERE).status_code == 302
    assert log_in("bob", password_of("bob")).status_code == 302


def test_logins_of_many_accounts_are_throttled_by_network(dave, bob, limits):
    limits(passwords_network=Rate(USES, 3600))

    logins = [("dave", PASSWORD), ("bob", password_of("bob"))] * (USES // 2 + 1)
    responses = [log_in(name, password) for name, password in logins]

    assert statuses(responses) == [302] * USES + [429] * 2


def test_a_password_that_was_not_checked_costs_nothing(dave):
    with failing(LoginForm, "is_valid", HashesBusy):
        assert statuses([log_in("dave") for _ in range(30)]) == [429] * 30

    assert log_in("dave", PASSWORD).status_code == 302


@pytest.mark.deep
def test_waits_grow_with_the_wrong_passwords_of_a_day(dave, limits):
    limits(logins=Rate(1000, 60))

    responses = [log_in("dave") for _ in range(31)]

    assert statuses(responses) == [200] * 30 + [429]
    assert responses[-1]["Retry-After"] == "2880"


def test_a_form_that_arrives_twice_is_no_way_around_the_limit(dave):
    """Changing a password and a reset link accept the new password without a session: a guess like any other."""
    fields = {"username": "dave", "new_password1": "guess", "new_password2": "guess"}
    changes = [Client().post("/password/", fields, REMOTE_ADDR=HOME) for _ in range(12)]
    spellings = [urlsafe_base64_encode(text.encode()) for text in ("1", " 1", "+1", "01") * 3]
    resets = [Client().post(f"/password/reset/{one}/set-password/", fields, REMOTE_ADDR=HOME) for one in spellings]

    assert 429 not in statuses(changes[:10] + resets[:10])
    assert statuses(changes[10:] + resets[10:]) == [429] * 4


def test_an_open_session_cannot_guess_the_password_in_the_administration(dave):
    User.objects.filter(pk=dave.pk).update(is_staff=True, is_superuser=True)
    browser, fields = browser_of(dave), {"new_password1": "a new passphrase", "new_password2": "a new passphrase"}
    guesses = [browser.post("/admin/password_change/", fields | {"old_password": f"{n}"}) for n in range(11)]

    assert statuses(guesses) == [200] * 10 + [429]


CONFIRMED = {
    "/login/confirm/": ({}, "password"),
    "/password/": ({"new_password1": "a new passphrase", "new_password2": "a new passphrase"}, "old_password"),
}
"""Forms that a member confirms with the password, and the field that has it."""


def confirm(browser: Client, path: str, password: str, **changes: str):
    fields, field = CONFIRMED[path]
    return browser.post(path, fields | {field: password} | changes, REMOTE_ADDR=HOME)


@pytest.mark.parametrize("path", CONFIRMED)
def test_an_open_session_cannot_guess_the_password_in_any_form(dave, caplog, path):
    browser = browser_of(dave)
    responses = [confirm(browser, path, f"guess {n}") for n in range(11)]

    assert 429 not in statuses(responses[:10])
    assert responses[10].status_code == 429
    lines = [one.getMessage() for one in caplog.records if one.name == "articles.web.limits"]
    assert lines.count(f"failed login: client={HOME} name='dave'") == 10
    assert confirm(browser, path, PASSWORD).status_code == 429
    assert User.objects.get(pk=dave.pk).email == "dave@example.org"


_NEW = {"username": "fresh", "password1": PASSWORD, "password2": PASSWORD, "email": "fresh@example.org"}


@pytest.mark.parametrize(
    ("path", "fields", "shown"),
    [
        ("/login/", {"username": "dave", "password": PASSWORD}, 'value="dave"'),
        ("/signup/", _NEW, 'value="fresh@example.org"'),
        ("/login/confirm/", {"password": PASSWORD}, "<form"),
        ("/password/", {"old_password": PASSWORD}, "<form"),
        ("/password/reset/", {"email": "dave@example.org"}, 'value="dave@example.org"'),
    ],
)
def test_a_refused_form_comes_back_with_the_reason_and_never_reads_the_password(dave, limits, path, fields, shown):
    names = ("logins", "signups", "mails", "passwords")
    limits(**dict.fromkeys(names, Rate(1, 600)))
    browser = browser_of(dave)  # whose stale forms are read as well
    wrong = dict.fromkeys(fields, "wrong") | {"username": "dave", "email": "dave@example.org"}
    assert browser.post(path, wrong, REMOTE_ADDR=HOME).status_code < 429
    with failing(User, "check_password", AssertionError):
        answer = browser.post(path, fields, REMOTE_ADDR=HOME)

    page = answer.text
    assert (answer.status_code, "Try again in" in page, shown in page, PASSWORD in page) == (
        429,
        True,
        True,
        False,
    )
    assert not User.objects.filter(username="fresh").exists()


# Sign-ups, mails, searches, changes


def test_a_burst_of_sign_ups_is_throttled_by_network(db):
    def sign_up(number: int, address: str):
        fields = {"username": f"fresh{number}", "password1": PASSWORD, "password2": PASSWORD, "email": ""}
        return Client().post("/signup/", fields, REMOTE_ADDR=address)

    responses = [sign_up(number, HOME) for number in range(12)]

    assert statuses(responses) == [302] * 10 + [429] * 2
    assert User.objects.filter(username__startswith="fresh").count() == 10
    assert sign_up(99, ELSEWHERE).status_code == 302


@pytest.mark.parametrize("address", ["dave@example.org", "nobody@example.org"])
def test_mails_to_one_address_are_limited_whether_or_not_it_has_an_account(dave, address):
    responses = [
        Client().post("/password/reset/", {"email": address.upper()}, REMOTE_ADDR=f"203.0.{n}.7") for n in range(7)
    ]
    wait_until_sent()

    assert statuses(responses) == [302] * 5 + [429] * 2
    assert len(mail.outbox) == (5 if address == "dave@example.org" else 0)


def test_links_that_verify_an_address_are_limited_by_it_whatever_the_form_says(dave):
    User.objects.filter(pk=dave.pk).update(email="victim@example.org")
    browser = browser_of(dave)
    responses = [
        browser.post("/settings/mail/link/", {"email": f"a{n}@example.org"}, REMOTE_ADDR=f"203.0.{n}.7")
        for n in range(7)
    ]
    wait_until_sent()

    assert statuses(responses) == [302] * 5 + [429] * 2
    assert [message.to for message in mail.outbox] == [["victim@example.org"]] * 5


def test_all_spellings_of_a_mail_address_share_its_limit(dave):
    browser, domains = browser_of(dave), ("example.org", "ｅxample.org", "exa\u00admple.org", "exam\u200bple.org")
    spellings = [
        "Victim@example.org", '"victim"@example.org', "victim+a@example.org",
        r'"\vic\tim"@example.org', "vic.tim@example.org",
    ]  # fmt: skip
    spellings += map("victim@{}".format, domains)
    responses = []
    for n, spelling in enumerate(spellings):
        User.objects.filter(pk=dave.pk).update(email=spelling)
        responses.append(browser.post("/settings/mail/link/", REMOTE_ADDR=f"203.0.{n}.7"))
    wait_until_sent()

    assert statuses(responses) == [302] * 5 + [429] * 4
    assert len(mail.outbox) == 5


def test_mails_to_many_addresses_are_limited_by_network(db):
    responses = [
        Client().post("/password/reset/", {"email": f"a{n}@example.org"}, REMOTE_ADDR=HOME) for n in range(22)
    ]

    assert statuses(responses) == [302] * 20 + [429] * 2


@pytest.mark.parametrize(
    ("path", "uses"), [("/search/?q=a", 5 * USES), ("/feeds/newest.atom", USES), ("/sitemap.xml", USES)]
)
def test_expensive_pages_are_limited_by_network_for_readers_without_account(path, uses):
    responses = [Client().get(path, REMOTE_ADDR=HOME) for _ in range(uses + 1)]

    assert statuses(responses) == [200] * uses + [429]
    assert Client().get(path, REMOTE_ADDR=ELSEWHERE).status_code == 200
    assert Client().get("/newest/", REMOTE_ADDR=HOME).status_code == 200


def test_every_feed_is_limited():
    feeds = [route.name for route in routes() if "<feed_kind:" in route.pattern]

    assert len(feeds) > 9
    assert [name for name in feeds if "feeds" not in PAGES.get(name, ())] == []


@pytest.mark.parametrize("path", ["/pulse/?ids=1", "/post/known/?link=https://example.org/"])
def test_what_scripts_of_pages_ask_for_is_limited_and_answered_in_json(alice, bob, path):
    browser = browser_of(alice)
    responses = [browser.get(path, REMOTE_ADDR=HOME) for _ in range(USES + 1)]

    assert statuses(responses) == [200] * USES + [429]
    assert responses[-1].json()["error"].endswith(".")
    assert responses[-1]["Retry-After"] == "600"
    assert browser_of(bob).get(path, REMOTE_ADDR=HOME).status_code == 200


def test_members_behind_one_network_are_counted_by_account(alice, bob):
    fields, browsers = {"theme": "dark", "next": "/"}, [browser_of(alice), browser_of(bob)]
    first = [browsers[0].post("/preferences/", fields, REMOTE_ADDR=HOME) for _ in range(USES + 1)]

    assert statuses(first) == [302] * USES + [429]
    assert browsers[1].post("/preferences/", fields, REMOTE_ADDR=HOME).status_code == 302
    assert Client().post("/preferences/", fields, REMOTE_ADDR=HOME).status_code == 302


@pytest.mark.hostile
def test_every_form_takes_a_use_before_it_is_read(article, carol):
    User.objects.filter(pk=carol.pk).update(is_staff=True, is_superuser=True)
    comment_on(wiring.repository(), article, "A comment", carol.pk)
    paths = [route.path() for route in routes() if not route.pattern.startswith("/api/")]

    for browser in (browser_of(carol), Client()):
        with failing(*TAKE, EXHAUSTED):
            statuses = {path: browser.post(path, {"choice": "oppose"}).status_code for path in paths}
        others = {path for path, status in statuses.items() if status not in (404, 405, 429)}
        assert others == LIMITED_BY_THEIR_SCRIPT
        assert list(statuses.values()).count(429) > 40


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/post/", {"title": ""}),
        ("/articles/{article}/edit/", {"title": "\u0301", "link": "https://example.org/a"}),
        ("/articles/{article}/comments/", {"text": "x" * 20_001}),
        ("/comments/{comment}/edit/", {"text": ""}),
        ("/articles/{article}/flag/", {"reason": "against-rules", "words": ""}),
    ],
)
def test_refused_texts_count_and_what_was_typed_is_given_back(article, site_store, alice, bob, path, fields):
    member = bob if "flag" in path else alice
    path = path.format(article=article, comment=comment_on(site_store, article, "A comment", alice.pk))
    browser = browser_of(member)

    assert statuses([browser.post(path, fields) for _ in range(USES)]) == [400] * USES
    typed = {"title": "Typed title", "link": "https://example.org/a", "text": "Typed", "words": "Typed"}
    response = browser.post(path, fields | typed)

    assert (response.status_code, response["Retry-After"]) == (429, "600")
    page = response.content.decode()
    assert "You have sent too many forms in a short time. Try again in 10 minutes." in page
    assert "Typed" in page
    assert "This page was out of date" not in page
    script = browser.post(path, fields | typed, headers={"accept": "application/json"})
    assert script.json() == {"error": "You have sent too many forms in a short time. Try again in 10 minutes."}


def test_a_flood_of_refused_forms_is_answered_without_them(article, bob, limits):
    limits(previews=Rate(2, 3600))
    browser = browser_of(bob)
    answers = [browser.post("/post/", {"title": "Typed title", "link": ""}) for _ in range(USES + 4)][USES:]

    assert statuses(answers) == [429] * 4
    assert ["Typed title" in answer.content.decode() for answer in answers] == [True, True, False, False]


def test_a_preview_takes_nothing_of_the_limit_of_forms_and_no_other_form_is_a_preview(article, bob):
    browser, path = browser_of(bob), f"/articles/{article}/comments/"
    for number in range(USES):
        assert browser.post(path, {"text": f"Text {number}", "preview": "1"}).status_code == 200
        assert browser.post("/preferences/", {"theme": "dark", "next": "/", "preview": "1"}).status_code == 302

    assert browser.post("/preferences/", {"theme": "dark", "preview": "1"}).status_code == 429
    assert browser.post(path, {"text": "Text"}).status_code == 429
    assert browser.post(path, {"text": "Text", "preview": "1"}).status_code == 200


def test_new_members_edit_so_many_texts_a_day(article, site_store, alice, limits):
    limits(edits_new=Rate(2, 86400), changes=None)
    comment, browser = comment_on(site_store, article, "A comment", alice.pk), browser_of(alice)
    edits = [
        browser.post(path, {"title": "T", "link": "https://example.org/a", "text": f"Text {number}"})
        for number, path in enumerate([f"/articles/{article}/edit/", *[f"/comments/{comment}/edit/"] * 2])
    ]

    assert statuses(edits) == [302, 302, 429]
    assert "New members can edit articles and comments 2 times in 1 day." in edits[-1].content.decode()
    assert "Text 2</textarea>" in edits[-1].content.decode()
    assert site_store.comments.get(comment).text == "Text 1"


@pytest.mark.parametrize("limit", ["mentions", "mentions_new"])
def test_mentions_are_limited_over_all_texts_and_edits_of_a_member(article, site_store, alice, bob, limit, limits):
    limits(edits_new=None, changes=None, **{limit: Rate(4, 86400)})
    for name in ("ann", "ben", "cat", "dan", "eve"):
        member(name)
    comment, browser = comment_on(site_store, article, "A comment", bob.pk), browser_of(bob)
    texts = {
        f"/articles/{article}/comments/": ("@ann @ben @bob @nobody", 302),
        f"/comments/{comment}/edit/": ("@cat", 302),
        "/post/": ("@ann @ben", 429),
    }
    for path, (text, status) in texts.items():
        response = browser.post(path, {"title": "Hello", "text": text})
        assert response.status_code == status
    assert "@ann @ben</textarea>" in response.content.decode()
    assert "mention" in response.content.decode()
    assert browser.post(f"/comments/{comment}/edit/", {"text": "@cat again"}).status_code == 302
    for text, status in (("@cat @dan @eve", 429), ("@cat @dan", 200)):
        edit = browser.patch(f"/api/comments/{comment}", {"text": text}, content_type="application/json")
        assert edit.status_code == status


def test_large_bodies_are_limited_before_they_are_decoded(site_store):
    for path in ("/post/", "/login/", "/api/articles", "/nowhere/"):
        with failing(*TAKE, EXHAUSTED), failing(WSGIRequest, "read", AssertionError("it is read")):
            answer = Client().post(path, {"text": "x" * 100_000})
        assert (answer.status_code, answer["Retry-After"]) == (429, "60")
        assert answer["Content-Type"].startswith("application/json" if "api" in path else "text/html")


def test_copies_of_a_members_data_are_limited(alice):
    browser = browser_of(alice)

    assert statuses([browser.get("/settings/data/") for _ in range(6)]) == [200] * 5 + [429]


# What readers see


def test_a_page_and_a_script_are_told_what_was_limited_and_when_it_works_again(article: ArticleId, bob):
    browser = browser_of(bob)
    for _ in range(USES):
        browser.post(f"/articles/{article}/vote/", {"choice": "vote"})

    response = browser.post(f"/articles/{article}/vote/", {"choice": "none"})

    assert (response.status_code, response["Retry-After"]) == (429, "600")
    assert "You are voting too fast. Try again in 10 minutes." in response.content.decode()
    as_script = {"accept": "application/json"}
    told = browser.post(f"/articles/{article}/vote/", {"choice": "none"}, headers=as_script)
    assert (told.status_code, told["Retry-After"]) == (429, "600")
    assert told.json() == {"error": "You are voting too fast. Try again in 10 minutes."}
    assert wiring.repository().articles.get(article).votes == 2


# Everything else


def test_the_limits_are_counted_by_views_that_exist():
    assert {*FORMS, *PAGES} <= {route.name for route in routes()}


def test_a_limit_that_is_used_up_survives_a_restart(dave):
    for _ in range(11):
        log_in("dave")
    wiring.forget_repositories()

    assert log_in("dave", PASSWORD).status_code == 429


def test_without_a_store_a_process_limits_by_itself(dave, settings):
    """It remembers the uses of other tests, which have other addresses."""
    settings.STORE_URL = "unix:///nowhere/store.sock"
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.db"
    wiring.forget_repositories()

    responses = [log_in("dave", address="192.0.2.7") for _ in range(12)]

    assert statuses(responses) == [200] * 10 + [429] * 2
    assert log_in("dave", PASSWORD, "100.64.0.9").status_code == 302
    assert Client().get("/search/?q=a").status_code == 503


def test_without_limits_nothing_is_refused(dave, settings):
    settings.LIMITS = {}
    wiring.forget_repositories()

    assert statuses([log_in("dave") for _ in range(12)]) == [200] * 12


# Bytes


TEXT = "字" * 3_000
BUDGET = 20_000


def sent_as_json(method, address, **fields):
    return lambda one: getattr(one, method)(address, json.dumps(fields, ensure_ascii=False), "application/json")


KEPT = {
    "an article": lambda one: one.post("/post/", {"title": "Mine", "text": TEXT}),
    "an edit": lambda one: one.post("/articles/1/edit/", {"title": "Mine", "text": TEXT}),
    "a comment": lambda one: one.post("/articles/1/comments/", {"text": TEXT}),
    "an edit of a comment": lambda one: one.post("/comments/1000001/edit/", {"text": TEXT}),
    "a flag": lambda one: one.post("/articles/1/flag/", {"reason": "spam", "words": TEXT}),
    "a profile": lambda one: one.post("/settings/about/", {"about": TEXT}),
    "an appeal": lambda one: one.post("/appeal/", {"text": TEXT}),
    "a token": lambda one: one.post("/settings/tokens/", {"name": TEXT}),
    "an article by the API": sent_as_json("post", "/api/articles", title="Mine", text=TEXT),
    "a comment by the API": sent_as_json("post", "/api/articles/1/comments", text=TEXT),
    "a profile by the API": sent_as_json("put", "/api/me/about", text=TEXT),
}


@pytest.mark.deep
@pytest.mark.parametrize("door", KEPT)
def test_the_bytes_that_a_member_sends_have_a_budget_at_every_door(limits, article, alice, door):
    limits(changes=None, texts=Rate(BUDGET, 86_400))
    browser = browser_of(alice)

    statuses = [KEPT[door](browser).status_code for _ in range(3)]

    assert (429 in statuses[:2], statuses[2]) == (False, 429), statuses
    for other in KEPT.values():
        assert other(browser).status_code == 429


def test_a_text_over_the_budget_comes_back_with_a_sentence_that_says_when_to_go_on(limits, article, alice):
    limits(texts=Rate(BUDGET, 86_400))
    browser = browser_of(alice)
    for _ in range(3):
        response = browser.post("/articles/1/comments/", {"text": TEXT}, headers={"accept-language": "zh-Hans"})

    assert response.status_code == 429
    assert TEXT in response.text
    assert "你在短时间内发送了太多文字。请在 8 小时 24 分钟后重试。" in response.text

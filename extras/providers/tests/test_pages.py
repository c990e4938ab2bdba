"""Accounts of people who come from a provider: signing up, names, moderation, and where core pages show it."""

import random
import re
from contextlib import suppress
from types import SimpleNamespace

import pytest

from accounts import account_deletion
from accounts.models import Invitation, Passkey, User, WaitingAccount
from accounts.moderators import GROUP
from accounts.sign_in import second_factor, ways
from accounts.web.login_intent import local_path
from articles.domain.limits import Rate
from articles.web import extras
from extras.providers import identities, protocol
from extras.providers.models import Identity
from extras.providers.provider import GITHUB, Person, Provider
from extras.providers.tests.own_provider import left_for
from tests.cast import PASSWORD
from tests.factories import browser_of, post
from voting_site.serving.workers.gateway import checks_password


def member_at(browser):
    return browser.get("/about/").wsgi_request.user


def connect(club, user, subject="alice"):
    return Identity.objects.create(user=user, issuer=club.issuer, subject=subject)


# Who may sign up


@pytest.mark.parametrize("how", ["invitation", "open"])
def test_a_newcomer_with_an_invitation_uses_it_up(browser, club, settings, alice, how):
    settings.SIGN_UP = how
    invitation = Invitation.objects.issue(alice)
    page = browser.get(f"/signup/?invitation={invitation.code}").text
    assert f'name="invitation" value="{invitation.code}"' in page

    club.log_in(browser, "dora", invitation=invitation.code)
    assert (
        "alice invited you to Article Voting. Moderators can see who invited whom."
        in browser.get("/signup/name/").text
    )
    browser.post("/signup/name/", {"username": "dora"})

    invitation.refresh_from_db()
    assert invitation.invited == member_at(browser) == User.objects.get(username="dora")


@pytest.mark.parametrize("how", ["invitation", "closed"])
def test_a_newcomer_without_one_can_only_connect_an_account(browser, club, settings, how):
    settings.SIGN_UP = how
    club.log_in(browser)

    page = browser.get("/signup/name/").text
    answer = browser.post("/signup/name/", {"username": "dora"})

    assert 'name="username"' not in page
    assert "Log in with an existing account" in page
    assert answer.status_code == 403
    assert not User.objects.exists()


def test_a_newcomer_waits_for_approval(browser, club, settings):
    settings.SIGN_UP = "approval"
    club.log_in(browser)
    browser.post("/signup/name/", {"username": "dora"})
    waiting = WaitingAccount.objects.get()

    assert "A moderator has to approve your account first." in club.log_in(browser).text

    waiting.end()
    waiting.approve()
    club.log_in(browser)
    assert member_at(browser).username == "dora"


@pytest.mark.parametrize(("trust", "told"), [(True, "[dora@club.example]"), (False, "[]")])
def test_other_extras_learn_the_verified_address_of_a_newcomer(browser, club, settings, monkeypatch, trust, told):
    def draw(place, _request, **facts):
        return f"[{facts['address']}]" if place == "newcomer" else ""

    settings.PROVIDERS = club.settings(is_trusted=trust)
    club.claims |= {"email": "dora@club.example", "email_verified": True}
    club.log_in(browser)
    monkeypatch.setattr(extras, "installed", lambda: [SimpleNamespace(draw=draw)])

    assert told in browser.get("/signup/name/").text


def test_a_closed_account_stays_closed(browser, club, alice):
    connect(club, alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)

    answer = club.log_in(browser)

    assert answer.status_code == 403
    assert "This account is closed." in answer.text
    assert not member_at(browser).is_authenticated


def test_a_form_that_arrives_twice_creates_one_account(browser, club):
    club.log_in(browser)
    kept = dict(browser.session)

    browser.post("/signup/name/", {"username": "dora"})
    other = browser_of()
    session = other.session
    session.update(kept)
    session.save()
    page = other.post("/signup/name/", {"username": "dora-2"}).text

    assert "You have an account already. Please log in again." in page
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "dora"}, "dora"), ({"preferred_username": "dora@example.org"}, "dora"),
        ({"nickname": "Zoë Müller"}, "Zoe_Muller"), ({"email": "d.o.r.a@example.org"}, "d_o_r_a"),
        ({"name": "99 Bottles"}, "Bottles"), ({"preferred_username": "alice"}, "alice2"),
        ({"preferred_username": "admin", "name": "Dora"}, "Dora"),
        ({"name": "多拉"}, ""), ({"name": "x" * 256}, ""), ({"preferred_username": "<script>"}, "script"),
        ({"preferred_username": 7, "nickname": ["x"]}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_a_name_is_proposed_from_the_claims(browser, club, alice, claims, name):
    club.claims = claims
    club.log_in(browser, "dora")

    page = browser.get("/signup/name/").text

    assert re.findall(r'name="username"(?: value="(.*?)")?', page) == [name]


# Ways in


def test_nobody_removes_the_identity_of_another(club, alice, bob):
    identity = connect(club, alice)
    browser = browser_of()
    browser.post("/login/", {"username": "bob", "password": PASSWORD})

    browser.post(f"/settings/identities/{identity.pk}/remove/")

    assert alice.identities.exists()


def test_unlinking_ends_the_moderation_that_the_provider_gave(browser, club, settings, alice):
    settings.PROVIDERS = club.settings(moderators=("realm_access.roles", "mod"))
    connect(club, alice)
    club.claims = {"realm_access": {"roles": ["mod"]}}
    club.log_in(browser)
    assert alice.groups.filter(name=GROUP).exists()

    browser.post(f"/settings/identities/{alice.identities.get().pk}/remove/")

    assert not alice.groups.exists()


def test_two_providers_give_moderation_until_both_have_taken_it_away(db, settings, alice):
    ones = [Provider(name, name, f"https://{name}.example", "a", "b", "openid") for name in ("one", "two")]
    settings.PROVIDERS = {one.name: one for one in ones}
    first, second = (Person(one.name, one.issuer, "alice", "", "", False, [], True) for one in ones)
    identities.link(alice, first)
    identities.link(alice, second)

    identities.recognise(first._replace(is_moderator=False))
    assert alice.groups.filter(name=GROUP).exists()

    identities.recognise(second._replace(is_moderator=False))
    assert not alice.groups.exists()


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3))
def test_no_sequence_of_changes_leaves_a_member_without_a_way_in(club, alice, seed):
    chance = random.Random(seed)

    def connect_one():
        club.claims["sub"] = f"alice {chance.randrange(3)}"
        club.back(browser, club.begin(browser, "/settings/identities/add/{}/"))

    def disconnect_one():
        for identity in alice.identities.order_by("?")[:1]:
            browser.post(f"/settings/identities/{identity.pk}/remove/")

    def add_passkey():
        Passkey.objects.create(user=alice, name="key", credential_id=str(chance.random()), public_key="x")

    def remove(row):
        with suppress(ways.LastWayError), ways.removing_a_way(alice):
            row()

    def remove_passkey():
        remove(alice.passkeys.first().delete if alice.passkeys.exists() else lambda: None)

    def remove_password():
        remove(lambda: User.objects.filter(pk=alice.pk).update(password="!"))

    for act in chance.choices(
        (connect_one, disconnect_one, disconnect_one, add_passkey, remove_passkey, remove_password), k=40
    ):
        browser = browser_of(User.objects.get(pk=alice.pk))
        act()
        assert ways.ways_in(User.objects.get(pk=alice.pk)) >= 1, act.__name__
    for identity in alice.identities.all():
        club.log_in(browser := browser_of(), identity.subject)
        assert member_at(browser) == alice


# The second step


@pytest.fixture
def careful(club, alice):
    """A code of alice, who takes a second step."""
    connect(club, alice)
    return second_factor.turn_on(alice)[0]


def test_the_second_step_follows_a_provider_and_keeps_what_waits_for_the_login(browser, club, alice, careful):
    answer = club.log_in(browser, next="/about/")
    assert answer.url == "/login/second/"
    assert not member_at(browser).is_authenticated

    answer = browser.post("/login/second/", {"code": careful})

    assert answer.url == "/about/"
    assert member_at(browser) == alice
    club.metadata = {"end_session_endpoint": f"{club.url}/end"}
    protocol.forget()
    assert left_for(browser.post("/logout/")).startswith(f"{club.url}/end?client_id=site&")


def test_a_newcomer_connects_an_account_with_a_second_step(browser, club, alice, careful):
    club.log_in(browser, "alice elsewhere")
    token = browser.session["newcomer"]["token"]

    browser.post("/login/", {"username": "alice", "password": PASSWORD, "connect": token})
    assert alice.identities.count() == 1, "not before the second step"
    browser.post("/login/second/", {"code": careful})

    assert alice.identities.count() == 2


def test_moderators_of_a_provider_set_up_a_second_step_first(browser, club, settings, alice):
    settings.SECOND_FACTOR = "moderators"
    settings.PROVIDERS = club.settings(moderators=("groups", "mods"))
    connect(club, alice)
    club.claims = {"groups": ["mods"]}

    assert club.log_in(browser).url == "/login/second/"
    assert not member_at(browser).is_authenticated


# GitHub


@pytest.fixture
def github(club, settings, monkeypatch):
    """A provider that answers as GitHub does."""
    for name, path in (("token", "token"), ("userinfo", "userinfo"), ("emails", "emails")):
        monkeypatch.setitem(protocol.GITHUB_METADATA, f"{name}_endpoint", f"{club.url}/{path}")
    settings.PROVIDERS = club.settings(issuer=GITHUB, scopes="read:user user:email", is_trusted=True)
    club.userinfo = {"id": 583231, "login": "octocat", "name": "The Octocat", "email": "public@example.org"}
    club.emails = [
        {"email": "unverified@example.org", "verified": False, "primary": True},
        {"email": "old@example.org", "verified": True, "primary": False},
    ]
    return club


def come_from(github, browser):
    answer = github.begin(browser)
    return github.back(browser, {name: answer[name] for name in ("code", "state")})


def test_a_person_from_github_has_a_number_and_a_verified_address(github):
    browser = browser_of()
    github.emails.append({"email": "octocat@example.org", "verified": True, "primary": True})
    assert come_from(github, browser).url == "/signup/name/"
    browser.post("/signup/name/", {"username": "octocat"})

    octocat = User.objects.get()
    assert (octocat.email, octocat.has_verified_email) == ("octocat@example.org", True)
    identity = octocat.identities.get()
    assert (identity.issuer, identity.subject) == (GITHUB, "583231")


def test_an_unverified_address_of_github_is_not_used(github):
    browser = browser_of()
    come_from(github, browser)
    browser.post("/signup/name/", {"username": "octocat"})

    assert User.objects.get().email == ""


def test_github_proves_nothing_afresh_and_the_page_says_what_to_do(github, time_passes, alice):
    Identity.objects.create(user=alice, issuer=GITHUB, subject="583231")
    browser = browser_of()
    come_from(github, browser)
    time_passes(700)

    page = browser.get("/login/confirm/")
    answer = browser.post("/login/confirm/with/club/", follow=True)

    assert "Club cannot confirm that you have just logged in there. Use another way" in page.text
    assert "/login/confirm/with/" not in page.text
    assert "Club did not confirm" in answer.text
    assert browser.get("/settings/delete/").status_code == 302


# In the core's pages and acts


def test_without_passwords_pages_offer_providers_alone(browser, club, settings):
    settings.PASSWORDS = False

    for page in ("/login/", "/signup/"):
        text = browser.get(page).text
        assert "password" not in text.lower()
        assert "with Club" in text


def test_a_click_survives_the_way_to_a_provider(site_store, browser, club, bob):
    article = post(site_store, 1)
    connect(club, bob)

    answer = club.log_in(browser, next="/", article=str(article), choice="vote")

    assert answer.url == "/"
    assert site_store.articles.get(article).votes == 2


def test_answers_of_providers_are_limited_by_network(browser, club, site_store, limits):
    limits(passwords_network=Rate(2, 600))

    answers = [browser.get("/login/with/club/back/?state=x") for _ in range(3)]
    elsewhere = browser.get("/login/with/club/back/?state=x", REMOTE_ADDR="203.0.113.7")

    assert [answer.status_code for answer in (*answers, elsewhere)] == [403, 403, 429, 403]


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/login/with/club/", "POST"), ("/login/confirm/with/club/", "POST"), ("/login/with/club/back/", "GET"),
        ("/settings/identities/add/club/", "POST"),
    ],
)  # fmt: skip
def test_what_waits_for_a_provider_keeps_no_page_waiting(path, method):
    assert checks_password(SimpleNamespace(path=path, method=method))


@pytest.mark.parametrize("path", ["/login/with/club/back/?state=x", "/signup/name/"])
def test_no_login_leads_back_to_the_way_from_a_provider(browser, club, path):
    assert local_path(path) == ""
    assert 'href="/login/"' in browser.get(path).text


def test_a_deleted_account_has_no_identities(club, alice):
    connect(club, alice)

    account_deletion.begin(alice.pk)

    assert not Identity.objects.exists()

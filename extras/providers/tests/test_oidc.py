"""Signing in with a certified provider, which runs as a process."""

import re

import pytest
from django.contrib.auth.models import Group
from django.core import mail

from accounts.models import User
from accounts.moderators import GROUP
from extras.providers import protocol
from extras.providers.models import Identity
from extras.providers.tests.own_provider import left_for
from extras.providers.tests.provider_process import MISSING, ProviderProcess, come_back, log_out_at
from tests.cast import PASSWORD
from tests.factories import browser_of
from tests.mail_backends import wait_until_sent

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture(scope="module")
def process():
    process = ProviderProcess()
    yield process
    process.stop()


@pytest.fixture
def club(process, settings):
    """The provider, in the site's settings."""
    protocol.forget()
    settings.PROVIDERS = process.settings()
    return process


def log_in(browser, person="alice", **fields):
    return come_back(browser, browser.post("/login/with/club/", fields), person)


def sign_up(browser, person="alice", name="Alice"):
    log_in(browser, person)
    browser.post("/signup/name/", {"username": name})
    return User.objects.get(username=name)


def hidden_fields(page):
    """Return what the forms in the middle of a page carry; that of the language is below."""
    return dict(reversed(re.findall(r'type="hidden" name="(?!csrf)(\w+)" value="(.+?)"', page)))


def test_a_newcomer_chooses_a_name_and_gets_back_what_was_typed(browser):
    page = browser.post("/settings/email/", {"email": "typed@example.org"})
    assert "Log in with The club" in page.text

    answer = log_in(browser, **hidden_fields(page.text))
    assert answer.url == "/signup/name/"
    page = browser.get(answer.url)
    assert 'value="alice"' in page.text
    assert "You come from The club as alice@example.org." in page.text
    answer = browser.post("/signup/name/", {"username": "Alice"}, follow=True)

    assert answer.redirect_chain[-1][0].startswith("/settings/")
    assert 'value="typed@example.org"' in answer.text
    alice = User.objects.get(username="Alice")
    found = (alice.email, alice.has_verified_email, alice.has_usable_password())
    assert found == ("alice@example.org", False, False)
    assert (alice.identities.get().subject, alice.identities.get().label) == ("alice", "alice@example.org")


def test_the_next_login_leads_to_the_account_at_once(browser):
    alice = sign_up(browser)
    browser = browser_of()

    assert log_in(browser, next="/about/").url == "/about/"
    assert browser.get("/settings/").wsgi_request.user == alice
    assert User.objects.count() == 1


def test_a_member_connects_the_provider_and_disconnects_it(club, bob):
    User.objects.filter(pk=bob.pk).update(verified_email=bob.email)
    browser = browser_of()
    browser.post("/login/", {"username": "bob", "password": PASSWORD})
    answer = come_back(browser, browser.post("/settings/identities/add/club/"), follow=True)
    assert "From now on, you can log in with The club." in answer.text
    assert "alice@example.org" in answer.text
    wait_until_sent()
    assert [one.to for one in mail.outbox] == [["bob@example.org"]]

    other = browser_of()
    log_in(other)
    assert other.get("/settings/").wsgi_request.user == bob

    browser.post(f"/settings/identities/{bob.identities.get().pk}/remove/")
    assert not Identity.objects.exists()
    assert bob.has_usable_password()
    wait_until_sent()
    told = (
        "You can now log in to Article Voting with The club",
        "You can no longer log in to Article Voting with The club",
    )
    assert tuple(one.subject for one in mail.outbox) == told


def test_an_identity_of_another_member_is_not_connected(browser, club, bob):
    alice = sign_up(browser)
    browser = browser_of()
    browser.post("/login/", {"username": "bob", "password": PASSWORD})

    answer = come_back(browser, browser.post("/settings/identities/add/club/"), follow=True)

    assert "is connected to another account here" in answer.text
    assert Identity.objects.get().user == alice


def test_a_newcomer_connects_the_account_that_they_have_by_logging_in_to_it(browser, bob):
    log_in(browser, next="/about/")
    page = browser.get("/signup/name/")
    page = browser.post("/login/", hidden_fields(page.text) | {"other": "1"})
    assert "Log in to connect your account here with The club." in page.text
    assert not Identity.objects.exists()

    answer = browser.post("/login/", hidden_fields(page.text) | {"username": "bob", "password": PASSWORD})

    assert answer.url == "/about/"
    assert Identity.objects.get().user == bob


def test_another_login_in_the_same_browser_connects_nothing(browser, bob):
    log_in(browser)

    browser.post("/login/", {"username": "bob", "password": PASSWORD, "connect": "x" * 22})

    assert not Identity.objects.exists()


@pytest.mark.parametrize("is_trusted", [True, False])
def test_only_a_trusted_provider_links_a_verified_address_to_accounts(browser, club, settings, alice, is_trusted):
    settings.PROVIDERS = club.settings(is_trusted=is_trusted)
    User.objects.filter(pk=alice.pk).update(verified_email=alice.email)

    log_in(browser)

    assert browser.get("/about/").wsgi_request.user.is_authenticated is is_trusted
    assert alice.identities.exists() is is_trusted


@pytest.mark.parametrize("verified", ["here", "there"])
def test_an_address_has_to_be_verified_on_both_sides(browser, club, settings, alice, verified):
    settings.PROVIDERS = club.settings(is_trusted=True)
    claims = {"email": alice.email, "email_verified": verified == "there"}
    club.tell(person="eve", claims=claims)
    User.objects.filter(pk=alice.pk).update(verified_email=alice.email if verified == "here" else "")

    assert log_in(browser, "eve").url == "/signup/name/"

    assert not alice.identities.exists()


def test_a_trusted_providers_address_is_verified_from_the_start(browser, club, settings):
    settings.PROVIDERS = club.settings(is_trusted=True)

    assert sign_up(browser).has_verified_email


def test_log_out_leads_to_the_providers_and_back(browser):
    sign_up(browser)

    there = left_for(browser.post("/logout/", {"next": "/about/"}))

    assert not browser.get("/about/").wsgi_request.user.is_authenticated
    assert log_out_at(there) == "/"


def test_keys_that_were_replaced_are_read_again(browser, club, monkeypatch):
    alice = sign_up(browser)
    monkeypatch.setattr(protocol, "KEYS_EVERY", 0)

    club.tell(rotate="second")
    browser = browser_of()
    log_in(browser)

    assert browser.get("/about/").wsgi_request.user == alice


def test_claims_give_moderation_and_take_it_away(browser, club, settings):
    settings.PROVIDERS = club.settings(moderators=("groups", "news"))
    claims = {"email": "dora@example.org", "preferred_username": "dora"}
    club.tell(person="dora", claims=claims | {"groups": ["news"]})
    dora = sign_up(browser, "dora", "dora")
    assert dora.groups.filter(name=GROUP).exists()

    club.tell(person="dora", claims=claims)
    log_in(browser, "dora")

    assert not dora.groups.exists()


def test_claims_take_away_only_what_they_gave(browser, club, settings):
    settings.PROVIDERS = club.settings(moderators=("groups", "nobody has this"))
    alice = sign_up(browser)
    alice.groups.add(Group.objects.get(name=GROUP))

    log_in(browser)

    assert alice.groups.filter(name=GROUP).exists()


def test_the_provider_proves_afresh_who_uses_a_session(browser, time_passes):
    sign_up(browser)
    time_passes(700)
    assert browser.get("/settings/delete/").url.startswith("/login/confirm/")
    page = browser.get("/login/confirm/?next=/settings/delete/")
    assert "Confirm with The club" in page.text

    answer = come_back(browser, browser.post("/login/confirm/with/club/", hidden_fields(page.text)))

    assert answer.url == "/settings/delete/"
    assert browser.get(answer.url).status_code == 200


def test_someone_else_at_the_provider_proves_nothing(browser, club, time_passes):
    sign_up(browser)
    club.tell(person="eve", claims={})
    time_passes(700)

    answer = come_back(browser, browser.post("/login/confirm/with/club/"), "eve", follow=True)

    assert "That is not the account that is connected to yours here." in answer.text
    assert browser.get("/settings/delete/").status_code == 302

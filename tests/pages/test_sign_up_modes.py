"""Signing up by invitation, by approval, or not at all."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth import get_user
from django.test import Client
from django.utils import timezone

from accounts import account_deletion
from accounts.models import Invitation, User, WaitingAccount
from articles.web import wiring
from tests.cast import PASSWORD, password_of
from tests.factories import browser_of

PAGE, TREE = "/moderation/members/", "/invitations/"


def sign_up(name="newcomer", browser=None, **fields):
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD} | fields
    return (browser or Client()).post("/signup/", fields, follow=True)


def log_in(name="newcomer", password=PASSWORD):
    browser = Client()
    return browser, browser.post("/login/", {"username": name, "password": password})


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


@pytest.fixture
def by_invitation(site_store, settings):
    settings.SIGN_UP = "invitation"


@pytest.fixture
def by_approval(site_store, settings):
    settings.SIGN_UP = "approval"


def test_a_closed_site_says_so_and_accepts_no_sign_up(site_store, settings):
    settings.SIGN_UP = "closed"

    assert "This site doesn’t accept new members." in Client().get("/signup/").text
    assert sign_up().status_code == 403
    assert not User.objects.filter(username="newcomer").exists()


def test_an_invitation_lets_one_member_join(by_invitation, alice, carol):
    assert "You need a valid invitation" in Client().get("/signup/").text
    assert sign_up(invitation="made up").status_code == 403
    browser = browser_of(alice)
    assert "/settings/invitations/" in browser.get("/settings/").text
    page = browser.post("/settings/invitations/", follow=True).text
    (code,) = set(re.findall(r"http://testserver/signup/\?invitation=([\w-]+)", page))

    form = Client().get(f"/signup/?invitation={code}").text
    assert "alice invited you to Article Voting." in form
    newcomer = Client()
    for _ in range(2):  # a double click
        response = sign_up(browser=newcomer, invitation=code)
        assert response.status_code == 200

    assert get_user(newcomer).username == "newcomer"
    assert "This invitation has been used." in sign_up("another", invitation=code).text
    assert not User.objects.filter(username="another").exists()
    assert "You need a valid invitation" in Client().get(f"/signup/?invitation={code}").text
    assert "newcomer" in text_of(browser.get("/settings/invitations/"))
    assert "Who invited whom alice Moderation alice newcomer" in text_of(browser_of(carol).get(TREE))


def test_an_invited_person_reads_what_a_site_for_members_is(by_invitation, alice, settings):
    settings.READING = "members"
    code = Invitation.objects.issue(alice).code

    assert "so the best rise to the top." in Client().get(f"/signup/?invitation={code}").text
    assert "so the best rise to the top." not in Client().get("/signup/?invitation=made-up").text


def test_invitations_are_limited_and_expire(by_invitation, alice, settings):
    settings.INVITATIONS_PER_MEMBER = 1
    browser = browser_of(alice)
    browser.post("/settings/invitations/")
    page = browser.post("/settings/invitations/", follow=True).text
    assert "You have no invitations left." in page
    assert "Create an invitation" not in page
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert sign_up(invitation=Invitation.objects.get().code).status_code == 403
    assert "You have 1 invitation left." in browser.get("/settings/invitations/").text


@pytest.mark.parametrize(("mode", "is_needed"), [("invitation", True), ("open", False)])
def test_the_administration_leads_to_invitations_where_needed(site_store, settings, alice, mode, is_needed):
    settings.SIGN_UP = mode
    alice.is_staff = alice.is_superuser = True
    alice.save()

    page = browser_of(alice).get("/administration/joining/").text

    assert ('href="/settings/invitations/"' in page) is is_needed


def test_an_inviter_takes_back_what_no_one_has_used(by_invitation, alice, bob, settings):
    settings.INVITATIONS_PER_MEMBER = 2
    used, open_one = invite(alice, bob), Invitation.objects.issue(alice)

    for browser in (browser_of(bob), browser_of(alice)):
        assert Invitation.objects.count() == 2
        for one in (used, open_one):
            browser.post(f"/settings/invitations/{one.pk}/revoke/")

    assert list(Invitation.objects.all()) == [used]
    assert sign_up(invitation=open_one.code).status_code == 403
    assert "You have 1 invitation left." in browser.get("/settings/invitations/").text


@pytest.mark.parametrize(("mode", "is_active"), [("open", True), ("approval", False)])
def test_an_optional_invitation_records_who_invited(site_store, settings, alice, carol, mode, is_active):
    settings.SIGN_UP = mode
    code = Invitation.objects.issue(alice).code
    form = text_of(Client().get(f"/signup/?invitation={code}"))
    assert "alice invited you to Article Voting. Moderators can see who invited whom." in form

    newcomer = Client()
    for _ in range(2):  # a double click
        assert sign_up(browser=newcomer, invitation=code).status_code == 200
    assert sign_up("another", invitation=code).status_code == 200, "used: joins without one"
    assert sign_up("third", invitation="made up").status_code == 200

    assert [one.invited.username for one in Invitation.objects.all()] == ["newcomer"]
    assert set(User.objects.filter(username__in=["newcomer", "another", "third"], is_active=is_active)) == set(
        User.objects.filter(username__in=["newcomer", "another", "third"])
    )
    if mode == "approval":
        assert "Invited by alice" in text_of(browser_of(carol).get(PAGE))
        assert "newcomer" not in browser_of(carol).get(TREE).text, "no member yet"


@pytest.mark.parametrize(
    ("readers", "is_seen"), [("public", (True, True)), ("moderators", (False, True)), ("off", (False, False))]
)
def test_profiles_show_who_invited_if_seen(site_store, settings, alice, bob, carol, mallory, readers, is_seen):
    settings.INVITATION_TREE = readers
    invite(alice, bob)
    invite(bob, mallory)
    delete_as_the_member_does(mallory)

    for browser, sees in zip((Client(), browser_of(carol)), is_seen, strict=True):
        profile = text_of(browser.get("/users/bob/"))
        assert ("Invited by alice Invited 1 member: [deleted]" in profile) is sees
        assert ("Invited by" in profile) is sees
        told = browser.get("/api/users/bob").json()
        assert (told["invited_by"], told["invited"]) == (("alice", [""]) if sees else (None, []))
    assert ("Who invited whom" in browser_of(carol).get(PAGE).text) is is_seen[1]


def invite(inviter, invited):
    expiry = timezone.now() + timedelta(days=1)
    return Invitation.objects.create(inviter=inviter, invited=invited, code=str(uuid4()), expires_at=expiry)


def delete_one_row(member):
    User.objects.get(pk=member.pk).delete()


def delete_in_bulk(member):
    User.objects.filter(pk=member.pk).delete()


def delete_as_the_member_does(member):
    account_deletion.begin(member.pk)


@pytest.mark.parametrize("delete", [delete_as_the_member_does, delete_one_row, delete_in_bulk])
def test_a_deleted_account_gives_no_invitation_back_and_keeps_its_place_in_the_tree(
    by_invitation, settings, alice, bob, carol, mallory, delete
):
    settings.INVITATIONS_PER_MEMBER = 1
    invite(alice, bob)
    invite(bob, mallory)
    unused = Invitation.objects.create(inviter=bob, code="x", expires_at=timezone.now() + timedelta(days=1))

    delete(bob)
    account_deletion.advance_all(1)

    told = text_of(browser_of(alice).post("/settings/invitations/", follow=True))
    assert "You have no invitations left." in told
    assert "Members you invited [deleted]" in told
    assert "Who invited whom alice Moderation alice [deleted] mallory" in text_of(browser_of(carol).get(TREE))
    assert not Invitation.objects.filter(pk=unused.pk).exists()


def test_an_account_waits_until_a_moderator_approves_it(by_approval, carol):
    assert "A moderator has to approve your account before" in Client().get("/signup/").text
    newcomer = Client()

    assert "A moderator has to approve it first." in sign_up(browser=newcomer).text

    assert not get_user(newcomer).is_authenticated
    assert "A moderator has to approve your account first." in log_in()[1].text
    assert "A moderator has to" not in log_in(password="a wrong one 71")[1].text
    assert "Sign-ups (1)" in text_of(browser_of(carol).get("/moderation/"))
    assert "Waiting for approval newcomer" in text_of(browser_of(carol).get(PAGE))
    number = str(User.objects.get(username="newcomer").pk)
    for _ in range(2):
        assert browser_of(carol).post(f"{PAGE}decide/", {"approve": number}).status_code == 302

    browser, response = log_in()
    assert response.status_code == 302
    assert get_user(browser).username == "newcomer"
    assert "newcomer" not in browser_of(carol).get(PAGE).text


def test_what_was_typed_before_signing_up_comes_back_to_the_approved_member_only(by_approval, article, carol, bob):
    def type_and_sign_up(name):
        browser, place = Client(), f"/articles/{article}/comments/"
        login = browser.post(place, {"text": f"Typed by {name}"})
        hidden = {"next": place, "typed": re.search(r'name="typed" value="([^"]+)"', login.text)[1]}
        shown = browser.post("/signup/", hidden | {"other": "1"})
        assert "Once your account is approved, log in with this browser within 30 days" in shown.text
        sign_up(name, browser, **hidden)
        browser_of(carol).post(f"{PAGE}decide/", {"approve": str(User.objects.get(username=name).pk)})
        return browser

    def come_back(browser, name):
        fields = {"username": name, "password": PASSWORD, "next": "/"}
        return browser.post("/login/", fields, follow=True).text

    newcomer, shared, later = (type_and_sign_up(name) for name in ("newcomer", "another", "later"))

    assert "Typed by newcomer</textarea>" in come_back(newcomer, "newcomer")
    assert "Typed by" not in newcomer.get(f"/articles/{article}/comments/").text
    later.post("/login/", {"username": "later", "password": PASSWORD})
    assert later.get("/login/").url == f"/articles/{article}/comments/"
    shared.post("/login/", {"username": "bob", "password": password_of("bob"), "next": "/"})
    assert get_user(shared) == bob
    assert "Typed by" not in shared.get(f"/articles/{article}/comments/").text


def test_a_declined_account_is_deleted(by_approval, carol, mallory):
    sign_up()
    member = User.objects.get(username="newcomer")
    form = {"decline": str(member.pk), "confirmed": "1"}
    assert browser_of(mallory).post(f"{PAGE}decide/", form).status_code == 403

    browser_of(carol).post(f"{PAGE}decide/", form)

    member.refresh_from_db()
    assert member.left_at is not None
    assert not WaitingAccount.objects.exists()
    assert log_in()[1].status_code == 200
    browser_of(carol).post(f"{PAGE}decide/", form)  # pressed twice
    (entry,) = wiring.repository().moderation_log.get_page().entries
    assert (entry.action.value, entry.actor_name, entry.title) == ("decline-sign-up", "carol", "")
    log = Client().get("/moderation/").text
    assert "declined a sign-up" in log
    assert "newcomer" not in log
    for number in ("", "x", "9" * 40, str(carol.pk)):
        assert browser_of(carol).post(f"{PAGE}decide/", {"decline": number}).status_code == 302
    carol.refresh_from_db()
    assert carol.left_at is None


def test_a_moderator_who_decides_second_reads_what_was_decided(by_approval, carol):
    def decide(choice, name):
        form = {choice: str(User.objects.get(username=name).pk), "confirmed": "1"}
        return text_of(browser_of(carol).post(f"{PAGE}decide/", form, follow=True))

    for name in ("newcomer", "another"):
        sign_up(name)

    assert "The account has been approved." in decide("approve", "newcomer")
    assert "Another moderator has approved this account already." in decide("decline", "newcomer")
    assert "The account has been approved." in decide("approve", "newcomer"), "a form that arrives twice"
    assert "The sign-up has been declined and the account deleted." in decide("decline", "another")
    assert "Another moderator has declined this account already." in decide("approve", "another")
    assert "The sign-up has been declined and the account deleted." in decide("decline", "another")
    assert log_in()[1].status_code == 302
    assert User.objects.get(username="another").left_at is not None

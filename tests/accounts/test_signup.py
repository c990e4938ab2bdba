import re
from datetime import timedelta

import pytest
from django.contrib.auth import base_user, get_user
from django.contrib.auth.signals import user_logged_in
from django.db import connection
from django.db.models.signals import pre_save
from django.test import Client

from accounts.forms import SignUpForm
from accounts.models import User
from tests.cast import PASSWORD
from tests.internals import meanwhile

pytestmark = pytest.mark.django_db
TAKEN = "This name is taken."


def _fields(username="alice", **fields):
    return {"username": username, "password1": PASSWORD, "password2": PASSWORD, **fields}


def _sign_up(client, username="alice", **fields):
    return client.post("/signup/", _fields(username, **fields))


def test_signing_up_creates_an_account_and_logs_in(client):
    response = _sign_up(client, "Alice", email="alice@EXAMPLE.org")

    alice = User.objects.get()
    assert (response.status_code, response["Location"]) == (302, "/")
    assert get_user(client) == alice
    assert (alice.username, alice.canonical_name, alice.email) == ("Alice", "alice", "alice@example.org")
    assert alice.check_password(PASSWORD)


def test_the_next_page_welcomes_a_new_member_once(client):
    _sign_up(client, "Alice", next="/about/")

    assert "Welcome, Alice! Your account has been created." in client.get("/about/").text
    assert "Welcome" not in client.get("/about/").text


@pytest.mark.parametrize("spelling", ["alice", "ALICE", "ａｌｉｃｅ", "alice\n"])
def test_a_name_taken_in_any_spelling_is_refused(client, alice, spelling):
    response = _sign_up(client, spelling, password1="a long secret 71", password2="a long secret 71")

    assert response.status_code == 200
    assert response.text.count(TAKEN) == 1
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    "name", ["", "a" * 31, "al\r\nice", "al\x00ice", "<b>x</b>", "аlice", "ﬀ" * 16, "ali\u202ece", "\ud800x"]
)
def test_a_name_that_breaks_the_rules_is_refused_next_to_its_field(client, name):
    response = _sign_up(client, name.encode("utf-8", "replace").decode())

    assert response.status_code == 200
    assert 'id="id_username_error"' in response.text
    assert "<b>x" not in response.text
    assert not User.objects.exists()


def test_an_error_is_shown_in_the_title_above_the_form_and_at_its_field(client):
    fresh, page = (
        client.get("/signup/").text,
        _sign_up(client, password1="password1234", password2="password1234").text,
    )

    assert "<title>Sign up – " in fresh
    assert "<title>Error: Sign up – " in page
    assert 'role="alert"' not in fresh
    assert re.search(
        r'role="alert">\s*<p>Please fix this field:</p>\s*<ul[^>]*>\s*<li><a href="#id_password1">', page
    )
    assert re.search(r'id="id_password1_error">\s*<li>This password is too common.</li>', page)
    assert 'id="id_password2_error"' not in page


@pytest.mark.parametrize("name", ["Admin", "ＲＯＯＴ"])
def test_a_reserved_name_is_refused(client, name):
    response = _sign_up(client, name)

    assert "This name is reserved." in response.text
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("first", "second"), [("short1", "short1"), ("password1234", "password1234"), (PASSWORD, "other"), ("", "")]
)
def test_a_weak_or_mistyped_password_is_refused(client, first, second):
    response = client.post("/signup/", {"username": "alice", "password1": first, "password2": second})

    assert response.status_code == 200
    assert not User.objects.exists()


def test_a_password_like_the_name_is_refused(client):
    response = _sign_up(client, "wonderland", password1="wonderland1", password2="wonderland1")

    assert "too similar to the username" in response.text


@pytest.mark.parametrize(
    ("password", "is_refused"), [("ArticleVoting2026!", True), ("article voting of green frogs", False)]
)
def test_a_password_like_the_name_of_the_site_is_refused(client, settings, password, is_refused):
    settings.SITE_NAME = "Article Voting"

    _sign_up(client, "alice", password1=password, password2=password)

    assert User.objects.exists() is not is_refused


def test_unexpected_fields_are_ignored(client):
    _sign_up(client, is_staff="1", is_superuser="1", imported="1", canonical_name="bob", is_active="0", id="7")

    alice = User.objects.get()
    assert (alice.is_staff, alice.is_superuser, alice.imported, alice.is_active) == (False, False, False, True)
    assert alice.canonical_name == "alice"


def test_an_e_mail_address_in_use_is_accepted_silently(client, bob):
    assert _sign_up(client, email=bob.email).status_code == 302


def test_a_name_taken_between_check_and_save_is_an_error_in_the_form(client):
    def rival(sender, **kwargs):
        User.objects.bulk_create([User(username="ALICE", canonical_name="alice")])

    pre_save.connect(rival, sender=User)
    try:
        response = _sign_up(client)
    finally:
        pre_save.disconnect(rival, sender=User)

    assert response.status_code == 200
    assert TAKEN in response.text
    assert not get_user(client).is_authenticated


def test_the_password_is_hashed_before_the_database_is_locked():
    depths, outside = [], len(connection.savepoint_ids)
    form = SignUpForm(_fields())
    assert form.is_valid()

    with meanwhile(base_user, "make_password", lambda: depths.append(len(connection.savepoint_ids))):
        form.create()

    assert depths == [outside]


@pytest.mark.django_db(transaction=True)
def test_the_account_is_committed_before_the_login_signal(client):
    inside = []

    def listener(sender, request, user, **kwargs):
        inside.append((connection.in_atomic_block, request.POST["article"]))

    user_logged_in.connect(listener)
    try:
        _sign_up(client, article="42", choice="vote")
    finally:
        user_logged_in.disconnect(listener)

    assert inside == [(False, "42")]


@pytest.fixture
def made(client) -> User:
    """The account that the first of two identical forms creates."""
    _sign_up(client, next="/hot/")
    return User.objects.get()


@pytest.mark.parametrize("spelling", ["alice", "ALICE", " ａｌｉｃｅ"])
def test_a_form_sent_twice_logs_in_to_the_same_account(made, spelling):
    second = Client()  # a double click: the first response and its session have not arrived yet

    response = _sign_up(second, spelling, next="/hot/")

    assert (response.status_code, response["Location"]) == (302, "/hot/")
    assert get_user(second) == made
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"password1": "another long secret", "password2": "another long secret"},
        {"password2": "mistyped"},
        {"password1": "", "password2": ""},
        {"email": "nonsense"},
    ],
    ids=str,
)
def test_a_different_form_for_the_same_name_does_not_log_in(made, fields):
    second = Client()

    assert TAKEN in _sign_up(second, **fields).text
    assert not get_user(second).is_authenticated


@pytest.mark.parametrize("state", ["old", "inactive", "imported"])
def test_signing_up_cannot_be_used_to_log_in(made, state):
    if state == "old":
        made.date_joined -= timedelta(minutes=2)
    elif state == "inactive":
        made.is_active = False
    else:
        made.set_unusable_password()
    made.save()
    second = Client()

    assert TAKEN in _sign_up(second).text
    assert not get_user(second).is_authenticated


def test_a_repeated_form_that_loses_the_race_for_the_name_logs_in_too(client, monkeypatch):
    def rival(_manager, _name):
        monkeypatch.undo()
        User.objects.create_user("alice", password=PASSWORD)
        return False

    monkeypatch.setattr(type(User.objects), "is_taken", rival)
    response = _sign_up(client)

    assert response.status_code == 302
    assert get_user(client) == User.objects.get()


def test_a_repeated_form_that_loses_the_race_while_saving_logs_in_too(client):
    with meanwhile(SignUpForm, "save", lambda: User.objects.create_user("alice", password=PASSWORD)):
        response = _sign_up(client, next="/hot/")

    assert (response.status_code, response["Location"]) == (302, "/hot/")
    assert get_user(client) == User.objects.get()

import re

import pytest
from django.contrib.auth import get_user
from django.test import Client

from accounts.models import User
from tests.cast import PASSWORD

WRONG = "Incorrect username or password."


def _log_in(client, username="alice", password=PASSWORD, **fields):
    return client.post("/login/", {"username": username, "password": password, **fields})


def _is_logged_in(client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.django_db
def test_every_refused_login_shows_the_same_message(client, alice):
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    User.objects.bulk_create_imported(["imported"])
    tries = [("alice", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("imported", PASSWORD)]
    tries += [("x" * 151, PASSWORD), ("<b>", PASSWORD), ("а" * 30, PASSWORD), ("al\nice", PASSWORD)]

    answers = [_log_in(client, *attempt) for attempt in tries]

    texts = [re.findall(r'<ul class="errors".*?</ul>', answer.text, re.DOTALL) for answer in answers]
    assert all(found == texts[0] and WRONG in found[0] for found in texts)
    assert {answer.status_code for answer in answers} == {200}
    assert not _is_logged_in(client)


@pytest.mark.django_db
@pytest.mark.parametrize("username", ["alice", "nobody", "x" * 151, "imported", "gone"])
def test_the_password_is_hashed_whether_or_not_the_account_exists(client, alice, username, settings):
    settings.PASSWORD_HASHERS = ["tests.accounts.hashers.CountingHasher"]
    from tests.accounts.hashers import CountingHasher

    for name, active in (("counted", True), ("gone", False)):
        User.objects.create_user(name, password=PASSWORD, is_active=active)
    User.objects.bulk_create_imported(["imported"])
    alice.set_password(PASSWORD)
    alice.save()
    CountingHasher.runs = 0

    _log_in(client, username, "wrong")

    assert CountingHasher.runs == 1


def test_a_refused_login_shows_neither_password_nor_markup(client, alice):
    response = _log_in(client, "<b>x</b>", "my secret words")

    assert "&lt;b&gt;x" in response.text
    assert "<b>x" not in response.text
    assert "my secret words" not in response.text


def test_login_returns_to_the_previous_page(client, alice):
    page = client.get("/login/?next=/hot/%3Fpage=2")

    assert '<input type="hidden" name="next" value="/hot/?page=2">' in page.text
    assert _log_in(client, next="/hot/?page=2")["Location"] == "/hot/?page=2"


def test_the_return_address_survives_an_error_and_the_link_to_sign_up(client, alice):
    page = _log_in(client, password="wrong", next="/hot/").text

    assert '<input type="hidden" name="next" value="/hot/">' in page
    assert 'href="/signup/?next=%2Fhot%2F"' in page


@pytest.mark.parametrize(
    ("choice", "said"), [("vote", "your vote"), ("oppose", "your vote against it"), ("none", "your vote")]
)
@pytest.mark.parametrize("door", ["/login/", "/signup/"])
@pytest.mark.django_db
def test_a_pending_vote_is_announced_and_carried_through_the_login(client, choice, said, door):
    page = client.get(door, {"next": "/", "article": "42", "choice": choice}).text

    done = "taken back" if choice == "none" else "counted"
    enter = {"/login/": "Log in", "/signup/": "Sign up"}[door]
    assert f"{enter}, and {said} will be {done}." in page
    assert '<input type="hidden" name="article" value="42">' in page
    assert f'<input type="hidden" name="choice" value="{choice}">' in page
    other = {"/login/": "/signup/", "/signup/": "/login/"}[door]
    assert f'href="{other}?next=%2F&amp;article=42&amp;choice={choice}"' in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("door", "said"), [("/login/", "Log in to post an article."), ("/signup/", "Sign up to post an article.")]
)
def test_a_reader_who_wants_to_post_sees_why_a_login_is_needed(client, door, said):
    assert said in client.get(door, {"next": "/post/?link=https://example.org/"}).text
    assert said not in client.get(door, {"next": "/posts/"}).text


@pytest.mark.django_db
@pytest.mark.parametrize("door", ["/login/", "/signup/"])
def test_a_pending_vote_survives_an_error(client, door):
    page = client.post(door, {"username": "a", "article": "42", "choice": "oppose"}).text

    assert '<input type="hidden" name="article" value="42">' in page
    assert "your vote against it will be counted." in page


@pytest.mark.parametrize("door", ["/login/", "/signup/"])
def test_a_logged_in_member_is_redirected_from_login_and_sign_up(as_alice, door):
    assert as_alice.get(door)["Location"] == "/"
    assert as_alice.get(f"{door}?next=/hot/")["Location"] == "/hot/"
    assert as_alice.get(f"{door}?next={door}")["Location"] == "/"


def test_a_session_planted_before_the_login_is_invalid_after_it(client, alice):
    session = client.session
    session["planted"] = "by mallory"
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted

    _log_in(client)

    mallory = Client()
    mallory.cookies["sessionid"] = planted
    assert client.session.session_key != planted
    assert not get_user(mallory).is_authenticated


@pytest.mark.parametrize(
    ("page", "leads_to"),
    [("/hot/", "/hot/"), *((page, "/") for page in ("/post/", "/settings/", "/mine/saved/", "/%70ost/"))],
)
def test_logging_out_leads_back_or_from_a_members_page_to_the_front_page(as_alice, page, leads_to):
    assert as_alice.post("/logout/", {"next": page})["Location"] == leads_to

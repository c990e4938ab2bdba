"""The first administrator, created with a code that the start prints, and an empty site's first page."""

import time

import pytest
from django.test import Client

from accounts.models import User
from articles.views.owner import administrator
from tests.cast import PASSWORD
from tests.factories import member

PAGE = "/administration/first/"


@pytest.fixture(autouse=True)
def _no_administrator(site_store):
    User.objects.filter(is_superuser=True).delete()


def create(code, name="owner", browser=None):
    fields = {"code": code, "username": name, "password1": PASSWORD, "password2": PASSWORD}
    return (browser or Client()).post(PAGE, fields)


def administrators():
    return list(User.objects.filter(is_superuser=True).values_list("username", flat=True))


def test_an_empty_site_says_how_to_create_its_administrator_and_shows_no_secret():
    code = administrator.issue_code()

    page = Client().get("/").text

    for way in ("make admin", "createsuperuser --noinput", f'href="{PAGE}"'):
        assert way in page
    assert code not in page
    assert code.replace("-", "") not in page
    assert "Post the first link" not in page


def test_the_code_creates_the_administrator_who_is_then_logged_in():
    browser, code = Client(), administrator.issue_code()
    assert browser.get(PAGE).status_code == 200

    answer = create(code, "admin", browser)  # a name that others cannot take

    assert answer.status_code == 302
    owner = User.objects.get(username="admin")
    assert (owner.is_superuser, owner.is_staff, owner.is_active) == (True, True, True)
    assert browser.get("/admin/").status_code == 200


@pytest.mark.parametrize("written", [str.lower, lambda code: f" {code.replace('-', ' ')} "])
def test_the_code_can_be_typed_in_any_spelling(written):
    create(written(administrator.issue_code()))

    assert administrators() == ["owner"]


@pytest.mark.parametrize("wrong", ["", "A" * 24, "A" * 5000, "\u0660" * 24, "é" * 24], ids=ascii)
def test_a_guessed_code_creates_nobody(wrong):
    administrator.issue_code()

    assert create(wrong).status_code == 400
    assert create(wrong).text.count(PASSWORD) == 0
    assert administrators() == []


def test_there_is_no_code_before_one_is_printed():
    assert create("").status_code == 400
    assert create("A" * 24).status_code == 400
    assert administrators() == []


def test_only_the_code_that_was_printed_last_is_valid():
    former, latest = administrator.issue_code(), administrator.issue_code()

    assert create(former).status_code == 400
    assert create(latest).status_code == 302


def test_a_code_expires(monkeypatch):
    code, later = administrator.issue_code(), time.time() + administrator.VALID_SECONDS
    monkeypatch.setattr(administrator.time, "time", lambda: later)

    assert create(code).status_code == 400
    assert administrators() == []


def test_a_code_is_worthless_once_there_is_an_administrator():
    code = administrator.issue_code()
    member("root", pk=70, is_staff=True, is_superuser=True)

    assert create(code).status_code == 302
    assert administrator.issue_code() == ""
    assert administrators() == ["root"]


def test_a_used_code_stays_used_even_if_the_administrator_is_gone():
    code = administrator.issue_code()
    create(code)
    User.objects.filter(is_superuser=True).update(is_superuser=False)

    assert create(code, "second").status_code == 400
    assert administrators() == []


@pytest.mark.parametrize("how", ["by the code", "in a terminal"])
def test_a_form_that_was_overtaken_makes_no_second_administrator(how):
    code = administrator.issue_code()
    fields = {"code": code, "username": "second", "password1": PASSWORD, "password2": PASSWORD}
    late = administrator.FirstAdministratorForm(fields)
    assert late.is_valid()
    if how == "by the code":
        create(code, "first")
    else:
        member("first", pk=70, is_superuser=True)

    assert late.create_administrator() is None
    assert administrators() == ["first"]

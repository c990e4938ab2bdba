"""Sites without passwords, and the way in from the command line."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from tests.cast import PASSWORD
from tests.factories import browser_of


def member_at(browser):
    return browser.get("/about/").wsgi_request.user


@pytest.fixture
def no_passwords(settings):
    settings.PASSWORDS = False


def test_no_page_asks_for_a_password(db, no_passwords):
    browser = browser_of()
    for page in ("/login/", "/signup/"):
        assert "password" not in browser.get(page).text.lower()
    for page in ("/password/", "/password/reset/", "/password/reset/MQ/x-y/"):
        assert browser.get(page).url == "/login/"
    assert browser.get("/admin/", follow=True).redirect_chain[-1][0] == "/login/?next=/admin/"


def test_no_password_logs_in_or_signs_up(no_passwords, alice):
    browser = browser_of()
    browser.post("/login/", {"username": "alice", "password": PASSWORD})
    browser.post("/signup/", {"username": "dora", "email": "", "password1": PASSWORD, "password2": PASSWORD})

    assert not member_at(browser).is_authenticated
    assert User.objects.count() == 1


def link_for(name):
    call_command("sign_in_link", name, stdout=(out := StringIO()), stderr=StringIO())
    return out.getvalue().strip().partition(":8000")[2]


def test_a_link_from_the_command_line_logs_an_administrator_in_once(db, no_passwords, carol):
    link, browser = link_for("CAROL"), browser_of()
    assert "Log in as carol" in browser.get(link).text
    assert not member_at(browser).is_authenticated

    browser.post(link)

    assert member_at(browser) == carol
    assert browser_of().post(link).status_code == 403


def test_the_link_works_for_ten_minutes_and_for_active_administrators(db, carol, alice, time_machine):
    link = link_for("carol")
    with pytest.raises(CommandError, match="There is no administrator alice"):
        link_for("alice")
    assert browser_of().get("/login/link/x-y/").status_code == 403

    User.objects.filter(pk=carol.pk).update(is_active=False)
    assert browser_of().post(link).status_code == 403
    User.objects.filter(pk=carol.pk).update(is_active=True)
    time_machine.move_to("2099-01-01")
    assert browser_of().post(link).status_code == 403


def test_an_administrator_without_the_second_step_sets_it_up_after_a_link(db, settings, carol):
    settings.SECOND_FACTOR = "moderators"

    assert browser_of().post(link_for("carol")).url == "/login/second/"

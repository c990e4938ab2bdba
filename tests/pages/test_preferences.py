"""A reader's preferences, from the account or from cookies."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory

from articles.web.preferences import MOST_HIDDEN, Preferences, cookies_for, preferences_of, slugs_from
from tests.factories import browser_of


def asked(cookies=None, user=None):
    request = RequestFactory().get("/")
    request.COOKIES.update(cookies or {})
    request.user = user or AnonymousUser()
    return preferences_of(request)


@pytest.mark.parametrize(
    "wanted",
    [
        Preferences(),
        Preferences(theme="dark"),
        Preferences(theme="light", keyboard=False, hidden_groups=("python", "机器学习", "c_1")),
    ],
)
def test_cookies_say_what_was_chosen(wanted):
    assert asked({name: value for name, value in cookies_for(wanted).items() if value}) == wanted


@pytest.mark.parametrize(
    "cookies", [{"theme": "pink"}, {"theme": '"><script>'}, {"keyboard": "maybe"}, {"hidden": ",,%2C"}]
)
def test_what_makes_no_sense_counts_as_not_chosen(cookies):
    assert asked(cookies) == Preferences()


def test_a_list_of_hidden_groups_ends_somewhere():
    assert len(slugs_from(",".join(f"g{n}" for n in range(999)))) == MOST_HIDDEN
    assert slugs_from("a,a,b") == ("a", "b")


def test_a_members_choices_are_the_accounts_whatever_the_browser_has(bob):
    bob.theme, bob.keyboard, bob.hidden_groups, bob.language = "dark", False, "a,b", "en"

    found = asked({"theme": "light", "hidden": "c"}, bob)

    assert found == Preferences("dark", "en", False, ("a", "b"))


def test_pages_carry_the_theme_and_whether_keys_do_something(site_store, bob):
    reader = Client()
    assert b'<html lang="en">' in reader.get("/").content

    reader.cookies["theme"], reader.cookies["keyboard"] = "dark", "off"

    assert b'<html lang="en" data-theme="dark" data-keyboard="off">' in reader.get("/").content
    assert b'<html lang="en">' in browser_of(bob).get("/").content

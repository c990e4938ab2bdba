"""A reader's preferences, read from the account or from cookies."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from articles.searching import Hiding
from articles.web.preferences import MOST_FOLLOWED, Preferences, cookies_for, preferences_of, slugs_from


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
        Preferences(
            theme="light",
            keyboard=False,
            hiding=Hiding(
                ("python", "机器学习", "c_1"), (7,), ("example.org", "github.com/a~b"), ("C++ ~x", "新闻"), (3, 21)
            ),
        ),
    ],
)
def test_cookies_hold_the_readers_choices(wanted):
    assert asked({name: value for name, value in cookies_for(wanted).items() if value}) == wanted


@pytest.mark.parametrize(
    "cookies", [{"theme": "pink"}, {"theme": '"><script>'}, {"keyboard": "maybe"}, {"hidden": ",,%2C"}]
)
def test_invalid_values_are_ignored(cookies):
    assert asked(cookies) == Preferences()


def test_a_list_of_groups_has_a_limit():
    assert len(slugs_from(",".join(f"g{n}" for n in range(999)))) == MOST_FOLLOWED
    assert slugs_from("a,a,b") == ("a", "b")


def test_a_members_choices_come_from_the_account_and_not_from_cookies(bob):
    bob.theme, bob.keyboard, bob.hidden_groups, bob.language = "dark", False, "a,b", "en"

    found = asked({"theme": "light", "hidden": "c"}, bob)

    assert found == Preferences("dark", "en", False, Hiding(("a", "b")), remembers_read=True)

"""Settings that are valid, but unwise on a public site."""

import pytest

from accounts.models import User
from articles.configuration import choices
from articles.models import SiteSetting
from tests.doctor.examining import brief, levels
from tests.factories import member

CHECKED = ("debug", "rate limits", "address", "proxy", "hosts")


def problems():
    return [text for name in CHECKED for level, text in brief("settings", name) if level in ("error", "warning")]


def test_a_public_site_as_documented_has_no_problem(public):
    assert problems() == []


@pytest.mark.parametrize(
    ("changes", "level", "text"),
    [
        ({"DEBUG": True}, "error", "`DEBUG` is on"),
        ({"LIMITS": {}}, "warning", "LIMITS is off"),
        ({"SITE_URL": ""}, "warning", "`SITE_URL` is not set"),
        ({"SITE_URL": "http://news.example.org"}, "warning", "does not use https"),
        ({"BEHIND_PROXY": False}, "warning", "`BEHIND_PROXY` is off"),
        ({"TRUSTED_PROXIES": []}, "warning", "`TRUSTED_PROXIES` names no proxy"),
        ({"TRUSTED_PROXIES": ["unix", "0.0.0.0/0"]}, "warning", "`TRUSTED_PROXIES` contains every address"),
        ({"TRUSTED_PROXIES": ["::/0"]}, "warning", "`TRUSTED_PROXIES` contains every address"),
        ({"ALLOWED_HOSTS": ["localhost", "*"]}, "warning", "`ALLOWED_HOSTS=*`"),
    ],
)
def test_an_unwise_setting_of_a_public_site_is_found(public, changes, level, text):
    for name, value in changes.items():
        setattr(public, name, value)

    (finding,) = [one for name in CHECKED for one in brief("settings", name) if text in one[1]]

    assert finding[0] == level
    assert len(problems()) == 1


@pytest.mark.parametrize(
    ("host", "site_url", "found"),
    [
        ("127.0.0.1", "", False), ("::1", "", False), ("localhost", "http://localhost:8000", False),
        ("127.0.0.1", "http://app.localhost", False), ("0.0.0.0", "", True),
        ("192.0.2.7", "", True), ("127.0.0.1", "https://news.example.org", True),
    ],
)  # fmt: skip
def test_what_is_unwise_depends_on_who_can_reach_the_site(settings, host, site_url, found):
    settings.DEBUG, settings.SITE_URL, settings.HOST = True, site_url, host

    assert levels("settings", "debug") == ["error" if found else "note"]
    assert levels("settings", "rate limits") == ["warning" if found else "note"]


def test_other_names_of_the_site_mean_that_others_can_reach_it(settings):
    assert levels("settings", "rate limits") == ["note"]

    settings.CONFIGURATION = settings.CONFIGURATION | {"ALLOWED_HOSTS": ["news.example.org"]}

    assert levels("settings", "rate limits") == ["warning"]


def test_django_checks_a_site_for_this_machine_only_without_deployment(settings, db):
    settings.SECRET_KEY = "short"

    assert levels("settings", "deployment") == ["fine"]


def test_a_short_secret_key_is_found_by_djangos_checks(public, db):
    public.SECRET_KEY = "short"

    ((level, text),) = brief("settings", "deployment")
    assert level == "warning"
    assert "SECRET_KEY" in text


def test_a_site_without_a_cache_is_noted(settings):
    assert levels("settings", "cache") == []
    settings.HAS_CACHE = False

    assert levels("settings", "cache") == ["note"]


@pytest.mark.django_db
def test_each_sign_up_mode_needs_members_who_let_others_in(settings):
    def found(mode):
        settings.SIGN_UP = mode
        (level,) = levels("settings", "sign-up")
        return level

    assert [found(mode) for mode in ("open", "approval", "invitation", "closed")] == ["fine", *["warning"] * 3]

    User.objects.bulk_create_imported(["bob"])
    assert found("invitation") == "warning"
    member("alice")
    assert [found("invitation"), found("approval"), found("closed")] == ["fine", "warning", "warning"]
    member("carol", moderator=True)
    member("root", is_staff=True, is_superuser=True)
    assert [found("approval"), found("closed")] == ["fine", "fine"]
    settings.INVITATIONS_PER_MEMBER = 0
    assert found("invitation") == "warning"


def test_a_site_for_members_that_everyone_can_join_is_found(settings):
    assert levels("settings", "reading") == []
    settings.READING = "members"
    assert levels("settings", "reading") == ["warning"]
    settings.SIGN_UP = "approval"
    assert levels("settings", "reading") == ["fine"]


def test_a_choice_that_is_not_valid_is_found(site_store):
    assert levels("settings", "choices") == ["fine"]
    SiteSetting.objects.create(name="SIGN_UP", text="by-lottery")
    choices.forget()

    ((level, text),) = brief("settings", "choices")

    assert (level, "`SIGN_UP`" in text) == ("warning", True)


def test_a_site_without_passwords_and_providers_is_warned(settings):
    settings.PASSWORDS = False

    assert levels("sign-in", "ways") == ["warning"]

"""Preferences of readers: saved by POST /preferences/, read from accounts or cookies, switched in the footer."""

import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client, RequestFactory

from articles.text.searching import Hiding
from articles.views import preferences
from articles.web import wiring
from articles.web.preferences import MOST_FOLLOWED, Preferences, cookies_for, preferences_of, slugs_from
from tests.factories import browser_of
from tests.internals import meanwhile

BOTH = [("en", "English"), ("zh-hans", "简体中文")]


@pytest.fixture(autouse=True)
def _two_languages(settings):
    settings.LANGUAGES = BOTH


def save(browser, **fields):
    return browser.post("/preferences/", fields)


@pytest.mark.parametrize(
    ("fields", "cookies"),
    [
        ({"theme": "dark"}, {"theme": "dark"}),
        ({"keyboard": "off"}, {"keyboard": "off"}),
        ({"language": "zh-hans"}, {"language": "zh-hans"}),
        ({"theme": "light", "keyboard": "off"}, {"theme": "light", "keyboard": "off"}),
    ],
)
def test_a_readers_choice_is_saved_in_a_cookie(site_store, fields, cookies):
    reader = browser_of(strict=True)

    answer = save(reader, **fields, next="/newest/?page=1")

    assert (answer.status_code, answer["Location"]) == (302, "/newest/?page=1")
    assert {name: cookie.value for name, cookie in answer.cookies.items()} == cookies
    for cookie in answer.cookies.values():
        assert cookie["max-age"] == 365 * 86400
        assert (cookie["samesite"], cookie["path"], cookie["secure"], cookie["httponly"]) == ("Lax", "/", "", "")


@pytest.mark.parametrize("is_behind_proxy", [False, True])
def test_over_https_the_cookies_are_secure(site_store, settings, is_behind_proxy):
    settings.SESSION_COOKIE_SECURE = is_behind_proxy
    answer = Client().post("/preferences/", {"theme": "dark"}, secure=not is_behind_proxy)

    assert answer.cookies["theme"]["secure"]


def test_a_response_does_not_reset_what_a_concurrent_one_may_change(site_store):
    browser = browser_of(None)
    save(browser, theme="dark", keyboard="off")

    assert set(save(browser, language="zh-hans").cookies) - {"messages"} == {"language"}


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"next": "/"}, {"theme": "pink"}, {"theme": "dark", "keyboard": "maybe"}, {"language": "xx"},
        {"language": "zh-hans", "theme": "DARK"}, {"keyboard": ""},
    ],
)  # fmt: skip
@pytest.mark.parametrize("who", ["reader", "member"])
def test_an_invalid_choice_is_an_error_and_changes_nothing(site_store, bob, who, fields):
    answer = save(browser_of(bob if who == "member" else None), **fields)

    assert answer.status_code == 400
    assert not {"theme", "language", "keyboard", "hidden"} & set(answer.cookies)
    bob.refresh_from_db()
    assert (bob.theme, bob.language, bob.keyboard, bob.hidden_groups) == ("", "", True, "")


def test_logging_out_restores_the_choices_made_before_the_login(site_store, bob):
    site_store.groups.create("python", "Python")
    browser = Client()
    save(browser, theme="light", keyboard="on")
    browser.force_login(bob)
    for fields in ({"theme": "dark"}, {"language": "zh-hans"}, {"keyboard": "off"}, {"hide": "python"}):
        save(browser, **fields)
    assert (
        f'<html lang="zh-Hans" data-reader="{bob.pk}" data-theme="dark" data-keyboard="off">'
        in browser.get("/").text
    )

    browser.post("/logout/")

    assert '<html lang="en" data-reader="0" data-theme="light">' in browser.get("/").text
    kept = {name: cookie.value for name, cookie in browser.cookies.items() if cookie.value}
    assert kept.keys() <= {"theme", "messages", "csrftoken"}


@pytest.mark.parametrize(
    "told",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://testserver"},
        {"Origin": "https://evil.example"}, {"Origin": "https://testserver.evil.example"},
        {"Origin": "http://[testserver"}, {"Origin": "null"}, {"Origin": ""},
    ],
    ids=str,
)  # fmt: skip
def test_another_site_cannot_choose_for_a_reader(site_store, told):
    answer = Client().post("/preferences/", {"theme": "dark"}, headers=told)

    assert answer.status_code == 400
    assert not answer.cookies


@pytest.mark.parametrize(
    "told",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://votes.example"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://testserver"},
        {"Origin": "https://votes.example"},
    ],
    ids=str,
)
def test_the_sites_own_pages_can_choose_for_a_reader(site_store, settings, told):
    """Also behind a proxy that uses another name than the public one."""
    settings.SITE_URL = "https://votes.example"

    assert Client().post("/preferences/", {"theme": "dark"}, headers=told).cookies["theme"].value == "dark"


@pytest.mark.parametrize("who", ["reader", "member"])
def test_a_script_gets_json_with_the_reason_for_a_refusal(site_store, bob, who):
    browser = browser_of(bob if who == "member" else None)

    def by_script(**fields):
        return browser.post("/preferences/", fields, headers={"Accept": "application/json"})

    done, refused = by_script(theme="dark"), by_script(hide="nope")

    assert (done.status_code, done.json()) == (200, {"told": ""})
    assert "messages" not in done.cookies
    assert (refused.status_code, refused.json()) == (409, {"error": "There is no such group."})
    page = browser.get("/").content.decode()
    assert 'data-theme="dark"' in page
    assert "There is no such group" not in page


def _preferences(browser):
    return browser.get("/settings/reading/").text


def test_the_settings_show_the_current_choices(site_store, bob):
    chosen = re.compile(r'<(?:option|input)[^>]*value="([^"]*)"[^>]* (?:selected|checked)>')
    assert chosen.findall(_preferences(browser_of(bob))) == ["", "", "on", "on"]
    bob.language, bob.theme, bob.keyboard, bob.remembers_read = "zh-hans", "dark", False, False
    bob.save()

    assert chosen.findall(_preferences(browser_of(bob))) == ["zh-hans", "dark", "off", "off"]


@pytest.mark.parametrize(("slug", "typed"), [("gone", "gone"), ("No Slug!", "No Slug!"), ("python", " Python ")])
def test_a_hidden_group_can_be_unhidden_in_any_spelling_and_when_it_is_gone(site_store, bob, slug, typed):
    bob.hidden_groups = slug
    bob.save()

    save(browser_of(bob), show=typed)

    bob.refresh_from_db()
    assert bob.hidden_groups == ""


@pytest.mark.django_db(transaction=True)
def test_account_preferences_are_read_and_written_in_one_transaction(site_store, bob):
    inside = []
    with meanwhile(preferences, "preferences_of_member", lambda: inside.append(connection.in_atomic_block)):
        save(browser_of(bob), theme="dark")

    assert inside == [True]


def test_the_settings_work_without_the_store(bob, settings):
    browser = browser_of(bob)
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    for page in ("/settings/", "/hidden/"):
        response = browser.get(page)
        assert response.status_code == 200
        assert 'id="hide-group"' not in response.text


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


BUTTON = re.compile(r'<button type="submit" name="theme" value="(\w*)" aria-pressed="(\w+)"')


def themes(browser, path="/"):
    return dict(BUTTON.findall(browser.get(path).content.decode()))


def root(browser, path="/"):
    return re.search("<html[^>]*>", browser.get(path).content.decode())[0]


def test_a_reader_without_an_account_switches_the_theme_without_a_token(site_store):
    browser = Client(enforce_csrf_checks=True)
    page = browser.get("/newest/")
    assert "csrfmiddlewaretoken" not in page.content.decode()
    assert page.cookies == {}
    assert themes(browser) == {"": "true", "light": "false", "dark": "false"}

    response = browser.post("/preferences/", {"theme": "dark", "next": "/newest/"})

    assert response.headers["Location"] == "/newest/"
    assert themes(browser) == {"": "false", "light": "false", "dark": "true"}
    assert 'data-theme="dark"' in root(browser)
    assert '<meta name="color-scheme" content="dark">' in browser.get("/").content.decode()


@pytest.mark.parametrize("path", ["/nowhere/", "/articles/1/vote/"])
def test_the_switches_are_on_error_pages_too(site_store, path):
    assert themes(Client(), path)


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [("/login/", "/"), ("/post/", "/post/#chosen-theme"), ("/articles/7/vote/", "/articles/7/")],
)
def test_the_response_to_a_form_returns_to_the_page_of_the_form(site_store, bob, path, leads_to):
    browser = Client() if path == "/login/" else browser_of(bob)
    foot = browser.post(path, {"username": "nobody", "title": "", "choice": "?"}).text.split("<footer")[1]

    way_back = re.search('name="next" value="([^"]*)"', foot)[1]

    assert browser.post("/preferences/", {"theme": "dark", "next": way_back})["Location"].startswith(leads_to)

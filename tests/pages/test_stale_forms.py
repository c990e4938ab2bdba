"""Forms with a stale token: nothing happens, no input is lost, and one more click sends them."""

import re
from html import unescape

import pytest
from django.test import Client

from accounts.models import Token, User
from tests.cast import password_of
from tests.factories import browser_of
from tests.routes import FOR_PROGRAMS, routes_of_pages

pytestmark = pytest.mark.deep

OUT_OF_DATE = "This page was out of date, so nothing has been changed yet."
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://testserver", "Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
]


def form_of(response, action=""):
    """Return the hidden and typed fields of the form in the page's content, without its buttons."""
    main = response.text[response.text.index("<main") : response.text.index("</main>")]
    forms = re.findall(r"<form.*?</form>", main, re.DOTALL)
    form = next(one for one in forms if not action or f'action="{action}"' in one)
    fields = re.findall(r'<input type="(?!checkbox)\w+" name="([\w-]+)"(?: value="([^"]*)")?', form)
    return {name: unescape(value) for name, value in fields}


def stale_for(user: User) -> Client:
    """Return a browser with a page from before the login: it sends a token, but an old one."""
    browser = browser_of(user, strict=True)
    browser.get("/settings/")
    return browser


def send(browser, path, fields, **more):
    return browser.post(path, {"csrfmiddlewaretoken": "x" * 64} | fields, **more)


def test_a_post_comes_back_filled_in_and_one_more_click_posts_it(site_store, alice):
    site_store.groups.create("python", "Python")
    browser = stale_for(alice)
    typed = {
        "title": 'A "title" & <b>more</b>',
        "link": "https://example.org/new",
        "groups": ["python", "typed-one"],
    }

    response = send(browser, "/post/", typed)

    assert response.status_code == 403
    assert OUT_OF_DATE in response.text
    assert "A &quot;title&quot; &amp; &lt;b&gt;more&lt;/b&gt;" in response.text
    assert re.search(r'value="python"[^>]*checked', response.text)
    assert 'value="typed-one"' in response.text
    assert site_store.imports.count() == 0
    again = browser.post("/post/", form_of(response) | {"groups": ["python"]})
    article = site_store.articles.get(int(again["Location"].split("/")[2]))
    assert (article.title, article.groups) == (typed["title"], ("python",))


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/articles/1/edit/", {"title": "Typed", "link": "https://example.org/typed", "reason": "because"}),
        ("/articles/1/remove/", {"reason": "because"}),
        ("/articles/1/groups/", {"new_group": "Typed", "reason": "because", "was": "python"}),
        ("/moderation/groups/", {"title": "Typed"}),
        ("/moderation/groups/python/", {"title": "Typed", "reason": "because", "rename": "1"}),
        ("/moderation/groups/python/", {"merge-reason": "because", "merge-sure": "on", "merge": "1"}),
        ("/password/reset/", {"email": "typed@example.org"}),
        ("/settings/delete/", {"name": "carol"}),
        ("/password/", {"old_password": "a secret", "new_password1": "other", "new_password2": "other"}),
        ("/signup/", {"username": "typed", "email": "typed@example.org", "password1": "a secret"}),
        ("/login/", {"username": "typed", "password": "a secret"}),
    ],
)
def test_every_form_comes_back_filled_in_but_for_passwords(site_store, article, carol, path, fields):
    before = site_store.articles.get(article)

    response = send(stale_for(carol), path, fields)

    assert response.status_code == 403
    shown = response.text[response.text.index("<main") :]
    secrets = {name for name in fields if "password" in name}
    for name, value in fields.items():
        if name not in {"rename", "merge", "merge-sure", "was"}:
            assert (f'value="{value}"' in shown) == (name not in secrets), name
    assert "no-store" in response["Cache-Control"] or "private" in response["Cache-Control"]
    assert (site_store.articles.get(article), site_store.groups.get_titles()) == (before, {"python": "Python"})
    assert User.objects.get(pk=carol.pk).email == ""
    assert not User.objects.filter(username="typed").exists()


@pytest.mark.parametrize(
    ("path", "fields", "button"),
    [
        ("/articles/1/vote/", {"choice": "vote", "next": "/newest/"}, "Vote for “A title”"),
        ("/articles/1/vote/", {"choice": "oppose", "next": "/newest/"}, "Oppose “A title”"),
        ("/articles/1/vote/", {"choice": "none", "next": "/newest/"}, "Take back your vote on “A title”"),
        ("/articles/1/save/", {"saved": "save", "next": "/newest/"}, "Save “A title” for later"),
        (
            "/articles/1/save/",
            {"saved": "forget", "next": "/newest/"},
            "Remove “A title” from your saved articles",
        ),
        ("/preferences/", {"theme": "dark", "next": "/newest/"}, "Save your settings"),
        ("/logout/", {"next": "/newest/"}, "Log out"),
        ("/settings/tokens/", {"name": "<laptop>"}, "Create the token “&lt;laptop&gt;”"),
    ],
)
def test_a_form_without_a_page_is_confirmed_and_sent_as_it_was(site_store, article, carol, path, fields, button):
    browser = stale_for(carol)
    before = site_store.articles.get(article, carol.pk)

    response = send(browser, path, fields)

    assert response.status_code == 403
    assert f'<button type="submit">{button}</button>' in response.text
    assert "no-store" in response["Cache-Control"]
    form = form_of(response, path)
    assert {name: value for name, value in form.items() if name != "csrfmiddlewaretoken"} == fields
    assert site_store.articles.get(article, carol.pk) == before
    assert not Token.objects.exists()
    again = browser.post(path, form)
    assert again.status_code != 403
    if path != "/logout/":
        assert "_auth_user_id" in browser.session


def test_a_vote_from_a_page_opened_before_the_login_needs_one_more_click(site_store, article, bob):
    browser = browser_of(bob, strict=True)
    path, fields = f"/articles/{article}/vote/", {"choice": "vote", "next": "/newest/"}

    response = browser.post(path, fields)  # the page of a reader without an account had no token at all

    assert site_store.articles.get(article).votes == 1
    again = browser.post(path, form_of(response, path))
    assert again["Location"] == f"/newest/#article-{article}"
    assert site_store.articles.get(article).votes == 2


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/post/", {"title": "Theirs", "link": "https://evil.example/"}),
        ("/articles/1/vote/", {"choice": "vote"}),
        ("/login/", {"username": "bob", "password": password_of("bob"), "article": "1", "choice": "oppose"}),
    ],
)
def test_a_form_from_another_site_is_refused_without_a_way_on(site_store, article, bob, headers, path, fields):
    response = send(stale_for(bob), path, fields, headers=headers)

    assert response.status_code == 403
    assert "Theirs" not in response.text
    assert f'action="{path}"' not in response.text
    assert (site_store.articles.get(article).votes, site_store.articles.get(article).opposes) == (1, 0)


def test_over_https_a_form_without_origin_and_referer_is_refused_too(site_store, article, bob):
    response = send(stale_for(bob), "/articles/1/vote/", {"choice": "vote"}, secure=True)

    assert response.status_code == 403
    assert "Vote for “A title”</button>" not in response.text


# Two tabs with login forms

PENDING = {"next": "/newest/", "article": "1", "choice": "vote"}


def log_in(browser, name="bob", password=None, **fields):
    return send(browser, "/login/", {"username": name, "password": password or password_of(name)} | fields)


@pytest.mark.parametrize("spelling", ["bob", "BOB", " ｂｏｂ "])
def test_the_second_login_tab_continues_with_its_vote(site_store, article, bob, spelling):
    browser = stale_for(bob)

    response = log_in(browser, spelling, password_of("bob"), **PENDING)

    assert (response.status_code, response["Location"]) == (302, "/newest/")
    assert site_store.articles.get(article).votes == 2


@pytest.mark.parametrize(
    ("name", "password"), [("bob", "wrong"), ("mallory", None), ("mallory", password_of("bob")), ("", "")]
)
def test_any_other_second_login_shows_the_form_and_does_no_more(site_store, article, bob, mallory, name, password):
    browser = stale_for(bob)

    response = log_in(browser, name, password, **PENDING)

    assert response.status_code == 403
    assert "You are logged in as bob." in response.text
    assert site_store.articles.get(article).votes == 1
    form = form_of(response, "/login/")
    assert form["username"] == name
    assert {key: form[key] for key in PENDING} == PENDING


def test_the_form_that_came_back_logs_in_the_member_it_names(site_store, article, bob, mallory):
    browser = stale_for(bob)
    form = form_of(log_in(browser, "mallory", **PENDING), "/login/")

    response = browser.post("/login/", form | {"password": password_of("mallory")})

    assert response["Location"] == "/newest/"
    assert browser.session["_auth_user_id"] == str(mallory.pk)
    assert site_store.articles.get(article, mallory.pk).choice == "vote"
    assert site_store.articles.get(article, bob.pk).choice == "none"


def test_a_login_form_with_a_lost_cookie_comes_back_and_works(site_store, article, bob):
    browser = browser_of(strict=True)

    response = log_in(browser, **PENDING)

    assert response.status_code == 403
    assert "Please enter your password again." in response.text
    assert "_auth_user_id" not in browser.session
    browser.post("/login/", form_of(response, "/login/") | {"password": password_of("bob")})
    assert site_store.articles.get(article, bob.pk).choice == "vote"


@pytest.mark.hostile
def test_every_view_that_accepts_forms_can_return_them(site_store, article, carol):
    takes_forms = {
        route.path(): hasattr(route.view, "gives_back")
        for route in routes_of_pages()
        if route.path() not in FOR_PROGRAMS and browser_of(carol).post(route.path()).status_code not in (404, 405)
    }

    assert len(takes_forms) >= 20
    assert [path for path, gives_back in takes_forms.items() if not gives_back] == []

"""Members whose names have letters of other scripts: every page, feed and operation works with them."""

from hashlib import sha256
from urllib.parse import quote, unquote

import pytest
from django.contrib.auth import get_user
from django.test import Client

from accounts.models import NameLook, User
from tests.cast import PASSWORD
from tests.factories import browser_of, member
from tests.routes import routes


@pytest.fixture(autouse=True)
def any_script(settings):
    settings.NAMES = "any"


def call(browser, path, **body):
    return browser.post(f"/api/{path}", body, content_type="application/json").json()


def sign_up(name):
    browser = Client()
    return browser, browser.post("/signup/", {"username": name, "password1": PASSWORD, "password2": PASSWORD})


@pytest.mark.deep
@pytest.mark.parametrize("name", ["小明", "Вася", "علي"])
def test_every_page_and_operation_about_a_member_works_with_letters_of_any_script(name, settings, carol):
    author = member(name)
    settings.NAMES = "ascii"  # the names that there are stay
    browser, moderator = browser_of(author), browser_of(carol)
    article = call(browser, "articles", title="A title", link="https://example.org/a")["id"]
    comment = call(browser, f"articles/{article}/comments", text="Hello")["id"]
    ban = moderator.post(f"/users/{name}/moderation/", {"scope": "voting", "days": "7", "reason": "Spam"})
    assert unquote(ban.headers["Location"]) == f"/users/{name}/moderation/"

    told = {
        "/articles/<article_id:article_id>/", "/comments/<comment_id:comment_id>/", "/moderation/",
        "/", "/settings/data/",
    }  # fmt: skip
    about = [route for route in routes() if "name" in route.parameters or route.pattern in told]
    for route in about:
        path = route.path(name=name, article_id=str(article), comment_id=str(comment))
        for reader in (browser, moderator):
            page = reader.get(path, follow=True)
            assert page.status_code in (200, 403, 404, 405), path
            assert all(value.isascii() and "=?" not in value for value in page.headers.values()), path
            page.close()
    for path in (
        f"/users/{name}/", f"/users/{name}/comments/", f"/feeds/users/{name}.atom", f"/articles/{article}/",
    ):  # fmt: skip
        assert f"/users/{quote(name)}/" in Client().get(path).text, path
    assert name in moderator.get("/moderation/").text
    assert browser.get(f"/api/users/{name}/articles").json()["articles"][0]["poster"] == name
    assert Client().get("/search/", {"q": f"author:{name}"}).text.count('id="article-') == 1


def test_a_name_in_any_spelling_logs_in_and_leads_to_the_page_of_its_member(site_store):
    sign_up("ＺＯＥ́김")  # full-width, and decomposed
    assert User.objects.get().username == "ZOÉ김"

    for spelling in ("zoé김", "ＺＯÉ김", "zoe\u0301\u1100\u1175\u11b7"):
        browser = Client()
        browser.post("/login/", {"username": spelling, "password": PASSWORD})
        assert get_user(browser).is_authenticated, spelling
        assert browser.get(f"/users/{quote(spelling)}/").headers["Location"] == f"/users/{quote('ZOÉ김')}/"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("аlice", "mixes letters"), ("小明😀", "characters that are not allowed"),
        ("٣小明", "must start with a letter"), ("管理員2", "reserved"), ("版主小王", "reserved"),
        ("Админ", "reserved"), ("Ádmin", "reserved"), ("ВОТ", "reserved"), ("aIice", "looks like another"),
        ("a1ice", "looks like another"), ("АІісе", "looks like another"), ("Alice", "taken"),
    ],
)  # fmt: skip
def test_a_name_that_could_be_mistaken_for_another_is_refused(name, why, alice):
    assert why in sign_up(name)[1].text


def test_a_site_of_ascii_names_refuses_others_and_still_look_alikes(settings, alice):
    settings.NAMES = "ascii"

    assert "must start with a letter from a to z" in sign_up("小明")[1].text
    assert "characters that are not allowed" in sign_up("zoé")[1].text
    assert "looks like another" in sign_up("aIice")[1].text


BESIDE = {
    "ann": (
        "ann_", "ann__", "ann-", "ann--", "ann_-", "a_nn", "an_n", "a-nn", "an-n", "a_n_n", "a-n_n-", "a__nn",
        "ANN_", "Ann-", "a-N-n", "ａｎｎ＿", "annʼ", "aʼnn", "annʻ", "ʻann", "annˬ", "annー", "aーnn",
        "ann_ー", "ann一",
    ),
    "b_ob": ("bob", "bo-b", "B0B", "b0_b", "B-O-B", "b_ob_", "ВОВ", "В-О-В", "ВОВ_"),
    "alice-2": ("alice2", "a1ice_2", "aIice-2", "alice_2", "al_ice2", "АІісе2"),
    "annie": ("ANNIE_", "AnnI-e", "annIe_"),
    "BILL_I": ("billi", "bill-i", "biIIi", "BILLI"),
    "modern-art": ("modernart", "modem-art", "modemart", "rnodern_art"),
    "小_明": ("小明", "小-明", "小明_", "小__明"),
    "Вова": ("Во-ва", "В_ова", "воВа_", "ВО_ВА"),
    "علي": ("علي_", "ع-لي"),
    "김철수": ("김-철수", "김_철_수"),
    "おのでら": ("お_のでら", "おのでら-"),
}  # fmt: skip


def test_a_name_that_differs_only_in_what_separates_its_letters_is_too_similar(site_store):
    for name in BESIDE:
        member(name, password=PASSWORD)

    free = [one for alike in BESIDE.values() for one in alike if not User.objects.is_look_taken(one)]

    assert free == []
    assert "looks like another" in sign_up("an_n")[1].text
    assert get_user(sign_up("hannah_lee")[0]).is_authenticated
    assert User.objects.bulk_create_imported(["a__nn"])["a__nn"] == User.objects.get(username="a__nn").pk
    browser = Client()
    browser.post("/login/", {"username": "a_nn", "password": PASSWORD})
    assert not get_user(browser).is_authenticated


def test_the_names_that_there_are_stay_and_those_of_deleted_accounts_are_not_given_again(site_store):
    ann, other = member("ann", password=PASSWORD), member("bea")
    User.objects.filter(pk=other.pk).update(username="ann_", canonical_name="ann_")
    NameLook.objects.create(digest=sha256(b"gone_one").hexdigest()[:32], user_id=7)

    other.refresh_from_db()
    other.set_password(PASSWORD)
    other.save()
    for name, owner in (("ann_", other), ("ANN_", other), ("ann", ann)):
        browser = Client()
        browser.post("/login/", {"username": name, "password": PASSWORD})
        assert get_user(browser) == owner
    assert "looks like another" in sign_up("gone_one")[1].text
    assert get_user(sign_up("gone-by")[0]).is_authenticated

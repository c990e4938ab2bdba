"""The site's own texts, which administrators write."""

import pytest
from django.test import Client

from articles import site
from articles.configuration import recent
from articles.models import SiteText
from tests.cast import MODERATOR
from tests.factories import browser_of, member


@pytest.fixture
def administrator(db):
    return browser_of(member("root", pk=70, is_staff=True, is_superuser=True))


def write(administrator, name, text, language="en", **buttons):
    answer = administrator.post(f"/administration/texts/{name}/{language}/", {"text": text} | buttons)
    site.forget_texts()
    return answer


def page(path="/", language="en", user=None):
    return browser_of(user).get(path, headers={"accept-language": language}).text


def test_rules_have_a_page_and_a_link_as_soon_as_there_are_rules(site_store, administrator):
    assert Client().get("/rules/").status_code == 404
    assert 'href="/rules/"' not in page()

    assert write(administrator, "rules", "Be **kind**.\n\n<script>alert(1)</script>").status_code == 302

    assert 'href="/rules/"' in page()
    for path in ("/signup/", "/about/"):
        assert page(path).count('href="/rules/"') == 2, "in the page, and below it"
    assert "Be <strong>kind</strong>." in page("/rules/")
    assert "<script>alert" not in page("/rules/")


def test_the_welcome_is_on_the_front_page_for_readers_without_account(site_store, administrator, alice):
    write(administrator, "welcome", "Hello, *reader*.")

    assert "Hello, <em>reader</em>." in page()
    assert "Hello, <em>" not in page("/?page=2")
    assert "Hello, <em>" not in page("/newest/")
    assert "Hello, <em>" not in page(user=alice)


def test_texts_and_descriptions_of_groups_link_to_pages_of_the_site(site_store, administrator, article):
    write(administrator, "welcome", "Read the [rules](/rules/).")
    site_store.groups.describe("python", "See [databases](/groups/databases/).", MODERATOR)

    assert '<a href="/rules/" rel="nofollow ugc noopener">rules</a>' in page()
    assert '<a href="/groups/databases/" rel="nofollow ugc noopener">databases</a>' in page("/groups/python/")


def test_about_privacy_and_imprint_are_on_how_it_works(site_store, administrator):
    for name in ("about", "privacy", "imprint"):
        write(administrator, name, f"Our {name}.")

    about = page("/about/")

    for name in ("about", "privacy", "imprint"):
        assert f"Our {name}." in about
    assert 'id="imprint"' in about
    assert 'href="/about/#imprint"' in page()


def test_each_language_has_a_text_of_its_own_and_falls_back_to_the_other(site_store, administrator):
    write(administrator, "rules", "Be kind.")
    assert '<div class="text" dir="auto" lang="en">' in page("/rules/", "zh-hans")

    write(administrator, "rules", "友善待人。", "zh-hans")

    assert "友善待人。" in page("/rules/", "zh-hans")
    assert '<div class="text" dir="auto" lang="zh-Hans"><p>友善待人。' in page("/rules/", "zh-hant")
    assert "Be kind." in page("/rules/")
    assert 'dir="auto" lang=' not in page("/rules/")


def test_a_text_is_previewed_edited_and_removed_and_a_long_one_is_refused(site_store, administrator):
    preview = write(administrator, "rules", "See [all](/groups/). Be **kind**.", preview="1").text
    assert "Be <strong>kind</strong>." in preview
    assert '<a href="/groups/"' in preview
    assert site.site_text("rules") is None

    write(administrator, "rules", "Be kind.")
    assert "Be kind.</textarea>" in administrator.get("/administration/texts/rules/en/").text
    write(administrator, "rules", "")

    assert not SiteText.objects.exists()
    refused = write(administrator, "about", "x" * 20_001)
    assert (refused.status_code, "has 20,001 characters" in refused.text) == (400, True)
    entries = [
        (one.action, one.title, one.details["text"]) for one in site_store.moderation_log.get_page().entries
    ]
    assert entries == [("change-site-text", "rules", "removed"), ("change-site-text", "rules", "changed")]


def test_a_change_retracts_copies_of_pages(site_store, administrator, kept, django_capture_on_commit_callbacks):
    Client().get("/about/")
    before = sorted(path.name for path in kept.glob("page-*"))
    assert before

    with django_capture_on_commit_callbacks(execute=True):
        write(administrator, "about", "Our site.")

    assert not set(before) & {path.name for path in kept.glob("page-*")}


def test_texts_are_read_once_in_ten_seconds(site_store, administrator, monkeypatch, django_assert_num_queries):
    now = 1000.0
    monkeypatch.setattr(recent.time, "monotonic", lambda: now)
    write(administrator, "rules", "Be kind.")
    with django_assert_num_queries(1):
        assert site.site_text("rules").text == "Be kind."
        assert site.site_text("rules").text == "Be kind."
    SiteText.objects.update(text="Be brief.")

    now += recent.KEPT_SECONDS - 0.1
    assert site.site_text("rules").text == "Be kind."
    now += 0.1

    assert site.site_text("rules").text == "Be brief."

"""Texts of articles: posted, previewed, edited, and shown where they belong."""

import re

import pytest
from django.test import Client

from tests.cast import MODERATOR
from tests.factories import browser_of, post_as

DRAWN = "<p>A <em>text</em></p>"


def number_of(answer):
    return int(re.fullmatch(r"/articles/(\d+)/", answer.headers["Location"])[1])


def test_a_text_post_leads_to_its_own_page_and_not_elsewhere(site_store, alice):
    number = number_of(browser_of(alice).post("/post/", {"title": "Words", "link": "", "text": "A *text*"}))
    page, front = Client().get(f"/articles/{number}/").text, Client().get("/").text

    assert DRAWN in page
    assert re.search(r"<h1[^>]*>Words</h1>", page)
    assert '<meta name="description" content="A text">' in page
    assert re.search(rf'<h2><a href="/articles/{number}/" dir="auto">Words</a></h2>', front)
    assert DRAWN not in front
    for text in (page, front, Client().get("/search/?q=words").text):
        assert 'class="host"' not in text
        assert 'href=""' not in text


@pytest.mark.parametrize("path", ["/post/", "/articles/{}/edit/"])
def test_a_preview_shows_the_text_and_changes_nothing(site_store, alice, path):
    number = post_as(site_store, alice, "Mine", "https://example.org/a", text="Before").id
    form = {"title": "", "link": "nonsense", "text": "A *text*", "preview": "1"}

    answer = browser_of(alice).post(path.format(number), form)

    assert answer.status_code == 200
    assert DRAWN in answer.text
    assert 'value="nonsense"' in answer.text
    assert ">A *text*</textarea>" in answer.text.replace("\n", "")
    assert 'class="errors"' not in answer.text
    assert site_store.imports.count() == 1
    assert site_store.articles.get(number, with_text=True).text == "Before"


def test_a_script_gets_the_preview_of_a_member(site_store, alice):
    browser = browser_of(alice)

    assert browser.post("/post/preview/", {"text": "A *text*"}).json() == {"html": DRAWN + "\n"}
    assert browser.post("/post/preview/", {"text": "x" * 20_001}).status_code == 400
    assert browser.get("/post/preview/").status_code == 405
    assert Client().post("/post/preview/", {"text": "A *text*"}).status_code in (302, 403)


def test_an_edit_of_the_text_is_in_the_history_without_the_text(site_store, alice):
    number = post_as(site_store, alice, "Mine", "https://example.org/a", text="Before").id

    browser_of(alice).post(f"/articles/{number}/edit/", {"title": "Mine", "link": "", "text": "A *text*"})
    page = Client().get(f"/articles/{number}/").text

    assert DRAWN in page
    assert "the text was changed" in page
    assert "link before: https://example.org/a" in page
    assert "Before" not in page


def test_the_text_of_a_removed_article_is_for_its_poster_and_for_moderators(site_store, alice, bob, carol):
    number = post_as(site_store, alice, "Mine", "", text="A *text*").id
    site_store.articles.remove(number, MODERATOR, "Spam")

    assert DRAWN not in browser_of(bob).get(f"/articles/{number}/").text
    for reader in (alice, carol):
        assert DRAWN in browser_of(reader).get(f"/articles/{number}/").text
    assert Client().get(f"/api/articles/{number}").json()["text"] is None

"""A first page fits in one round trip: at most 10 KB, with real titles."""

import json

import pytest
from django.test import Client

from articles.text.lines import InvalidInput, clean_title
from articles.text.links import clean_link
from tests.factories import browser_of

KB = 1024
ROWS = 25


def post(site_store, article, number):
    try:
        title, link = clean_title(article["title"]), clean_link(article["link"])
    except InvalidInput:
        return False
    slugs = [slug for slug in article["groups"] if slug.isalnum()]
    for slug in slugs:
        if slug not in site_store.groups.get_titles():
            site_store.groups.create(slug, slug.title())
    return site_store.articles.post(number, article["poster"], title, link, slugs).is_new


@pytest.fixture(params=["newest", "longest"])
def filled(request, site_store, shared_dir):
    """A site with 25 real articles: the newest of the file, or those with the longest titles."""
    lines = (shared_dir / "data" / "articles_2000.jsonl").read_text().splitlines()
    articles = [json.loads(line) for line in lines]
    key = (lambda one: one["time"]) if request.param == "newest" else (lambda one: len(one["title"].encode()))
    posted = 0
    for number, article in enumerate(sorted(articles, key=key, reverse=True), start=1000):
        posted += post(site_store, article, number)
        if posted == ROWS:
            return site_store
    raise AssertionError(posted)


def weight(browser):
    response = browser.get("/", headers={"accept-encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    return len(response.content)


def test_the_first_page_of_a_reader_is_at_most_10_kilobytes(filled):
    assert Client().get("/").content.decode().count('<li class="row"') == ROWS
    assert weight(Client()) <= 10 * KB


def test_the_first_page_of_a_member_is_at_most_10_kilobytes(filled, bob):
    assert weight(browser_of(bob)) <= 10 * KB

"""robots.txt and the sitemap."""

import re
import xml.etree.ElementTree as ET

import pytest
from django.test import Client
from django.urls import reverse

from articles.formatting.values import iso_date
from articles.views import crawlers
from tests import extras
from tests.factories import actor, browser_of
from tests.pages.lists import post_many
from tests.routes import routes

SITEMAPS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def places(path):
    response = Client().get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "application/xml; charset=utf-8")
    root = ET.fromstring(response.content)
    return [found.text.removeprefix("http://testserver") for found in root.iter(f"{SITEMAPS}loc")]


def test_robots_txt_lists_what_is_closed_and_where_the_sitemap_is(site_store):
    response = Client().get("/robots.txt")
    text = response.content.decode()

    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert text.startswith("User-agent: *\n")
    assert "\nSitemap: http://testserver/sitemap.xml\n" in text
    for path in ("/login/", "/operation/", "/post/", "/articles/*/vote/", "/admin/", "/*?"):
        assert f"\nDisallow: {path}\n" in text


def test_rules_with_wildcards_close_the_intended_pages(site_store):
    for path, closed in [
        ("/articles/1/vote/", True), ("/articles/1/views/", True), ("/?page=2", True),
        ("/feeds/front.atom?hide=a", True), ("/groups/python/?order=time", True),
        ("/newest/?page=2&after=AQ", True),
        ("/groups/python/?page=7&order=score&after=AQ", True),
        ("/users/alice/?page=2", True), ("/groups/python+redis/", True), ("/groups/python%2Bredis/", True),
        ("/pulse/?ids=1", True), ("/post/known/?link=x", True), ("/articles/1/save/", True),
        ("/articles/1/hide/", True), ("/mine/saved/", True), ("/groups/python/", False),
        ("/feeds/groups/python+redis.atom", False), ("/feeds/top/day.atom", False),
        ("/articles/1/", False), ("/groups/vote/", False),
    ]:  # fmt: skip
        assert is_closed(path) is closed, (path, closed)


def is_closed(path):
    """Apply RFC 9309, sections 2.2.2 and 2.2.3; the standard library's parser knows no wildcards."""
    rules = re.findall("^(Allow|Disallow): (.+)$", Client().get("/robots.txt").content.decode(), re.MULTILINE)
    met = [(len(rule), kind) for kind, rule in rules if re.match(re.escape(rule).replace(r"\*", ".*"), path)]
    return bool(met) and max(met)[1] == "Disallow"


OPEN = {
    "front", "newest", "hot", "active", "top", "groups", "group", "article", "profile", "log", "about",
    "comment", "member_comments", "rules", "accent", "feed", "top_feed", "group_feed", "user_feed",
    "search_feed", "host", "host_feed", "comments_feed", "article_comments_feed", "member_comments_feed",
    "security_txt", "change_password", "nodeinfo_links", "nodeinfo", "app_metadata", "manifest", "worker",
    "favicon", "robots", "sitemap", "sitemap_lists", "sitemap_articles",
}  # fmt: skip


def test_every_page_is_either_open_or_closed_to_crawlers(site_store):
    samples = {"name": "front", "day": "2026-11-27"}
    names = (route.name.partition(":") for route in routes() if not is_closed(route.path(**samples)))
    found = {name for namespace, _, name in names if namespace in ("articles", "accounts")}

    assert found == OPEN.union(*extras.all_of("CRAWLED"))


def test_the_sitemap_contains_every_list_and_every_listed_article(site_store, article, alice, carol):
    site_store.groups.create("机器学习", "x")
    other, gone = post_many(site_store, alice, 2)
    site_store.articles.remove(gone, actor(carol), "spam")

    assert places("/sitemap.xml") == ["/sitemap-lists.xml", "/sitemap-articles-1.xml"]
    assert places("/sitemap-articles-1.xml") == [f"/articles/{n}/" for n in (article, other)]
    lists = places("/sitemap-lists.xml")
    for path in (
        "/", "/newest/", "/hot/", "/groups/", "/groups/python/",
        reverse("articles:group", args=["机器学习"]),
    ):  # fmt: skip
        assert path in lists
    for path in (*lists, f"/articles/{article}/"):
        assert Client().get(path).status_code == 200


def test_lists_that_change_with_every_post_have_the_time_of_the_latest(site_store, article):
    posted = iso_date(site_store.articles.get(article).posted_at)

    text = Client().get("/sitemap-lists.xml").content.decode()

    for path in ("/", "/newest/"):
        assert f"<loc>http://testserver{path}</loc><lastmod>{posted}</lastmod>" in text


@pytest.mark.parametrize(("count", "parts"), [(4, 1), (5, 1), (6, 2), (10, 2), (11, 3)])
def test_a_part_ends_at_its_limit_and_the_next_continues(site_store, alice, monkeypatch, count, parts):
    monkeypatch.setattr(crawlers, "PART", 5)
    ids = post_many(site_store, alice, count)

    names = places("/sitemap.xml")[1:]

    assert names == [f"/sitemap-articles-{n}.xml" for n in range(1, parts + 1)]
    found = [places(name) for name in names]
    assert max(map(len, found)) <= 5
    assert [path for part in found for path in part] == [f"/articles/{n}/" for n in ids]
    assert Client().get(f"/sitemap-articles-{parts + 1}.xml").status_code == 404


def test_crawler_files_can_be_cached_for_an_hour_and_revalidated(site_store, article):
    for path in ("/robots.txt", "/sitemap.xml", "/sitemap-lists.xml", "/sitemap-articles-1.xml"):
        response = Client().get(path)
        assert (response["Cache-Control"], response["Vary"]) == ("public, max-age=3600", "Accept-Encoding")
        assert not response.cookies
        assert Client().get(path, headers={"If-None-Match": response["ETag"]}).status_code == 304


def test_crawler_files_are_of_everyone_and_load_no_account(site_store, article, bob, django_assert_num_queries):
    bob.language = "zh-hans"
    bob.save()
    member = browser_of(bob)
    for path in ("/robots.txt", "/sitemap.xml", "/sitemap-lists.xml", "/sitemap-articles-1.xml"):
        plain = Client().get(path)
        with django_assert_num_queries(0):
            theirs = member.get(path, headers={"Accept-Language": "zh-hans"})
        found = (theirs.content, theirs["Vary"], theirs["ETag"])
        assert found == (plain.content, "Accept-Encoding", plain["ETag"])
        assert not theirs.cookies

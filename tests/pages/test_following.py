"""Following groups: the buttons, the page, and the private feed."""

import re
import xml.etree.ElementTree as ET
from email.utils import parsedate_to_datetime

import pytest
from django.test import Client

from accounts.models import User
from articles.views.groups import MOST_WITHOUT_SEARCH
from articles.web.groups import forget_liveliness
from articles.web.preferences import MOST_FOLLOWED
from tests.factories import actor, browser_of, post_as
from tests.pages.feeds import ids_in
from tests.pages.lists import rows


@pytest.fixture
def redis_article(site_store, bob, carol) -> int:
    site_store.groups.create("redis", "Redis", actor(carol))
    return post_as(site_store, bob, "B", "https://example.org/b", ["redis"]).id


def follow(browser, slug, target="follow", back="/groups/"):
    return browser.post(f"/following/groups/{slug}/", {"follow": target, "next": back}, follow=True)


def test_a_group_is_followed_and_left_by_buttons_and_its_articles_listed(site_store, article, redis_article, bob):
    browser = browser_of(bob, strict=True)
    empty = browser.get("/following/").content.decode()
    assert "You aren’t following any groups" in empty
    assert 'href="/following/" aria-current="page">Following<' in empty
    page = browser.get("/groups/python/").content.decode()
    token = re.search('name="csrfmiddlewaretoken" value="([^"]*)"', page)[1]
    assert '<button class="button" type="submit" name="follow" value="follow">Follow this group</button>' in page

    fields = {"follow": "follow", "next": "/groups/python/", "csrfmiddlewaretoken": token}
    page = browser.post("/following/groups/python/", fields, follow=True).content.decode()

    assert "You now follow the group “Python”." in page
    assert "Unfollow this group" in page
    assert rows(browser.get("/following/")) == [article]
    assert 'value="unfollow" aria-label="Unfollow “' in browser.get("/groups/").content.decode()
    browser = browser_of(bob)
    follow(browser, "redis")
    assert set(rows(browser.get("/following/"))) == {article, redis_article}
    answer = follow(browser, "python", "unfollow", back="/groups/?order=name")
    assert answer.redirect_chain == [("/groups/?order=name#group-python", 302)]
    assert rows(browser.get("/following/")) == [redis_article]
    assert browser.get("/following/?page=2").status_code == 404


def test_following_a_merged_group_continues_with_its_target(site_store, article, redis_article, bob, carol):
    browser = browser_of(bob)
    follow(browser, "redis")
    site_store.groups.merge("redis", "python", actor(carol), "The same")

    assert set(rows(browser.get("/following/"))) == {article, redis_article}
    follow(browser, "python", "unfollow")
    bob.refresh_from_db()
    assert bob.followed_groups == ""


def test_what_cannot_be_followed_is_refused(site_store, article, bob):
    browser = browser_of(bob)
    assert follow(browser, "nope").status_code == 404
    assert browser.post("/following/groups/python/", {"follow": "x"}).status_code == 400
    many = [f"g{n}" for n in range(MOST_FOLLOWED)]
    site_store.groups.ensure(dict.fromkeys(many, "G"))
    User.objects.filter(pk=bob.pk).update(followed_groups=",".join(many))
    assert "You follow the maximum number of groups." in follow(browser, "python").content.decode()
    bob.refresh_from_db()
    assert "python" not in bob.followed_groups


def feed_of(user):
    """Return the address of the member's private feed on its page, "" without one."""
    found = re.search('href="(/following/[^"]*\\.atom)"', browser_of(user).get("/following/feed/").text)
    return found[1] if found else ""


def test_the_private_feed_needs_only_an_address_to_replace(site_store, article, redis_article, bob, alice):
    browser = browser_of(bob)
    follow(browser, "redis")
    assert feed_of(bob) == ""
    browser.post("/following/feed/", {"feed": "new"})
    first = feed_of(bob)

    answer = Client().get(first)

    assert ids_in(answer) == [redis_article]
    assert (answer["Cache-Control"], answer["X-Robots-Tag"]) == ("private, max-age=300", "noindex")
    assert Client().get(first, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert ids_in(Client().get(first.replace(".atom", ".rss"))) == [redis_article]
    assert first in browser.get("/following/").content.decode()
    browser.post("/following/feed/", {"feed": "new"})
    assert Client().get(first).status_code == 404
    second = feed_of(bob)
    assert Client().get(second).status_code == 200
    User.objects.filter(pk=alice.pk).update(feed_key=User.objects.get(pk=bob.pk).feed_key)
    assert Client().get(second.replace(f"/{bob.pk}-", f"/{alice.pk}-")).status_code == 404
    browser.post("/following/feed/", {"feed": "none"})
    assert Client().get(second).status_code == 404
    assert browser.post("/following/feed/", {"feed": "x"}).status_code == 400
    for token in ("", "x", "1", f"{bob.pk}-", f"{bob.pk}-x", "١-x", "9" * 30 + "-x"):
        assert Client().get(f"/following/{token}.atom").status_code == 404


def test_the_groups_a_member_follows_are_a_file_of_feeds(site_store, article, redis_article, bob, carol):
    browser = browser_of(bob)
    assert "groups.opml" not in browser.get("/following/").text + browser.get("/following/feed/").text
    site_store.groups.create("hostile", '"><a\x0b&', actor(carol))
    for slug in ("redis", "hostile", "python"):
        follow(browser, slug)
    browser.post("/following/feed/", {"feed": "new"})
    bob.refresh_from_db()
    for page in ("/following/", "/following/feed/"):
        assert 'href="/following/groups.opml"' in browser.get(page).text

    answer = browser.get("/following/groups.opml")

    assert answer["Content-Type"] == "text/x-opml; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="groups.opml"'
    assert "private" in answer["Cache-Control"]
    assert bob.feed_key not in answer.text, "the file may be passed on"
    opml = ET.fromstring(answer.content)
    assert (opml.tag, opml.get("version"), [child.tag for child in opml]) == ("opml", "2.0", ["head", "body"])
    assert opml.findtext("head/title") == "Followed groups – Article Voting"
    assert parsedate_to_datetime(opml.findtext("head/dateCreated")).tzinfo
    outlines = [outline.attrib for outline in opml.findall("body/outline")]
    assert [outline["text"] for outline in outlines] == ["Redis", '"><a&', "Python"]
    assert {outline["type"] for outline in outlines} == {"rss"}
    assert outlines[0]["htmlUrl"] == "http://testserver/groups/redis/"
    for outline in outlines:
        assert Client().get(outline["xmlUrl"].removeprefix("http://testserver")).status_code == 200
    assert Client().get("/following/groups.opml").status_code == 302


def test_the_index_shows_what_groups_are_and_their_latest(site_store, article, redis_article, bob, carol):
    site_store.groups.create("quiet", "A quiet group", actor(carol))
    site_store.groups.describe("python", "Snakes, *not* [sharks](/groups/redis/).", actor(carol))
    for browser in (browser_of(bob), browser_of(carol)):
        follow(browser, "python")
    follow(browser_of(bob), "redis")
    forget_liveliness()  # it is some seconds old

    page = Client().get("/groups/").text

    shown = re.sub(r"<[^>]*>|\s+", " ", page)
    assert re.search(r"Snakes, not sharks\.\s+1 article\s+· 2 followers\s+· latest", shown)
    assert re.search(r"1 article\s+· 1 follower\s+· latest", shown)
    assert titles_in(page) == ["Redis", "Python", "A quiet group"]
    assert titles_in(Client().get("/groups/?order=name").text) == ["A quiet group", "Python", "Redis"]
    assert Client().get("/groups/?order=size").status_code == 404
    shown = re.sub("<[^>]*>", "", Client().get("/groups/python/").text)
    assert re.search(r"1 article\s*· 2 followers\s*· latest", shown)


def titles_in(page: str) -> list[str]:
    index = page.partition('class="group-index"')[2]
    return re.findall(r'<a href="/groups/[^"]+/" dir="auto">([^<]+)</a>', index)


def test_many_groups_are_searched_by_name_and_description(site_store, carol):
    site_store.groups.ensure({f"g{n}": f"Group {n}" for n in range(MOST_WITHOUT_SEARCH)})
    assert 'type="search" name="q" id="group-words"' not in Client().get("/groups/").text
    site_store.groups.create("snakes", "Python", actor(carol))
    site_store.groups.describe("g7", "About <b>LIZARDS</b>", actor(carol))

    assert 'id="group-words"' in Client().get("/groups/").text
    assert titles_in(Client().get("/groups/?q=SNAKE").text) == ["Python"]
    assert titles_in(Client().get("/groups/?q=lizards&order=name").text) == ["Group 7"]
    nothing = Client().get("/groups/?q=<i>").text
    assert "No group has “&lt;i&gt;” in its name or description." in nothing
    assert 'value="&lt;i&gt;"' in nothing

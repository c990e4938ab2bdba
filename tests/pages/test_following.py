"""Following groups: the buttons, the page, and the private feed."""

import re

import pytest
from django.test import Client

from accounts.models import User
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


def test_a_group_is_followed_and_unfollowed_by_buttons_and_its_articles_are_listed(
    site_store, article, redis_article, bob
):
    browser = browser_of(bob, strict=True)
    empty = browser.get("/following/").content.decode()
    assert "You aren't following any groups" in empty
    assert 'href="/following/" aria-current="page">Following<' in empty
    page = browser.get("/groups/python/").content.decode()
    token = re.search('name="csrfmiddlewaretoken" value="([^"]*)"', page)[1]
    assert (
        '<button class="tool plain" type="submit" name="follow" value="follow">Follow this group</button>' in page
    )

    fields = {"follow": "follow", "next": "/groups/python/", "csrfmiddlewaretoken": token}
    page = browser.post("/following/groups/python/", fields, follow=True).content.decode()

    assert "You now follow the group “Python”." in page
    assert "Unfollow this group" in page
    assert rows(browser.get("/following/")) == [article]
    assert 'value="unfollow" aria-label="Unfollow “' in browser.get("/groups/").content.decode()
    browser = browser_of(bob)
    follow(browser, "redis")
    assert set(rows(browser.get("/following/"))) == {article, redis_article}
    follow(browser, "python", "unfollow")
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


def test_readers_without_account_are_sent_to_the_login(article):
    assert Client().get("/following/")["Location"].startswith("/login/?next=")
    answer = Client().post("/following/groups/python/", {"follow": "follow", "next": "/groups/python/"})
    assert answer["Location"] == "/login/?next=%2Fgroups%2Fpython%2F"
    assert ">Following<" not in Client().get("/").content.decode()


def feed_of(user):
    """Return the address of the member's private feed on the settings page, "" without one."""
    found = re.search('href="(/following/[^"]*\\.atom)"', browser_of(user).get("/settings/").content.decode())
    return found[1] if found else ""


def test_the_private_feed_needs_only_its_address_which_can_be_replaced(
    site_store, article, redis_article, bob, alice
):
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

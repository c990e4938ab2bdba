"""Lists as readers page through them: top, several groups, hidden groups, and unseen articles behind "More"."""

import re
from html import unescape
from time import time
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.test import Client

from articles.domain.articles import Choice
from tests.factories import actor, browser_of, post_as
from tests.pages.lists import post_many, rows
from tests.store_state import set_clock

CURRENT = re.compile(r'<a href="([^"]+)"[^>]*aria-current="true">')


def text_of(response):
    return unescape(response.content.decode())


def link(response, rel):
    """Return the address of the pager's link, or "" without one."""
    found = re.search(rf'<a rel="{rel}" href="([^"]+)"', text_of(response))
    return found[1] if found else ""


def follow(browser, path, response, rel="next"):
    return browser.get(path + link(response, rel))


def count_votes(site_store, article_id, count):
    for user in range(1000, 1000 + count):
        site_store.votes.cast(article_id, user, Choice.VOTE)


# Top


def test_the_top_of_a_period_is_ordered_by_points_and_has_tabs(site_store, alice):
    first, second, third = post_many(site_store, alice, 3)
    count_votes(site_store, first, 2)

    for span in ("day", "week", "month", "all"):
        response = Client().get(f"/top/?range={span}")
        assert rows(response) == [first, third, second]
        assert CURRENT.findall(text_of(response)) == ["/", f"/top/?range={span}"]
    assert rows(Client().get("/top/")) == [first, third, second]
    front = text_of(Client().get("/"))
    assert CURRENT.findall(front) == ["/"]
    for span in ("day", "week", "month", "all"):
        assert f'href="/top/?range={span}"' in front


# Several groups


@pytest.fixture
def groups(site_store, alice):
    """python: 1 and 3, redis: 2 and 3, java: 3 and 4."""
    for slug, title in (("python", "Python"), ("redis", "Redis"), ("java", "Java"), ("cpp", "C++")):
        site_store.groups.create(slug, title)
    for number, inside in enumerate((["python"], ["redis"], ["python", "redis", "java"], ["java"]), start=1):
        post_as(site_store, alice, f"T {number}", f"https://example.org/{number}", inside)


def test_several_groups_show_each_article_of_any_of_them_once(site_store, groups):
    count_votes(site_store, 1, 5)
    response = Client().get("/groups/python+redis/")

    assert response.status_code == 200
    assert rows(response) == [1, 3, 2]
    assert ">Python, Redis</h1>" in text_of(response)
    assert rows(Client().get("/groups/python+redis/?order=time")) == [3, 2, 1]
    assert Client().get("/groups/python+redis/?order=x").status_code == 404


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/groups/redis+python/", "/groups/python+redis/"),
        ("/groups/Python+REDIS/?order=time&page=1", "/groups/python+redis/?order=time&page=1"),
        ("/groups/redis%2Bpython+redis/", "/groups/python+redis/"),
        ("/groups/python%20redis/", "/groups/python+redis/"), ("/groups/python+/", "/groups/python/"),
        ("/groups/python+python/", "/groups/python/"), ("/groups/c+++python/", "/groups/cpp+python/"),
        ("/groups/python+c++/", "/groups/cpp+python/"), ("/groups/C++/", "/groups/cpp/"),
    ],
)  # fmt: skip
def test_groups_in_another_spelling_or_order_redirect_to_one_address(site_store, groups, path, to):
    response = Client().get(path)

    assert (response.status_code, response.headers["Location"]) == (301, to)


def test_unknown_groups_among_several_are_named_and_the_rest_offered(site_store, groups):
    response = Client().get("/groups/nope+python+redis+what/")

    assert response.status_code == 404
    assert "There are no groups named nope, what" in text_of(response)
    assert 'href="/groups/python+redis/"' in text_of(response)
    assert "There is no group named nope" in text_of(Client().get("/groups/nope+python/"))


def test_a_merged_group_among_several_redirects_too(site_store, groups, carol):
    site_store.groups.merge("java", "redis", actor(carol))

    assert Client().get("/groups/java+python/").headers["Location"] == "/groups/python+redis/"
    assert Client().get("/groups/java+redis/").headers["Location"] == "/groups/redis/"


# Hidden groups


def hiding(*slugs):
    browser = Client()
    browser.cookies["hidden"] = quote(",".join(slugs))
    return browser


def test_every_list_excludes_hidden_groups(site_store, groups):
    browser = hiding("java")

    for path in ("/", "/newest/", "/top/", "/top/?range=all", "/groups/python+redis/"):
        assert rows(browser.get(path)) == [2, 1]
        assert re.search("[12] hidden · <a", text_of(browser.get(path)))
    assert rows(browser.get("/groups/java/")) == [4, 3]
    assert "hidden-note" not in text_of(browser.get("/groups/java/"))
    assert rows(browser.get("/groups/python/")) == [1]
    assert rows(browser.get("/users/alice/")) == [4, 3, 2, 1]


def test_a_members_hidden_groups_come_from_the_account(site_store, groups, bob):
    bob.hidden_groups = "python,redis"
    bob.save()

    assert rows(browser_of(bob).get("/newest/")) == [4]
    assert 'href="/hidden/"' in text_of(browser_of(bob).get("/newest/"))
    assert rows(Client().get("/newest/")) == [4, 3, 2, 1]


def test_a_list_with_every_article_hidden_says_so(site_store, groups):
    text = text_of(hiding("python", "redis", "java").get("/"))

    assert "You are hiding every article here." in text
    assert "4 hidden · <a" in text


# More


PATHS = ["/", "/groups/java+python/?order=time"]


@pytest.mark.parametrize("path", PATHS)
def test_more_continues_with_unseen_articles_despite_changes(site_store, alice, path):
    site_store.groups.create("python", "Python")
    site_store.groups.create("java", "Java")
    ids, browser, seen = post_many(site_store, alice, 60, ["python"]), Client(), []
    plain = path.partition("?")[0]
    response = browser.get(path)
    while True:
        seen += rows(response)
        if not link(response, "next"):
            break
        count_votes(site_store, seen[-1], 30)
        count_votes(site_store, ids[0], 40)
        post_as(site_store, alice, "New", f"https://new.example/{len(seen)}", ["java"])
        response = browser.get(plain + link(response, "next"))
        assert response.status_code == 200

    assert len(seen) == len(set(seen))
    assert set(ids) <= set(seen)


def test_ranks_continue_across_pages_and_previous_leads_back(site_store, alice):
    ids, browser = post_many(site_store, alice, 60), Client()
    first = browser.get("/newest/")
    second = follow(browser, "/newest/", first)
    third = follow(browser, "/newest/", second)

    found = [re.search(r'<ol class="rows" start="(\d+)"', text_of(page))[1] for page in (first, second, third)]
    assert found == ["1", "26", "51"]
    assert "Page 3 of 3" in text_of(third)
    assert rows(third) == ids[9::-1]
    assert rows(follow(browser, "/newest/", third, "prev")) == rows(second)
    assert rows(follow(browser, "/newest/", second, "prev")) == rows(first)
    assert (link(first, "prev"), link(third, "next")) == ("", "")
    assert second.headers["X-Robots-Tag"] == "noindex"
    assert "X-Robots-Tag" not in first.headers


def test_an_invalid_expired_or_foreign_token_gives_the_plain_page(site_store, alice):
    post_many(site_store, alice, 60)
    now = time()
    set_clock(site_store, now)
    plain = rows(Client().get("/newest/?page=2"))
    count_votes(site_store, 60, 1)
    address = link(Client().get("/newest/"), "next")
    token = parse_qs(urlsplit(address).query)["after"][0]
    post_as(site_store, alice, "New", "https://new.example/", [])
    moved = rows(Client().get("/newest/?page=2"))

    assert plain != moved
    for wrong in ("", "x", token[:-3], token + "A", token.swapcase(), "%00", "A" * 4000, "😀"):
        assert rows(Client().get("/newest/", {"page": 2, "after": wrong})) == moved
    assert rows(Client().get("/", {"page": 2, "after": token})) == rows(Client().get("/?page=2"))
    assert rows(Client().get("/newest/", {"page": 3, "after": token})) == rows(Client().get("/newest/?page=3"))
    assert rows(Client().get("/newest/" + address))[0] == 61
    set_clock(site_store, now + 601)
    assert rows(Client().get("/newest/" + address))[0] == 61
    set_clock(site_store, now + 26 * 3600)
    assert rows(Client().get("/newest/" + address)) == moved


def test_a_reader_who_has_seen_everything_gets_a_message(site_store, alice):
    ids, browser = post_many(site_store, alice, 26), Client()
    first = browser.get("/newest/")
    site_store.articles.remove(ids[0], actor(alice), "Spam")

    response = follow(browser, "/newest/", first)

    assert (response.status_code, rows(response)) == (200, [])
    assert "You have reached the end" in text_of(response)


def test_after_a_thousand_articles_pages_continue_by_number(site_store, alice, monkeypatch):
    monkeypatch.setattr("articles.web.paging.MOST_SEEN", 50)
    ids, browser, seen = post_many(site_store, alice, 110), Client(), []
    response = browser.get("/newest/")
    addresses = []
    while True:
        seen += rows(response)
        if not (address := link(response, "next")):
            break
        addresses.append("after=" in address)
        response = browser.get("/newest/" + address)

    assert seen == ids[::-1]
    assert addresses == [True, True, False, False]

"""Marks of what a member has read: in rows, in refreshed pages, in the API, and the setting that ends them."""

import re

import pytest

from tests.caller import with_token
from tests.clock import DAY
from tests.factories import browser_of, comment_on, post_as
from tests.store_state import set_clock

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def marks(browser, path="/newest/", **headers):
    """Return for each article of a list whether it is marked as read, and what it says of new comments."""
    found = {}
    for row in browser.get(path, headers=headers).text.split('<li class="row')[1:]:
        new = re.search('<span class="unread">([^<]*)</span>', row)
        found[int(re.search(r'id="article-(\d+)"', row)[1])] = row.startswith(" read"), new and new[1]
    return found


def pulse(browser, article):
    (row,) = browser.get(f"/pulse/?ids={article}").json()["articles"]
    return row.get("read"), row.get("unread")


@pytest.fixture
def later(site_store):
    """A function that lets a day pass."""

    def pass_day():
        set_clock(site_store, site_store.store.now() + DAY)

    return pass_day


def test_rows_and_refreshed_pages_mark_what_was_opened_and_new_comments(site_store, article, alice, bob, later):
    other, browser = post_as(site_store, alice, "B", "https://example.org/b").id, browser_of(bob)
    assert marks(browser) == {other: (False, ""), article: (False, "")}
    browser.get(f"/articles/{article}/", headers={"User-Agent": FIREFOX})
    assert marks(browser) == {other: (False, ""), article: (True, "")}
    later()
    for text in ("One", "Two"):
        comment_on(site_store, article, text, alice.pk)

    for path in ("/newest/", "/groups/python/", "/users/alice/", "/search/?q=title"):
        assert marks(browser, path)[article] == (True, "2 new"), path
    assert marks(browser, **{"Accept-Language": "zh-CN"})[article] == (True, "2 条新评论")
    assert (pulse(browser, article), pulse(browser, other)) == ((True, "2 new"), (False, ""))
    for reader in (browser_of(alice), browser_of()):
        assert marks(reader)[article][0] is False
    assert marks(browser_of())[article] == (False, None)
    assert pulse(browser_of(), article) == (None, None)
    assert "2 new comments since your last visit" in browser.get(f"/articles/{article}/").text
    assert marks(browser)[article] == (True, "")


def test_a_member_ends_the_marks_in_the_settings_and_what_they_read_is_forgotten(site_store, article, bob):
    browser = browser_of(bob)
    browser.get(f"/articles/{article}/")
    assert re.search('name="read" value="on" checked', browser.get("/settings/reading/").text)

    assert browser.post("/preferences/", {"read": "maybe"}).status_code == 400
    browser.post("/preferences/", {"read": "off", "next": "/settings/"})

    assert site_store.members.list_visits(bob.pk) == []
    browser.get(f"/articles/{article}/")
    browser.post("/api/views", {"articleId": article}, content_type="application/json")
    assert (site_store.members.list_visits(bob.pk), marks(browser)[article]) == ([], (False, ""))
    assert re.search('name="read" value="off" checked', browser.get("/settings/reading/").text)
    assert '"remembers_read": false' in browser.get("/settings/data/").getvalue().decode()
    browser.post("/preferences/", {"theme": "dark"})
    browser.post("/preferences/", {"read": "on"})
    browser.get(f"/articles/{article}/")
    assert marks(browser)[article] == (True, "")


def test_programs_read_the_marks_with_a_token_of_the_member(site_store, article, alice, bob, later):
    browser_of(bob).get(f"/articles/{article}/")
    read_at = site_store.store.now()
    later()
    comment_on(site_store, article, "A comment", alice.pk)

    for caller, marked in ((with_token(bob), (read_at, 1)), (with_token(alice), (None, 0))):
        listed = caller.get("articles").json()["articles"][0]
        one = caller.get(f"articles/{article}").json()
        for found in (listed, one):
            told = (found["read_at"] and round(found["read_at"]), found["new_comments"])
            assert told == (marked[0] and round(marked[0]), marked[1])


def test_lists_leave_out_what_a_member_has_read_if_they_want_that(site_store, article, alice, bob):
    other, browser = post_as(site_store, alice, "B title", "https://example.org/b", ["python"]).id, browser_of(bob)
    browser.get(f"/articles/{article}/")
    comment_on(site_store, article, "A comment", alice.pk)
    follow = "/following/groups/python/"
    browser.post(follow, {"follow": "follow"})
    lists = ("/", "/newest/", "/top/?range=all", "/groups/python/", "/following/")
    for path in lists:
        assert set(marks(browser, path)) == {article, other}, path

    browser.post("/preferences/", {"read": "hide"})

    assert 'name="read" value="hide" checked' in browser.get("/settings/reading/").text
    for path in lists:
        assert set(marks(browser, path)) == {other}, path
        assert "1 hidden" in browser.get(path).text
        shown = marks(browser, f"{path}{'&' if '?' in path else '?'}hidden=show")
        assert set(shown) == {article, other}
    for path in ("/active/", "/search/?q=title", "/users/alice/", "/hosts/example.org/"):
        assert article in marks(browser, path), path
    program = with_token(bob)
    for path in ("articles", "articles?order=time", "me/following"):
        assert [one["id"] for one in program.get(path).json()["articles"]] == [other], path
    assert set(marks(browser_of(alice))) == {article, other}
    assert '"hides_read": true' in browser.get("/settings/data/").getvalue().decode()
    browser.post("/preferences/", {"read": "off"})
    assert set(marks(browser)) == {article, other}

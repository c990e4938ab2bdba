"""Hiding members, hosts, words and articles: in every list of a reader, with or without an account."""

import re
from urllib.parse import quote

import pytest
from django.test import Client

from articles.text.searching import MOST, Kind
from articles.web.preferences import hiding_of
from tests.factories import actor, browser_of, comment_on, post_as
from tests.pages.lists import rows

WAYS = {"member": "bob", "host": "b.example", "word": "valkey", "article": "2"}
"""What hides the article of bob's, by kind."""


@pytest.fixture
def shown(site_store, alice, bob):
    """Two articles: alice's, and bob's, which every kind can hide."""
    site_store.groups.create("python", "Python")
    site_store.articles.post(alice.pk, "alice", "About Redis", "https://a.example/1", ["python"])
    site_store.articles.post(bob.pk, "bob", "About Valkey", "https://sub.b.example/2", ["python"])
    return [1, 2]


def hide(browser, kind, value, change="hide"):
    return browser.post("/preferences/", {change: value, "kind": kind, "next": "/newest/"}, follow=True).text


@pytest.mark.parametrize("who", ["reader", "member"])
@pytest.mark.parametrize("kind", WAYS)
def test_each_kind_is_left_out_of_every_list_and_shown_on_request(site_store, shown, carol, who, kind):
    browser = browser_of(carol if who == "member" else None)

    told = hide(browser, kind, WAYS[kind])

    assert "hidden from your lists." in told
    for path in ("/", "/newest/", "/top/?range=all", "/groups/python/"):
        page = browser.get(path)
        assert rows(page) == [1], path
        assert "1 hidden · <a" in re.sub(r"\s+", " ", page.text)
        address = re.search(r'href="(\?[^"]*hidden=show)"', page.text)[1].replace("&amp;", "&")
        every = browser.get(path.partition("?")[0] + address)
        assert sorted(rows(every)) == [1, 2]
        assert len(re.findall(r'class="hide"[^>]*>Hidden<', every.text)) == 1
        assert "Hide them again" in every.text
    assert rows(Client().get("/newest/")) == [2, 1]
    assert browser.get("/pulse/?ids=1&since=1&order=time").json()["new"] == ""


@pytest.mark.parametrize("kind", WAYS)
def test_a_change_is_taken_back_with_one_button(site_store, shown, carol, kind):
    browser = browser_of(carol)
    told = hide(browser, kind, WAYS[kind])
    (form,) = re.findall(r'<div class="message success".*?</form>', told, re.DOTALL)
    fields = dict(re.findall(r'name="(next|kind)" value="([^"]*)"', form))
    change, value = re.search(r'name="(show|hide)" value="([^"]*)"', form).groups()

    browser.post("/preferences/", {**fields, change: value})

    assert rows(browser.get("/newest/")) == [2, 1]
    assert not hiding_of(type(carol).objects.get(pk=carol.pk))


@pytest.mark.parametrize(("kind", "path"), [("member", "/users/bob/"), ("host", "/hosts/sub.b.example/")])
def test_a_page_that_is_opened_by_name_shows_what_is_hidden(site_store, shown, carol, kind, path):
    browser = browser_of(carol)
    hide(browser, kind, WAYS[kind])

    assert rows(browser.get(path)) == [2]


def test_a_search_stays_full_without_what_is_hidden(site_store, alice, bob, carol):
    for number in range(30):
        post_as(site_store, alice, f"Redis no. {number}", f"https://a.example/{number}")
        post_as(site_store, bob, f"Redis no. {number}", f"https://b.example/{number}")

    browser = browser_of(carol)
    hide(browser, "host", "b.example")

    pages = [browser.get(f"/search/?q=redis&page={number}") for number in (1, 2)]

    assert [len(rows(page)) for page in pages] == [25, 5]
    assert len({*rows(pages[0]), *rows(pages[1])}) == 30
    assert "hidden ·" in re.sub(r"\s+", " ", pages[0].text)


def test_the_private_feed_and_followed_groups_leave_out_what_is_hidden(site_store, shown, carol):
    browser = browser_of(carol)
    browser.post("/following/groups/python/", {"follow": "follow"})
    hide(browser, "word", "valkey")
    browser.post("/following/feed/", {"feed": "new"})
    carol.refresh_from_db()

    page = browser.get("/following/")
    feed = Client().get(f"/following/{carol.feed_token}.atom").text

    assert rows(page) == [1]
    assert "1 hidden" in page.text
    assert ("About Redis" in feed, "About Valkey" in feed) == (True, False)


@pytest.mark.parametrize("who", ["reader", "member"])
def test_a_row_hides_its_article_and_the_list_says_so_in_its_place(site_store, shown, carol, who):
    browser = browser_of(carol if who == "member" else None)
    assert 'name="hide" value="#2"' in browser.get("/newest/").text

    hidden = browser.post("/preferences/", {"hide": "#2", "next": "/newest/?page=1"})["Location"]
    page = browser.get(hidden)

    assert hidden == "/newest/?page=1&hidden=2#article-2"
    assert re.findall(r'<li class="row( hid)?" id="article-(\d)"', page.text) == [(" hid", "2"), ("", "1")]
    undo, *more = re.findall(r'name="(?:hide|show)" value="(\D[^"]*)"', page.text.partition("article-1")[0])
    assert (undo, more) == ("#2", ["/sub.b.example", "/b.example", "@bob", "python"])
    shown_again = browser.post("/preferences/", {"show": "#2", "next": hidden.partition("#")[0]})["Location"]
    assert (shown_again, rows(browser.get(shown_again))) == ("/newest/?page=1#article-2", [2, 1])


@pytest.mark.parametrize("entry", ["#2", "@bob", "/b.example", "~valkey"])
def test_a_script_hides_by_a_sign_of_the_kind_and_gets_what_replaces_the_row(site_store, shown, carol, entry):
    browser = browser_of(carol)

    for _ in range(2):  # a retry
        told = browser.post("/preferences/", {"hide": entry}, headers={"Accept": "application/json"}).json()
        assert ('value="@bob"' in told.get("row", "")) is (entry == "#2")

    assert rows(browser.get("/newest/")) == [1]


@pytest.mark.parametrize("change", ["hide", "show"])
@pytest.mark.parametrize("typed", ["#x", "#٣", "#2\r\nX: y", "#99", "#"])
def test_what_is_no_article_leads_nowhere_else(site_store, shown, typed, change):
    answer = browser_of().post("/preferences/", {change: typed, "next": "/newest/"})

    place = answer.get("Location", "")
    assert answer.status_code == 404 if change == "hide" else re.fullmatch("/newest/(#article-99)?", place)


def test_a_row_leads_to_the_choices_of_what_to_hide(site_store, shown, carol):
    for browser in (browser_of(carol), Client()):
        page = browser.get("/articles/2/hide/", headers={"Referer": "http://testserver/newest/?page=1"})
        forms = re.findall(r'name="kind" value="(\w+)".*?name="hide" value="([^"]*)"', page.text, re.DOTALL)
        assert ('href="/articles/2/hide/"' in browser.get("/newest/").text) is True
        assert forms == [
            ("article", "2"), ("member", "bob"), ("host", "sub.b.example"),
            ("host", "b.example"), ("group", "python"),
        ]  # fmt: skip
        assert 'name="next" value="/newest/?page=1"' in page.text
        assert page["X-Robots-Tag"] == "noindex"
    hide(browser, "word", "valkey")
    page = browser.get("/articles/2/hide/").text
    assert re.findall(r'value="word">.*?name="show" value="([^"]*)"', page, re.DOTALL) == ["valkey"]
    elsewhere = browser.get("/articles/2/hide/", headers={"Referer": "https://evil.example/x"}).text
    assert 'name="next" value="/"' in elsewhere
    assert Client().get("/articles/99/hide/").status_code == 404


@pytest.mark.parametrize("who", ["reader", "member"])
def test_everything_hidden_is_listed_and_shown_again(site_store, shown, carol, who):
    browser = browser_of(carol if who == "member" else None)
    for kind, value in {**WAYS, "group": "python"}.items():
        hide(browser, kind, value)

    page = browser.get("/hidden/").text
    listed = re.findall(r'value="(\w+)">\s*<span>.*?name="show" value="([^"]*)"', page, re.DOTALL)
    assert dict(listed) == {**WAYS, "group": "python"}
    for kind, value in listed:
        hide(browser, kind, value, "show")
    assert 'name="show"' not in browser.get("/hidden/").text
    assert rows(browser.get("/newest/")) == [2, 1]


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("word", "!?", "Enter a word of letters or digits."),
        ("host", "no host", "The link"),
        ("member", "nobody", "There is no such member."),
        ("member", "carol", "You cannot hide what you post yourself."),
        ("article", "99", "There is no such article."),
        ("article", "x", "There is no such article."),
        ("group", "nothing", "There is no such group."),
    ],
)
def test_what_cannot_be_hidden_is_refused_with_a_reason(site_store, shown, carol, kind, value, told):
    browser = browser_of(carol)
    answer = browser.post("/preferences/", {"hide": value, "kind": kind}, headers={"Accept": "application/json"})

    assert answer.status_code in (404, 409)
    assert told in answer.json()["error"]
    assert browser.post("/preferences/", {"hide": value, "kind": "x"}).status_code == 400
    assert not hiding_of(type(carol).objects.get(pk=carol.pk))


def test_a_cookie_takes_what_fits_and_says_when_it_is_full(site_store, shown):
    browser = Client()
    for number in range(MOST[Kind.WORD] + 1):
        told = hide(browser, "word", f"数据{number}")

    assert "You are hiding the maximum number of these." in told
    browser.cookies["hidden"] = "%2C".join(f"/{'h' * 60}{n}.example" for n in range(51))
    assert "Your browser cannot store more hidden things." in hide(browser, "host", f"{'x' * 60}.example")
    assert len(browser.cookies["hidden"].value) <= 3800


def test_comments_of_a_hidden_member_are_collapsed_for_readers_without_an_account(site_store, shown, bob):
    site_store.comments.post(1, bob.pk, "bob", "By bob")
    browser = Client()
    hide(browser, "member", "bob")

    assert 'class="blocked"' in browser.get("/articles/1/").text
    assert 'class="blocked"' not in Client().get("/articles/1/").text


@pytest.mark.parametrize("kind", ["host", "word", "article", "group"])
def test_what_is_hidden_causes_no_notices_but_of_ones_own_article(site_store, shown, alice, bob, carol, kind):
    """By a reply, a mention in a comment, and a mention in an article."""
    own = comment_on(site_store, 2, "Mine", carol.pk)
    value = {**WAYS, "group": "python"}[kind]
    for member in (carol, bob):
        hide(browser_of(member), kind, value)

    browser = browser_of(alice)
    browser.post("/articles/2/comments/", {"text": "To the comment", "parent": own})
    browser.post("/articles/2/comments/", {"text": "@carol"})
    article = {"title": "More Valkey", "link": "https://b.example/3", "text": "@carol", "groups": ["python"]}
    if kind != "article":
        browser.post("/post/", article)

    assert site_store.inbox.get_page(carol.pk).notices == ()
    assert len(site_store.inbox.get_page(bob.pk).notices) == 2
    hide(browser_of(carol), kind, value, "show")
    browser.post("/articles/2/comments/", {"text": "Again @carol"})
    assert len(site_store.inbox.get_page(carol.pk).notices) == 1


@pytest.mark.parametrize("entry", ["a/b", "/x\ny", "python\x00", "/", "~\x00"])
def test_a_damaged_cookie_hides_nothing_and_breaks_no_page(site_store, shown, entry):
    browser = browser_of()
    browser.cookies["hidden"] = quote(entry)

    for path in ("/hidden/", "/newest/", "/articles/2/hide/"):
        assert browser.get(path).status_code == 200, path


def test_a_cookie_that_this_site_did_not_write_names_no_members(site_store, shown, bob):
    browser = browser_of()
    browser.cookies["hidden"] = quote(f"@{bob.pk}")
    assert ">bob<" not in browser.get("/hidden/").text

    hide(browser, "member", "bob")
    assert ">bob<" in browser.get("/hidden/").text
    browser.cookies["hidden"] = browser.cookies["hidden"].value.replace(f"@{bob.pk}", f"@{bob.pk}.1")
    assert ">bob<" not in browser.get("/hidden/").text


def test_the_page_that_offers_to_hide_says_nothing_of_a_removed_article(site_store, shown, carol):
    site_store.articles.remove(2, actor(carol), "Spam")

    page = browser_of().get("/articles/2/hide/", follow=True)

    assert "b.example" not in page.text

"""Feeds as subscribers receive them."""

import calendar
import json
import re
import xml.etree.ElementTree as ET
from datetime import timedelta
from itertools import chain

import pytest
import time_machine
from django.test import Client
from django.urls import resolve

from articles.domain.articles import Choice
from articles.urls import urlpatterns
from articles.web import feeds, wiring
from articles.web.feeds import clean
from tests import extras
from tests.factories import actor, browser_of, comment_on, post_as
from tests.internals import failing
from tests.pages.copies import make_old
from tests.pages.feeds import ATOM, ids_in, links, number_of, parsed
from tests.store_state import count_keys, set_clock

LISTS = ("front", "newest", "hot", "top/day", "top/all", "groups/python", "users/alice")
FEEDS = [f"/feeds/{name}.{kind}" for name in LISTS for kind in ("atom", "rss", "json")]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def read_article(article):
    """An article that a reader has read, so that it is on every list."""
    Client().get(f"/articles/{article}/", headers={"User-Agent": FIREFOX})
    return article


@pytest.fixture
def clock():
    with time_machine.travel("2030-03-01T12:00:00.200Z", tick=False) as found:
        yield found


@pytest.mark.parametrize("kind", ["atom", "rss", "json"])
def test_a_feed_carries_texts_with_absolute_links_as_far_as_they_fit(site_store, alice, bob, kind, monkeypatch):
    page = f"http://testserver/articles/{post_as(site_store, alice, 'Long', '', text='x' * 100).id}/"
    post_as(site_store, alice, "Short", "https://example.org/b", text="<b> *by* @bob")
    monkeypatch.setattr("articles.repository.lists.feeds.MOST_TEXT_BYTES", 50)

    short, long = parsed(Client().get(f"/feeds/newest.{kind}")).entries

    text = short.content[0].value if kind == "atom" else short.summary
    assert text.startswith('<p>&lt;b&gt; <em>by</em> <a href="http://testserver/users/bob/"')
    assert (short.link, long.link) == ("https://example.org/b", page)
    assert "xxx" not in str(long)
    assert "1 point" in short.summary


def test_a_feed_contains_all_facts_of_an_article(site_store, read_article, bob):
    for path in FEEDS:
        site_store.votes.cast(read_article, bob.pk, Choice.VOTE)

        (entry,) = parsed(Client().get(path)).entries

        assert (entry.title, entry.link) == ("A title", "https://example.org/a"), path
        assert entry.author == "alice", path
        assert [tag.term for tag in entry.tags] == ["python"], path
        for part in (
            "2 points: 2 voted for it, 0 opposed it.",
            "example.org",
            f"http://testserver/articles/{read_article}/",
        ):
            assert part in entry.summary, path
        posted = site_store.articles.get(read_article).posted_at
        assert calendar.timegm(entry.published_parsed) == int(posted), path
        if path.endswith("atom"):
            assert entry.updated_parsed == entry.published_parsed, path


@pytest.mark.parametrize("host", ["testserver", "localhost:8000"])
def test_entry_ids_use_the_configured_site_address(site_store, alice, settings, host):
    settings.SITE_URL, settings.ALLOWED_HOSTS = "https://news.example.org:8443", ["*"]
    set_clock(site_store, 1_700_000_000.0)
    number = post_as(site_store, alice, "B", "https://example.org/b").id

    atom, rss = (
        ET.fromstring(Client().get(f"/feeds/newest.{kind}?hide=x", headers={"Host": host}).content)
        for kind in ("atom", "rss")
    )

    name = f"tag:news.example.org,2023-11-14:article/{number}"
    assert atom.find(f"{ATOM}entry/{ATOM}id").text == rss.find("channel/item/guid").text == name
    assert atom.find(f"{ATOM}id").text == "https://news.example.org:8443/feeds/newest.atom?hide=x"
    assert links(atom, "alternate") == ["https://news.example.org:8443/newest/"]


def test_without_an_address_entry_ids_are_stable_across_hosts_and_restarts(site_store, article, settings):
    settings.ALLOWED_HOSTS = ["*"]
    other = site_store.articles.post(1, "alice", "B", "https://example.org/b").id

    def names(host, path):
        root = ET.fromstring(Client().get(path, headers={"Host": host}).content)
        return [one.text for one in (*root.iter(f"{ATOM}id"), *root.iter("guid"))]

    before = [
        names("localhost:8000", f"/feeds/{path}") for path in ("newest.atom", "newest.atom?hide=x", "newest.rss")
    ]
    wiring.forget_repositories()
    after = [names("192.0.2.1", f"/feeds/{path}") for path in ("newest.atom", "newest.atom?hide=x", "newest.rss")]

    assert before == after
    (feed, *entries), (another_feed, *same), rss = before
    assert entries == same == rss
    assert len({feed, another_feed, *entries}) == 4
    assert all(re.fullmatch("urn:uuid:[0-9a-f-]{36}", name) for name in (feed, another_feed, *entries))
    assert other


def test_an_entry_has_the_time_of_its_last_edit(site_store, alice, clock):
    number = post_as(site_store, alice, "B", "https://example.org/b").id
    posted = ET.fromstring(Client().get("/feeds/newest.atom").content)
    clock.shift(60)
    site_store.articles.edit(number, actor(alice), "C", "https://example.org/c", moderator=False)

    atom, rss = (ET.fromstring(Client().get(f"/feeds/newest.{kind}").content) for kind in ("atom", "rss"))

    def moments(root):
        return [one.text for name in ("published", "updated") for one in root.iter(ATOM + name)]

    assert moments(posted) == ["2030-03-01T12:00:00.200000+00:00"] * 3
    assert moments(atom) == ["2030-03-01T12:00:00.200000+00:00", *["2030-03-01T12:01:00.200000+00:00"] * 2]
    assert rss.find("channel/lastBuildDate").text == "Fri, 01 Mar 2030 12:01:00 +0000"


def test_a_feed_declares_its_language_whatever_the_reader_prefers(site_store, read_article):
    for path in FEEDS[:3]:
        answers = [Client().get(path, headers={"Accept-Language": wish}) for wish in ("zh-CN", "en")]
        again = Client().get(path, headers={"Accept-Language": "zh-CN", "If-None-Match": answers[0]["ETag"]})

        assert [answer["Content-Language"] for answer in (*answers, again)] == ["en"] * 3, path
        assert again.status_code == 304, path
        assert answers[0].content == answers[1].content, path
        assert parsed(answers[0]).feed.language == "en", path


@pytest.mark.parametrize(
    ("path", "title", "page"),
    [
        ("front", "Front page – Article Voting", "/"),
        ("newest", "Newest – Article Voting", "/newest/"),
        ("hot", "Hot – Article Voting", "/hot/"),
        ("top/day", "Top of the day – Article Voting", "/top/?range=day"),
        ("top/week", "Top of the week – Article Voting", "/top/?range=week"),
        ("top/month", "Top of the month – Article Voting", "/top/?range=month"),
        ("top/all", "Top of all time – Article Voting", "/top/?range=all"),
        ("groups/python", "Python – Article Voting", "/groups/python/"),
        ("users/alice", "Posted by alice – Article Voting", "/users/alice/"),
    ],
)
@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_a_feed_names_its_list_its_page_and_itself(site_store, article, path, title, page, kind):
    feed = parsed(Client().get(f"/feeds/{path}.{kind}?min_points=1&x=y")).feed

    assert (feed.title, feed.link) == (title, f"http://testserver{page}")
    assert f"http://testserver/feeds/{path}.{kind}?min_points=1" in [link.href for link in feed.links]


@pytest.mark.parametrize("kind", ["atom", "rss", "json"])
@pytest.mark.hostile
def test_hostile_titles_survive(site_store, alice, shared_dir, kind):
    texts = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    texts += [
        "]]>", "<![CDATA[x]]>", "&amp; & <b>",
        "a\x00b\x1fc\ufffe\uffffd", "<!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
    ]  # fmt: skip
    titles = [text for text in texts if clean(text).strip()][:400]
    wanted = {}
    for n, title in enumerate(titles):
        found = post_as(site_store, alice, title, f"https://e.org/{n}?a=1&b=<>")
        wanted[found.id] = title

    entries = parsed(Client().get(f"/feeds/newest.{kind}")).entries

    assert len(entries) == len(titles)
    exact = exact_titles(Client().get(f"/feeds/newest.{kind}"), kind)
    for entry, title in zip(entries, exact, strict=True):
        assert title.split() == clean(wanted[number_of(entry)]).split()


def exact_titles(response, kind):
    if kind == "json":
        return [item["title"] for item in json.loads(response.content)["items"]]
    path = f".//{ATOM}entry/{ATOM}title" if kind == "atom" else ".//item/title"
    return [title.text for title in ET.fromstring(response.content).findall(path)]


@pytest.mark.parametrize("name", ["front", "newest", "top/day", "groups/python", "users/alice"])
def test_only_articles_with_enough_points(site_store, article, alice, bob, name):
    other = post_as(site_store, alice, "B", "https://example.org/b", ["python"]).id
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    site_store.votes.cast(other, bob.pk, Choice.OPPOSE)

    def feed(points):
        return ids_in(Client().get(f"/feeds/{name}.atom?min_points={points}"))

    assert sorted(feed(0)) == [article, other]
    assert feed(1) == feed(2) == [article]
    assert feed(3) == feed(1000000) == []


@pytest.mark.parametrize("value", ["", "-1", "1.0", "%EF%BC%91", "1000001", "9" * 5000])
@pytest.mark.parametrize("path", ["/feeds/front.atom"])
def test_an_invalid_number_of_points_is_400_with_the_reason(site_store, article, path, value):
    response = Client().get(f"{path}?min_points={value}")

    assert response.status_code == 400
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode() == "min_points must be a whole number from 0 to 1,000,000.\n"


@pytest.mark.parametrize(
    ("hidden", "told"),
    [
        (",".join(f"g{n}" for n in range(51)), "at most 50 groups"),
        ("x" * 9999, "at most 50 groups"),
        ("python,a b", "A group’s name can only contain"),
    ],
)
def test_too_many_or_invalid_hidden_groups_are_400(site_store, hidden, told):
    response = Client().get("/feeds/front.atom", {"hide": hidden})

    assert (response.status_code, told in response.content.decode()) == (400, True)


def test_feeds_exclude_hidden_groups(site_store, article, alice):
    other = post_as(site_store, alice, "B", "https://example.org/b", ["redis"]).id

    for name in ("front", "newest", "top/month", "users/alice"):
        assert ids_in(Client().get(f"/feeds/{name}.atom", {"hide": "Python,nowhere"})) == [other]
        assert ids_in(Client().get(f"/feeds/{name}.rss", {"hide": "redis,python"})) == []


@pytest.mark.parametrize(
    "path",
    [
        "/feeds/x.atom", "/feeds/top/year.atom", "/feeds/top.atom", "/feeds/front.xml", "/feeds/front",
        "/feeds/groups/nope.atom", "/feeds/users/nobody.rss", "/feeds/search.atom?q=title&group=nope",
        "/feeds/groups/a:b.atom", "/feeds/groups/.rss", "/feeds/groups/nope+python.atom",
        "/feeds/groups/+.atom",
        "/feeds/groups/" + "+".join(f"g{n}" for n in range(11)) + ".atom",
    ],
)  # fmt: skip
def test_a_list_without_a_feed_is_404_and_creates_no_key(site_store, article, path):
    before = count_keys(site_store)

    assert Client().get(path).status_code == 404
    assert count_keys(site_store) == before


@pytest.mark.parametrize(
    ("path", "status", "canonical"),
    [
        ("/feeds/groups/Python.atom?min_points=3&x=1", 301, "/feeds/groups/python.atom?min_points=3"),
        ("/feeds/groups/redis+Python+python.rss?hide=b,a", 301, "/feeds/groups/python+redis.rss?hide=a,b"),
        ("/feeds/users/ALICE.rss?hide=a", 302, "/feeds/users/alice.rss?hide=a"),
        ("/feeds/groups/snake.atom?min_points=1", 302, "/feeds/groups/python.atom?min_points=1"),
        ("/feeds/groups/redis+snake.atom", 302, "/feeds/groups/python+redis.atom"),
        ("/feeds/search.atom?q=a&group=snake&x=1", 302, "/feeds/search.atom?q=a&group=python"),
    ],
)
def test_other_spellings_and_merged_groups_lead_to_the_feed(site_store, article, carol, path, status, canonical):
    for slug in ("redis", "snake"):
        site_store.groups.create(slug, slug)
    site_store.groups.merge("snake", "python", actor(carol))

    response = Client().get(path)

    assert (response.status_code, response["Location"]) == (status, canonical)
    assert ("no-cache" in response.get("Cache-Control", "")) == (status == 302)


@pytest.mark.parametrize("path", ["/feeds/front.atom", "/feeds/users/alice.rss"])
def test_feeds_are_the_same_for_all_readers(site_store, article, bob, path):
    plain = Client().get(path)
    member = browser_of(bob)
    member.cookies["language"] = "zh-hans"
    theirs = member.get(path, headers={"Accept-Language": "zh-hans"})

    assert plain.content == theirs.content
    for response in (plain, theirs):
        assert not response.cookies
        assert response["Vary"] == "Accept-Encoding"
        assert response["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize(
    ("kind", "content_type"),
    [
        ("atom", "application/atom+xml; charset=utf-8"),
        ("rss", "application/rss+xml; charset=utf-8"),
        ("json", "application/feed+json"),
    ],
)
def test_a_feed_declares_its_type_to_head_requests_too(site_store, article, kind, content_type):
    whole, head = (getattr(Client(), method)(f"/feeds/front.{kind}") for method in ("get", "head"))

    assert whole["Content-Type"] == head["Content-Type"] == content_type
    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(whole.content)))
    assert head["ETag"] == whole["ETag"]
    assert Client().post(f"/feeds/front.{kind}").status_code == 405


@pytest.mark.parametrize("query", ["", "?min_points=1"])
def test_a_client_that_has_the_feed_gets_304_until_it_changes(site_store, article, bob, query):
    path = f"/feeds/front.atom{query}"
    tag = Client().get(path)["ETag"]

    for sent in (tag, tag.removeprefix("W/"), f'"x", {tag}', "*"):
        with failing(feeds, "written", AssertionError("it is written")):
            same = Client().get(path, headers={"If-None-Match": sent})
        assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
        assert same["Cache-Control"] == "public, max-age=300"
        assert same["Vary"] == "Accept-Encoding"

    site_store.votes.cast(article, bob.pk, Choice.VOTE)

    assert Client().get(path, headers={"If-None-Match": tag}).status_code == 200


def test_each_change_of_an_article_or_the_site_is_of_the_validator(site_store, article, bob, carol, settings):
    site_store.groups.create("redis", "Redis")
    moderator, link = actor(carol), "https://example.org/a"
    tags = [Client().get("/feeds/front.atom")["ETag"]]
    for change in (
        lambda: site_store.articles.edit(article, moderator, "B", link, moderator=True),
        lambda: site_store.articles.edit(article, moderator, "B", f"{link}/b", moderator=True),
        lambda: site_store.groups.assign(article, ["redis"]),
        lambda: site_store.votes.cast(article, bob.pk, Choice.VOTE),
        lambda: site_store.votes.cast(article, bob.pk, Choice.OPPOSE),
        lambda: setattr(settings, "SITE_NAME", "Another"),
    ):
        change()
        tags.append(Client().get("/feeds/front.atom")["ETag"])

    assert len(set(tags)) == 7
    assert Client().get("/feeds/front.rss")["ETag"] not in tags


@pytest.fixture
def dated_feeds(site_store, read_article, alice):
    """The address of a feed from every route to one, except the search, which takes a parameter."""
    comment_on(site_store, read_article, "A comment", alice.pk)
    browser = browser_of(alice)
    browser.post("/following/groups/python/", {"follow": "follow"})
    browser.post("/following/feed/", {"feed": "new"})
    alice.refresh_from_db()
    lists = ("front", "newest", "hot", "active", *(f"top/{period}" for period in ("day", "week", "month", "all")))
    lists += (
        "groups/python", "users/alice", "hosts/example.org", "comments", "users/alice/comments",
        f"articles/{read_article}/comments",
    )  # fmt: skip
    paths = [*(f"/feeds/{name}" for name in lists), *chain.from_iterable(extras.all_of("FEEDS"))]
    addresses = [f"{path}.{kind}" for path in paths for kind in ("atom", "rss", "json")]
    addresses += [f"/following/{alice.feed_token}.{kind}" for kind in ("atom", "rss", "json")]
    named = {resolve(address).url_name for address in addresses}
    assert named == {one.name for one in urlpatterns if "feed_kind" in str(one.pattern)} - {"search_feed"}
    return addresses


@pytest.mark.deep
def test_every_feed_has_a_date_from_its_first_answer_on_and_gets_304_by_it(clock, dated_feeds, kept):
    date, before = "Fri, 01 Mar 2030 12:00:00 GMT", "Fri, 01 Mar 2030 11:59:59 GMT"
    for path in dated_feeds:
        assert Client().get(path)["Last-Modified"] == date, path
    assert len(list(kept.glob("[!.]*"))) == len(dated_feeds) - 3, "all but the private one"

    for age in (0, 61):  # from the copies, and written again
        make_old(kept, age)
        for path in dated_feeds:
            known, older = (Client().get(path, headers={"If-Modified-Since": one}) for one in (date, before))
            assert (known.status_code, known["Last-Modified"]) == (304, date), path
            assert (older.status_code, older["Last-Modified"]) == (200, date), path
        clock.shift(timedelta(minutes=5))


def test_two_versions_of_a_feed_never_have_the_same_date(clock, site_store, article, bob):
    path, dates = "/feeds/newest.atom", list[str]()
    for choice in (Choice.VOTE, Choice.OPPOSE, Choice.VOTE, Choice.NONE):
        site_store.votes.cast(article, bob.pk, choice)
        changed = Client().get(path, headers={"If-Modified-Since": dates[-1]} if dates else {})
        assert changed.status_code == 200
        dates.append(changed["Last-Modified"])
    assert dates == [f"Fri, 01 Mar 2030 12:00:0{second} GMT" for second in range(4)]

    assert Client().get(path, headers={"If-Modified-Since": dates[-1]}).status_code == 304
    clock.shift(timedelta(minutes=5))
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    assert Client().get(path)["Last-Modified"] == "Fri, 01 Mar 2030 12:05:00 GMT"


@pytest.mark.parametrize("path", ["/feeds/newest.atom?min_points=1", "/feeds/search.atom?q=title"])
def test_feeds_with_parameters_have_no_date(site_store, article, path):
    assert "Last-Modified" not in Client().get(path)


def test_a_feed_has_no_date_if_the_cache_does_not_keep_it(site_store, article, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

    assert "Last-Modified" not in Client().get("/feeds/newest.atom")


@pytest.mark.parametrize(
    ("page", "feed"),
    [
        ("/", "/feeds/front"), ("/newest/", "/feeds/newest"), ("/hot/?range=24h", "/feeds/hot"),
        ("/top/", "/feeds/top/day"), ("/top/?range=month", "/feeds/top/month"),
        ("/groups/python/?order=points", "/feeds/groups/python"),
        ("/groups/python/?order=time", "/feeds/groups/python"),
        ("/groups/python+redis/", "/feeds/groups/python+redis"),
        ("/users/alice/", "/feeds/users/alice"),
    ],
)  # fmt: skip
def test_every_list_links_to_its_feeds_for_clients_and_readers(site_store, read_article, page, feed):
    site_store.groups.create("redis", "Redis")
    text = Client().get(page).content.decode()

    for kind, media in (("atom", "atom+xml"), ("rss", "rss+xml"), ("json", "feed+json")):
        address = re.escape(f"{feed}.{kind}")
        head = rf'<link rel="alternate" type="application/{re.escape(media)}" title="[^"]+" href="{address}">'
        assert re.search(head, text)
        assert f'<a href="{feed}.{kind}"' in text
        assert Client().get(f"{feed}.{kind}").status_code == 200


def test_feed_addresses_contain_the_readers_hidden_groups(site_store, article, bob):
    bob.hidden_groups = "redis,机器学习,python"
    bob.save()
    hidden = "redis%2C%E6%9C%BA%E5%99%A8%E5%AD%A6%E4%B9%A0"

    assert f"/feeds/newest.atom?hide={hidden}%2Cpython" in browser_of(bob).get("/newest/").content.decode()
    assert f'/feeds/groups/python.rss?hide={hidden}"' in browser_of(bob).get("/groups/python/").content.decode()
    assert ids_in(Client().get(f"/feeds/newest.atom?hide={hidden}%2Cpython")) == []


@pytest.mark.parametrize("kind", ["atom", "rss", "json"])
def test_a_search_has_a_feed(site_store, article, alice, bob, kind):
    site_store.groups.create("redis", "Redis")
    second = post_as(site_store, alice, "数据库 & title", "https://example.org/b", ["redis"]).id
    post_as(site_store, alice, "Other", "https://example.com/c")
    site_store.votes.cast(article, bob.pk, Choice.VOTE)

    def feed(**query):
        return Client().get(f"/feeds/search.{kind}", query)

    assert ids_in(feed(q="title")) == [second, article]
    assert ids_in(feed(q="title", min_points=2)) == [article]
    assert ids_in(feed(q="title", hide="python")) == [second]
    assert ids_in(feed(q="title", group="Redis")) == [second]
    assert ids_in(feed(q="nothing like it")) == []
    about = parsed(feed(q=" 数据库  & ", group="redis")).feed
    assert about.title == "Search for “数据库 &” – Article Voting"
    assert about.link.startswith("http://testserver/search/?q=")
    assert about.link.endswith("&order=time&group=redis")
    assert ids_in(Client().get(about.links[-1].href)) == [second]


def test_the_requested_group_is_not_hidden(site_store, article):
    for path in ("groups/python", "search"):
        asked = {"hide": "python", "q": "title", "group": "python"}
        assert ids_in(Client().get(f"/feeds/{path}.atom", asked)) == [article]


@pytest.mark.parametrize("q", ["", " ", "!?"])
def test_a_search_without_a_word_has_no_feed(site_store, article, q):
    response = Client().get("/feeds/search.atom", {"q": q})

    assert (response.status_code, response.content) == (400, b"q must contain a word to search for.\n")

"""Feeds: their entries as articles, and new ones held for the moderators."""

import re
import time
from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import HeldPost, ModeratorRule, User
from extras.moving_in.models import FollowedFeed
from extras.moving_in.sources import BadSource, feed
from extras.moving_in.staging import staged
from extras.moving_in.tests.files import BEGIN, T
from tests import zoo
from tests.factories import browser_of, member

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title><entry><id>tag:old.example,2013:1</id>
<title>Atom</title><link href="/a" /><updated>2013-05-01T16:00:00Z</updated><author><name>Bob</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><em>Hi</em></div></content></entry></feed>"""


def stage(tmp_path, body, **options):
    path = tmp_path / "feed.xml"
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    (tmp_path / "staging").unlink(missing_ok=True)
    with staged(tmp_path / "staging") as staging:
        feed.FORMAT.fill(str(path), staging, options, lambda _: None)
        return {
            name: [dict(row) for row in staging.rows(name)] for name in ("article", "article_tag", "member", "bad")
        }


def columns(found, *names):
    return [tuple(row[name] for name in names) for row in found]


def test_atom_is_read_as_well(tmp_path):
    found = stage(tmp_path, ATOM)

    assert columns(found["article"], "id", "title", "text", "author", "time") == [
        ("tag:old.example,2013:1", "Atom", "*Hi*", "Bob", T)
    ]


ENTITIES = "".join(f'<!ENTITY e{one} "{f"&e{one - 1};" * 20}">' for one in range(1, 9))


@pytest.mark.parametrize(
    "body",
    [
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "aaaaaaaaaa">{ENTITIES}]>{BEGIN[21:]}<item><title>&e8;',
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>{BEGIN[21:]}<item><title>&x;</title>',
        f"{BEGIN}<item><title>x</title><description><![CDATA[{'<div>' * 19_000}]]>",
        f"{BEGIN}<item><title>x{'<a>' * 49_000}",
        f"{BEGIN}<item><title>x</title><description>{'&lt;!--' * 100_000}",
        f"{BEGIN}{'<item><title>x</title></item>' * 12_000}",
        f"{BEGIN}<item><title>x</title><pubDate>{'9' * 10_000}</pubDate><link>http://[</link></item>",
        f"{BEGIN}<item><title>x{'<' * 60_000}",
        f"{BEGIN}<item><title " + 'a="b" ' * 30_000,
        BEGIN.encode("utf-16"),
        "<html><body>404</body></html>",
        "\0\x01",
        "",
    ],
)
def test_a_hostile_feed_is_read_in_bounds_or_refused_with_a_sentence(tmp_path, body):
    begun, found = time.process_time(), {"article": []}
    with suppress(BadSource):
        found = stage(tmp_path, body)
    assert all(len(row["title"]) < 100_000 and "root:" not in row["title"] for row in found["article"])
    assert time.process_time() - begun < 20


# Followed


def served(items, *headers, status="200 OK"):
    body = (
        BEGIN
        + "<title>x</title>"
        + "".join(
            f"<item><title>Entry {one}</title><link>https://blog.example/{one}</link><guid>{one}</guid></item>"
            for one in items
        )
    )
    return zoo.response(f"{body}</channel></rss>".encode(), *headers, status=status, kind="application/rss+xml")


@pytest.fixture
def blog():
    """A server of a feed: `says` is its next answer, `requests` what it was asked."""

    def serve(connection, _path):
        connection.sendall(made.says)

    made = zoo.Zoo({"blog.example": [[zoo.PUBLIC]]}, {(zoo.PUBLIC, 443): serve, (zoo.PUBLIC, 80): serve})
    made.says = served([1])
    return made


@pytest.fixture
def followed(db, blog):
    member = User.objects.create_user("planet", password="a long password")
    FollowedFeed.objects.create(address="http://blog.example/feed", member=member, group="news", known=[])
    return FollowedFeed.objects.get()


def later():
    FollowedFeed.objects.update(next_at=timezone.now() - timedelta(seconds=1))


def test_new_entries_wait_for_the_moderators_once_and_a_few_at_a_time(followed, blog):
    blog.says = served(range(9, 0, -1), 'ETag: "a"')

    counts = []
    for _ in range(4):
        counts.append(feed.hold_new(None, 9, blog.world()))
        later()

    assert counts == [5, 4, 0, 0]
    held = HeldPost.objects.order_by("pk")
    assert [one.title for one in held] == [f"Entry {one}" for one in range(1, 10)]
    assert {(one.author.username, one.groups, one.state, one.rule) for one in held} == {
        ("planet", "news", "waiting", None)
    }
    asked = [b'If-None-Match: "a"' in request for request in blog.requests]
    assert asked == [False, False, True, True]


def test_a_feed_is_left_alone_after_each_round_and_longer_after_errors(followed, blog):
    blog.says = served([1], status="500 Oh no")
    pauses = []
    for _ in range(6):
        assert feed.hold_new(None, 9, blog.world()) == 0
        assert feed.hold_new(None, 9, blog.world()) == 0
        pauses.append(round((FollowedFeed.objects.get().next_at - timezone.now()) / timedelta(hours=1)))
        later()

    assert pauses == [2, 4, 8, 16, 24, 24]
    assert len(blog.requests) == 6
    assert "the server answers 500" in str(FollowedFeed.objects.get())
    blog.says = zoo.response(b"", status="304 Not Modified")
    assert feed.hold_new(None, 9, blog.world()) == 0
    assert FollowedFeed.objects.get().problem == ""


def test_moderators_see_what_a_feed_brought_and_what_a_rule_holds(followed, blog, site_store):
    feed.hold_new(None, 9, blog.world())
    queue = browser_of(member("mod", moderator=True)).get("/moderation/queue/").content.decode()
    assert "From a followed feed" in queue
    assert "utomatic rule" not in re.sub("<nav.*?</nav>", "", queue, flags=re.DOTALL)
    rule = ModeratorRule.objects.create(name="A rule")
    HeldPost.objects.update(rule=rule)
    queue = browser_of(User.objects.get(username="mod")).get("/moderation/queue/").content.decode()
    assert "Automatic rule: A rule" in queue
    assert "feed" not in queue[queue.index('id="held"') : queue.index("Approved posts")]
    HeldPost.objects.update(author=User.objects.get(username="mod"))
    rule.delete()
    queue = browser_of(User.objects.get(username="mod")).get("/moderation/queue/").content.decode()
    assert "feed" not in queue[queue.index('id="held"') : queue.index("Approved posts")]


def test_entries_that_could_not_be_posted_are_skipped(followed, blog):
    items = ["<title> </title><link>https://a.example/1</link>", "<title>x</title><link>http://localhost/</link>",
             "<title>x</title><link>javascript:alert(1)</link>",
             "<title>Good</title><description>Text</description>"]  # fmt: skip
    blog.says = zoo.response((BEGIN + "".join(f"<item>{one}</item>" for one in items)).encode())

    assert feed.hold_new(None, 9, blog.world()) == 1
    assert HeldPost.objects.get().text == "Text"


def test_a_queue_that_nobody_reads_is_not_filled(followed, blog):
    for first in range(1, 60, 10):
        blog.says = served(range(first, first + 10))
        feed.hold_new(None, 9, blog.world())
        later()

    assert HeldPost.objects.count() == 20


def test_feeds_of_members_who_left_end(followed, blog):
    User.objects.update(left_at=timezone.now())

    assert feed.hold_new(None, 9, blog.world()) == 0
    assert not FollowedFeed.objects.exists()


def test_only_public_addresses_are_asked(followed, blog):
    blog.names["blog.example"] = [["10.0.0.1"]]
    assert feed.hold_new(None, 9, blog.world()) == 0
    assert blog.reached == []
    assert "not-public" in FollowedFeed.objects.get().problem

    blog.names["blog.example"] = [[zoo.PUBLIC]]
    blog.says = zoo.redirect("http://127.0.0.1/")
    later()
    assert feed.hold_new(None, 9, blog.world()) == 0
    assert "not-public" in FollowedFeed.objects.get().problem


def test_what_cannot_be_followed_is_refused(db):
    assert feed.FORMAT.instead("", {"followed": True}) == "No feed is followed."
    assert feed.FORMAT.instead("x.xml", {}) == ""
    for options in ({"unfollow": True}, {"follow": True, "member": "nobody"}):
        with pytest.raises(BadSource):
            feed.FORMAT.instead("http://blog.example/feed", options)

"""Feeds of comments as subscribers receive them, and the list of discussions that links to one."""

import re

import pytest
from django.test import Client

from tests.factories import actor, post_as
from tests.pages.feeds import parsed
from tests.store_state import set_clock


def write(site_store, article, member, text, parent=None):
    return site_store.comments.post(article, member.pk, member.username, text, parent=parent)


def titles(path):
    return [entry.title for entry in parsed(Client().get(path)).entries]


@pytest.mark.parametrize("kind", ["atom", "rss", "json"])
@pytest.mark.parametrize("path", ["comments", "articles/{}/comments", "users/bob/comments"])
def test_an_entry_has_the_text_the_author_and_the_address_of_a_comment(site_store, article, bob, path, kind):
    comment = write(site_store, article, bob, "I *agree* with @alice.")

    (entry,) = parsed(Client().get(f"/feeds/{path.format(article)}.{kind}")).entries

    assert (entry.title, entry.author) == ("bob on “A title”", "bob")
    assert entry.link == f"http://testserver/comments/{comment}/"
    text = entry.content[0].value if kind == "atom" else entry.summary
    assert '<p>I <em>agree</em> with <a href="http://testserver/users/alice/"' in text
    assert f'On <a href="http://testserver/articles/{article}/">A title</a>' in entry.summary
    assert re.fullmatch("urn:uuid:[0-9a-f-]{36}", entry.id)


def test_feeds_contain_only_what_readers_see_newest_first(site_store, article, alice, bob, carol):
    other = post_as(site_store, bob, "B", "https://example.org/b").id
    now = site_store.store.now()
    for number, (place, member) in enumerate([(article, alice), (other, bob), (article, bob), (other, alice)]):
        set_clock(site_store, now + number)
        write(site_store, place, member, f"Comment {number}")
    removed = write(site_store, article, bob, "Removed")
    site_store.comments.remove(removed, actor(carol), "Spam")
    deleted = write(site_store, article, bob, "Deleted")
    site_store.comments.delete(deleted, bob.pk)
    site_store.comments.lock(other, actor(carol), "Too heated")

    assert titles("/feeds/comments.atom") == [
        "alice on “B”", "bob on “A title”", "bob on “B”", "alice on “A title”",
    ]  # fmt: skip
    assert titles(f"/feeds/articles/{article}/comments.atom") == ["bob on “A title”", "alice on “A title”"]
    assert titles("/feeds/users/bob/comments.atom") == ["bob on “A title”", "bob on “B”"]

    site_store.articles.remove(other, actor(carol), "Spam")

    assert titles("/feeds/comments.atom") == ["bob on “A title”", "alice on “A title”"]
    assert titles("/feeds/users/bob/comments.atom") == ["bob on “A title”"]
    assert Client().get(f"/feeds/articles/{other}/comments.atom").status_code == 404
    assert Client().get("/feeds/users/nobody/comments.atom").status_code == 404
    assert Client().get("/feeds/users/BOB/comments.rss")["Location"] == "/feeds/users/bob/comments.rss"


def test_a_feed_changes_with_its_comments_and_is_otherwise_not_sent_again(site_store, article, bob):
    comment = write(site_store, article, bob, "First")
    first = Client().get("/feeds/comments.atom")
    assert (first["Cache-Control"], first["Content-Language"]) == ("public, max-age=300", "en")

    def again():
        return Client().get("/feeds/comments.atom?unknown=1", headers={"If-None-Match": first["ETag"]}).status_code

    assert again() == 304
    site_store.comments.edit(comment, bob.pk, "Second")
    assert again() == 200

"""The moderators' lists of removed articles and of removed comments."""

import re

from django.test import Client

from articles.domain.moderation_log import Actor
from articles.web import wiring
from tests.factories import browser_of, comment_on, post_as
from tests.pages.lists import text_of

PAGE = "/moderation/removed/"
COMMENTS = "/moderation/removed/comments/"


def test_moderators_see_what_is_removed_by_whom_and_why(site_store, article, alice, carol):
    withdrawn = post_as(site_store, alice, "Second thoughts", "https://e.org/withdrawn").id
    post_as(site_store, alice, "Listed", "https://e.org/listed")
    site_store.articles.remove(article, Actor(carol.pk, "carol"), "an advertisement")
    site_store.articles.edit(article, Actor(carol.pk, "carol"), "Milder", "https://example.org/a", moderator=True)
    site_store.articles.withdraw(withdrawn, Actor(alice.pk, "alice"))

    text = text_of(carol, PAGE)

    assert "Milder https://example.org/a Posted by alice" in text
    assert "Removed by carol just now Reason: an advertisement Restore" in text
    assert "Withdrawn by its poster just now Restore" in text
    assert "withdrawn by the poster" not in text
    assert "Listed" not in text
    assert f'href="/articles/{article}/restore/"' in browser_of(carol).get(PAGE).text
    site_store.articles.restore(article, Actor(carol.pk, "carol"), "a mistake")
    assert "Milder" not in text_of(carol, PAGE)


def test_moderators_see_removed_comments_and_restore_them(site_store, article, alice, carol):
    moderator = Actor(carol.pk, "carol")
    gone = post_as(site_store, alice, "Withdrawn later", "https://e.org/gone").id
    rude = comment_on(site_store, article, "A *rude* word https://e.org/x" + " zzz" * 100)
    below = comment_on(site_store, gone, "Below a removed article")
    for comment in (rude, below):
        site_store.comments.remove(comment, moderator, "insulting")
    site_store.articles.remove(gone, moderator, "spam")

    page = browser_of(carol).get(COMMENTS).text

    assert "A comment on “A title” A *rude* word https://e.org/x zzz" in text_of(carol, COMMENTS)
    assert "Written by bob . Removed by carol just now Reason: insulting Restore" in text_of(carol, COMMENTS)
    assert "A comment on the removed article “Withdrawn later”" in text_of(carol, COMMENTS)
    assert page.count(" zzz") < 70
    assert f'href="/comments/{rude}/restore/"' in page
    assert f'href="/comments/{below}/restore/"' not in page
    assert COMMENTS in browser_of(carol).get(PAGE).text
    browser_of(carol).post(f"/comments/{rude}/restore/", {"reason": "a mistake"})
    assert "rude" not in text_of(carol, COMMENTS)


def test_authors_alone_see_what_of_theirs_was_removed_and_why(site_store, article, alice, bob, carol):
    mine = post_as(site_store, alice, "My shop", "https://shop.example/", text="Buy **now**").id
    withdrawn = post_as(site_store, alice, "Second thoughts", "https://e.org/withdrawn").id
    comment = comment_on(site_store, article, "Buy *there*", alice.pk)
    site_store.articles.remove(mine, Actor(carol.pk, "carol"), "An advertisement")
    site_store.articles.withdraw(withdrawn, Actor(alice.pk, "alice"))
    site_store.comments.remove(comment, Actor(carol.pk, "carol"), "Another one")

    profile, comments = text_of(alice, "/users/alice/"), text_of(alice, "/users/alice/comments/")
    page, thread = text_of(alice, f"/articles/{mine}/"), text_of(alice, f"/articles/{article}/")

    assert "My shop https://shop.example/" in profile
    assert "Removed by carol just now Reason: An advertisement" in profile
    assert "Withdrawn by its poster just now" in profile
    assert "Removed by carol just now Reason: Another one" in comments
    assert ("Buy now" in profile, "Buy there" in comments, "Buy there" in thread) == (True, True, True)
    assert ("https://shop.example/" in page, "Buy now" in page) == (True, True)
    for reader in (bob, None):
        for path in ("/users/alice/", "/users/alice/comments/", f"/articles/{mine}/", f"/articles/{article}/"):
            others = browser_of(reader).get(path).text
            assert not re.search(r"shop\.example|Buy|Second thoughts", others), path


def test_what_was_removed_is_on_the_page_of_its_time(site_store, alice, carol, settings):
    settings.ARTICLES_PER_PAGE = 2
    wiring.forget_repositories()
    ids = [post_as(site_store, alice, f"Article {n}", f"https://e.org/{n}").id for n in range(3)]
    site_store.articles.remove(ids[0], Actor(carol.pk, "carol"), "Spam")
    removed = f'<h3><a href="/articles/{ids[0]}/'

    pages = [browser_of(alice).get(f"/users/alice/?page={n}").text for n in (1, 2)]

    assert [removed in page for page in pages] == [False, True]
    assert Client().get("/users/alice/?page=2").status_code == 404

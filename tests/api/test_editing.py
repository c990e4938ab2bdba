"""PATCH /api/articles/<id>, PUT /api/articles/<id>/removed, and their entries in the log."""

import pytest

from articles.domain.moderation_log import Actor
from tests.caller import error_of
from tests.cast import MODERATOR
from tests.factories import post_as
from tests.store_state import problems, set_clock

TITLE, LINK = "A better title", "https://example.org/better"


def edit(caller, article, **fields):
    return caller.patch(f"articles/{article}", fields)


def remove(caller, article, reason="It is spam.", *, removed=True):
    return caller.put(f"articles/{article}/removed", {"removed": removed, "reason": reason})


def test_a_poster_edits_title_and_link(as_alice, site_store, article):
    answer = edit(as_alice, article, title=TITLE, link=LINK)

    assert (answer.status_code, answer.json()["title"], answer.json()["link"]) == (200, TITLE, LINK)
    stored = site_store.articles.get(article)
    assert (stored.title, stored.link, stored.edited_at) == (TITLE, LINK, answer.json()["edited_at"])
    assert problems(site_store) == []


def test_fields_that_are_missing_or_null_are_unchanged(as_alice, article):
    assert edit(as_alice, article, title=TITLE).json()["link"] == "https://example.org/article"
    assert edit(as_alice, article, link=LINK, title=None).json()["title"] == TITLE


def test_a_moderator_edits_any_article_at_any_time_with_a_reason(as_carol, site_store, closed, removed):
    for article in (closed, removed):
        assert edit(as_carol, article, title=TITLE, reason="It misled.").json()["title"] == TITLE

    assert [entry.reason for entry in site_store.moderation_log.get_page(1).entries][:2] == ["It misled."] * 2


def test_a_poster_cannot_edit_after_the_editing_window(as_alice, site_store, article):
    now = site_store.store.now() + site_store.rules.edit_window + 1
    set_clock(site_store, now)

    assert error_of(edit(as_alice, article, title=TITLE)) == (409, "editing-closed")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "invalid"), ({"titel": TITLE}, "invalid"), ({"title": None, "link": None}, "invalid"),
        ({"title": 1}, "invalid"), ({"title": ""}, "title-empty"),
        ({"link": "javascript:alert(1)"}, "link-scheme"),
        ({"title": TITLE, "reason": "By a poster"}, "invalid"),
    ],
)  # fmt: skip
def test_an_invalid_edit_is_refused(as_alice, site_store, article, fields, code):
    assert error_of(edit(as_alice, article, **fields)) == (400, code)
    assert site_store.articles.get(article).title == "An article"


@pytest.mark.parametrize("removed", [True, False])
def test_repeating_a_removal_or_restoration_changes_nothing(as_carol, site_store, article, removed):
    if removed:
        site_store.articles.remove(article, Actor(4, "dave"), "Dave's reason")
    before = site_store.moderation_log.get_page(1)

    answer = remove(as_carol, article, removed=removed)

    assert answer.json()["removed"] == ("Dave's reason" if removed else None)
    assert site_store.moderation_log.get_page(1) == before


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"removed": True}, "invalid"),
        ({"removed": True, "reason": ""}, "reason-empty"),
        ({"removed": True, "reason": "x" * 501}, "reason-long"),
        ({"reason": "It is spam."}, "invalid"),
        ({"removed": "true", "reason": "It is spam."}, "invalid"),
        ({"removed": None, "reason": "It is spam."}, "invalid"),
    ],
)
def test_a_removal_without_a_reason_is_refused_with_an_explanation(as_carol, site_store, article, body, code):
    assert error_of(as_carol.put(f"articles/{article}/removed", body)) == (400, code)
    assert site_store.articles.get(article).removed is None


def test_a_text_is_added_changed_and_taken_away_unless_nothing_is_left(as_alice, article):
    added = edit(as_alice, article, text="A *text*").json()
    moved = edit(as_alice, article, link="").json()

    assert (added["text"], added["html"], added["title"]) == ("A *text*", "<p>A <em>text</em></p>\n", "An article")
    assert (moved["link"], moved["text"]) == (None, "A *text*")
    assert error_of(edit(as_alice, article, text="")) == (400, "article-empty")
    assert error_of(edit(as_alice, article, text="x" * 20_001)) == (400, "text-long")
    assert edit(as_alice, article, link="https://example.org/new", text="").json()["html"] is None


def test_the_log_is_public_and_paginated(anyone, as_carol, site_store, article, python):
    for number in range(site_store.rules.per_page):
        site_store.groups.assign(
            article, ["python"] if number % 2 == 0 else [], actor=MODERATOR, remove=["python"] * (number % 2)
        )
    site_store.groups.rename("python", "Snakes", Actor(5, "~"))

    first, second = (anyone.get(f"log?page={number}").json() for number in (1, 2))

    assert [page["has_next"] for page in (first, second)] == [True, False]
    assert len(first["entries"]) + len(second["entries"]) == site_store.rules.per_page + 1
    newest, oldest = first["entries"][0], second["entries"][0]
    assert (newest["action"], newest["actor"], newest["article_id"]) == ("rename-group", "", None)
    assert newest["details"] == {"slug": "python", "old_title": "Python"}
    assert (oldest["details"], oldest["title"]) == ({"added": "python"}, "An article")
    assert error_of(anyone.get("log?page=3")) == (404, "page-not-found")
    assert error_of(anyone.get("log?page=9999999999999")) == (404, "page-not-found")
    assert error_of(anyone.get("articles/99/log")) == (404, "article-not-found")


def test_a_moderator_changes_the_groups_of_an_own_article_with_a_reason(as_carol, site_store, carol, python):
    own = post_as(site_store, carol, "By a moderator", LINK).id

    assert edit(as_carol, own, groups=["python"], reason="It fits.").json()["groups"] == ["python"]
    (latest, *_) = site_store.moderation_log.get_page(1).entries
    assert (latest.details["added"], latest.reason) == ("python", "It fits.")
    set_clock(site_store, site_store.store.now() + site_store.rules.edit_window + 1)
    assert error_of(edit(as_carol, own, groups=[], reason="Too late.")) == (409, "editing-closed")

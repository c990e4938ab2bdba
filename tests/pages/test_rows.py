"""Rows of lists, which are kept in memory: each is a function of what it shows."""

from dataclasses import replace

import pytest
from django.utils import translation
from markupsafe import Markup, escape

from articles.domain.articles import Article, Choice
from articles.domain.members import DELETED_MEMBER
from articles.formatting.kept import OPEN, keeper
from articles.views.lists.rows import draw_rows, kept_row
from tests.factories import browser_of

ARTICLE = Article("A title", "https://example.org/a", 7, 1, "alice", 1_700_000_000.0, 5, 2, 0.0, 1_700_600_000.0)
NOW = ARTICLE.posted_at + 2 * 3600


def drawn(article, *, is_member=True, now=NOW, **more):
    return draw_rows([article], is_member=is_member, now=now, **more)


def made():
    """Return how many rows, and how many shapes of rows, were drawn."""
    return kept_row.cache_info().misses, keeper("lists/row.html").cache_info().misses


def test_an_equal_row_is_rendered_once():
    drawn(replace(ARTICLE, id=70))
    before = made()

    assert drawn(replace(ARTICLE, id=70)) == drawn(replace(ARTICLE, id=70), now=NOW + 60)
    assert made() == before


@pytest.mark.parametrize(
    ("changed", "more"),
    [
        ({}, {"now": NOW + 3600}), ({}, {"now": ARTICLE.closes_at + 1}), ({}, {"is_member": False}),
        ({}, {"first_rank": 3}), ({"choice": Choice.VOTE}, {}), ({"saved": True}, {}), ({"id": 8}, {}),
        ({"votes": 6}, {}), ({"opposes": 3}, {}), ({"title": "Another"}, {}), ({"link": ""}, {}),
        ({"link": "https://example.com/a"}, {}), ({"poster": DELETED_MEMBER}, {}),
        ({"poster_name": "bob"}, {}), ({"posted_at": ARTICLE.posted_at + 1}, {}),
        ({"groups": ("redis",)}, {}), ({"comments": 5}, {}),
        ({"hotness": 1.0}, {}), ({"removed": "spam"}, {}),
    ],
)  # fmt: skip
def test_what_differs_makes_another_row(changed, more):
    assert drawn(replace(ARTICLE, **changed), **more) != drawn(ARTICLE)


def test_the_last_comment_is_shown_only_in_lists_by_it():
    discussed = replace(ARTICLE, last_comment_at=NOW - 60)

    assert drawn(discussed) == drawn(ARTICLE)
    assert "1 minute ago" in drawn(discussed, shows_last_comments=True)
    assert "2 minutes ago" in drawn(discussed, shows_last_comments=True, now=NOW + 60)


def test_rows_of_the_same_parts_are_drawn_once():
    def show(text, group=""):
        return escape(text)

    for n in range(3):
        drawn(replace(ARTICLE, id=80 + n, title=f"Title {n}"))
        drawn(replace(ARTICLE, id=90 + n), show=show, first_rank=n)

    before = made()[1]
    assert drawn(replace(ARTICLE, id=71), show=show, first_rank=3) == drawn(replace(ARTICLE, id=71), first_rank=3)
    assert made()[1] == before


def test_a_row_is_kept_in_each_language():
    english = drawn(ARTICLE)
    with translation.override("zh-hans"):
        assert drawn(ARTICLE) != english


def test_the_words_of_a_search_are_marked_in_title_host_and_groups():
    title = 'A <b>"title"</b> ' + str(OPEN["group python"])
    article = replace(ARTICLE, title=title, groups=("python",))

    marked = drawn(article, show=lambda text, group="": Markup("<mark>{}</mark>").format(f"{text} {group}"))

    marks = [f"<mark>{escape(text)} {group}</mark>" for text, group in ((title, ""), ("python", "python"))]
    assert [marked.count(mark) for mark in (*marks, "<mark>example.org </mark>")] == [1, 1, 1]
    assert marked.count("<mark>") == 3
    unmarked = drawn(article, show=lambda text, group="": escape(text))
    assert unmarked == drawn(article)


def test_a_title_that_reads_like_the_hole_of_a_group_is_not_taken_for_it():
    article = replace(ARTICLE, title="group python", groups=("python",))

    assert drawn(article, show=lambda text, group="": escape(text)) == drawn(article)


def test_a_changed_template_shows_while_debugging(settings):
    settings.DEBUG = True
    before = made()

    assert drawn(replace(ARTICLE, id=71))
    assert made() == before


@pytest.mark.parametrize("is_member", [True, False], ids=["member", "reader"])
def test_a_page_shows_the_row_of_an_article(site_store, article, bob, is_member):
    reader = bob if is_member else None
    shown = site_store.articles.get(article, bob.pk if is_member else None)

    row = drawn(shown, is_member=is_member, now=shown.posted_at, first_rank=1)

    assert ('name="saved"' in row) is is_member
    assert row in browser_of(reader).get("/newest/").text
    assert "csrfmiddlewaretoken" not in row

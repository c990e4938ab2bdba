"""Rows of lists, which are kept in memory: each is a function of what it shows."""

import pytest
from django.utils import translation
from markupsafe import Markup, escape

from articles.domain.articles import Choice
from articles.views.lists import rows
from articles.views.lists.rows import Row, kept_row, row_of
from tests.factories import browser_of

ROW = Row(
    id=7,
    title="A title",
    link="https://example.org/a",
    has_text=False,
    by_deleted_member=False,
    poster_name="alice",
    posted_at=1_700_000_000.0,
    age="2 hours ago",
    votes=5,
    opposes=2,
    groups=("python",),
    pv=10,
    visitors=8,
    comments=4,
    last_comment=None,
    removed=None,
    is_open=True,
    choice=Choice.NONE,
    saved=False,
    is_member=True,
    rank=3,
)
OTHERS = {
    "id": 8,
    "title": "Another",
    "link": "",
    "has_text": True,
    "by_deleted_member": True,
    "poster_name": "bob",
    "posted_at": 1_700_000_001.0,
    "age": "3 hours ago",
    "votes": 6,
    "opposes": 3,
    "groups": ("redis",),
    "pv": 11,
    "visitors": None,
    "comments": 5,
    "last_comment": (1_700_000_002.0, "an hour ago"),
    "removed": "Off topic",
    "is_open": False,
    "choice": Choice.VOTE,
    "saved": True,
    "is_member": False,
    "rank": None,
}


def test_an_equal_row_is_rendered_once():
    kept_row(ROW._replace(id=70))
    before = rows._rendered.cache_info()

    assert kept_row(ROW._replace(id=70)) == kept_row(ROW._replace(id=70))
    assert rows._rendered.cache_info().misses == before.misses
    assert rows._rendered.cache_info().maxsize == rows.MOST_ROWS


@pytest.mark.parametrize("field", Row._fields)
def test_a_row_shows_each_of_its_values(field):
    assert kept_row(ROW) != kept_row(ROW._replace(**{field: OTHERS[field]}))


def test_a_row_is_kept_in_each_language():
    english = kept_row(ROW)
    with translation.override("zh-hans"):
        assert kept_row(ROW) != english


def test_the_words_of_a_search_are_marked_in_title_host_and_groups():
    title = 'A <b>"title"</b> <!--group python-->'
    row = ROW._replace(title=title, link="https://example.org/a")

    drawn = kept_row(row, lambda text, group=False: Markup("<mark>{}</mark>").format(f"{text} {group}"))

    marks = {text: f"<mark>{escape(text)} {group}</mark>" for text, group in ((title, False), ("python", True))}
    assert [drawn.count(mark) for mark in (*marks.values(), "<mark>example.org False</mark>")] == [1, 1, 1]
    assert drawn.count("<mark>") == 3
    unmarked = kept_row(row, lambda text, group=False: escape(text))
    assert unmarked == kept_row(row)


def test_a_title_that_reads_like_the_gap_of_a_group_is_not_taken_for_it():
    row = ROW._replace(title="group python")

    assert kept_row(row, lambda text, group=False: escape(text)) == kept_row(row)


def test_a_changed_template_shows_while_debugging(settings):
    settings.DEBUG = True
    before = rows._rendered.cache_info()

    assert kept_row(ROW._replace(id=71))
    assert rows._rendered.cache_info() == before


@pytest.mark.parametrize("is_member", [True, False], ids=["member", "reader"])
def test_a_page_shows_the_row_of_an_article(site_store, article, bob, is_member):
    reader = bob if is_member else None
    shown = site_store.articles.get(article, bob.pk if is_member else None)

    row = kept_row(row_of(shown, is_member=is_member, rank=1, now=site_store.store.now()))

    assert ('name="saved"' in row) is is_member
    assert row in browser_of(reader).get("/newest/").text
    assert "csrfmiddlewaretoken" not in row

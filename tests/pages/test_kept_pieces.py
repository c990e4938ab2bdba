"""Pieces of pages that are kept in memory: each is a function of the values that it is given."""

import re
import time
from dataclasses import dataclass

import pytest
import time_machine
from django.utils import translation
from jinja2 import UndefinedError
from markupsafe import Markup

from articles.domain.articles import Choice
from articles.formatting import kept_pieces
from articles.formatting.kept_pieces import gap, kept_page, kept_piece
from tests.factories import browser_of, post_as, view

FOOTER = {
    "is_staff": False,
    "sees_operation": False,
    "has_rules": False,
    "has_imprint": False,
    "theme": "",
    "keyboard": True,
    "back": "/",
}


def footer(**values):
    return kept_piece("footer.html", **FOOTER | values)


def test_an_equal_piece_is_rendered_once():
    first = footer(back="/equal/")
    before = kept_pieces._piece.cache_info()

    assert footer(back="/equal/") == first
    assert kept_pieces._piece.cache_info().misses == before.misses
    assert kept_pieces._piece.cache_info().maxsize == kept_pieces.MOST_PIECES


@pytest.mark.parametrize(
    "other",
    [
        {"is_staff": True},
        {"theme": "dark"},
        {"keyboard": False},
        {"back": "/hot/"},
        {"has_rules": True},
        {"token": "x"},
    ],
)
def test_every_value_makes_another_piece(other):
    assert footer(**other) != footer()


def test_each_language_has_its_own():
    with translation.override("zh-hans"):
        chinese = footer()

    assert chinese != footer()


def test_the_token_of_a_reader_is_in_no_kept_piece():
    first, second = (footer(token=Markup(f'<input value="{token}">')) for token in ("one", "two"))

    assert first.replace("one", "two") == second
    assert first.count('<input value="one">') == 2


def test_a_value_that_is_not_passed_is_an_error():
    with pytest.raises(UndefinedError):
        kept_piece("footer.html", theme="")


def test_a_piece_with_a_very_long_value_is_not_kept():
    before = kept_pieces._piece.cache_info()
    footer(back="/" + "x" * 600)

    assert kept_pieces._piece.cache_info() == before


def test_members_in_turn_get_their_own_name_and_token(site_store, alice, bob):
    browsers = {member.username: browser_of(member) for member in (alice, bob)}
    tokens = set()
    for name, browser in 3 * list(browsers.items()):
        page = browser.get("/").text
        of_page = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page))
        assert re.findall(r'class="me"><a href="/users/(\w+)/"', page) == [name]
        assert len(of_page) == 1
        tokens |= of_page
    assert len(tokens) == 6


@dataclass(frozen=True)
class Imprint:
    """An outline for a template that shows whether there is an imprint, with a gap for the theme."""

    has_imprint: bool = False
    is_kept: bool = True

    def context(self):
        return FOOTER | {"has_imprint": self.has_imprint, "back": gap("address"), "form_token": ""}


def test_the_gaps_of_a_kept_page_are_filled_for_each_reader_and_escaped():
    pages = {address: kept_page("footer.html", Imprint(), {"address": address}) for address in ("/a/", "/<b>/")}

    assert 'value="/a/#chosen-theme"' in pages["/a/"]
    assert 'value="/&lt;b&gt;/#chosen-theme"' in pages["/<b>/"]
    assert pages["/a/"].replace("/a/", "/&lt;b&gt;/") == pages["/<b>/"]


def test_an_equal_page_is_rendered_once_and_another_outline_makes_another_page():
    first = kept_page("footer.html", Imprint(), {"address": "/"})
    before = kept_pieces._page.cache_info()

    assert kept_page("footer.html", Imprint(), {"address": "/"}) == first
    assert kept_pieces._page.cache_info().misses == before.misses
    assert kept_page("footer.html", Imprint(has_imprint=True), {"address": "/"}) != first


def test_a_page_that_is_too_large_is_not_kept():
    before = kept_pieces._page.cache_info()

    assert kept_page("footer.html", Imprint(is_kept=False), {"address": "/"})
    assert kept_pieces._page.cache_info() == before


def test_the_page_of_an_article_with_a_long_text_is_not_kept(site_store, alice):
    before = kept_pieces._page.cache_info().currsize
    post_as(site_store, alice, "A long text", "", text="*word* " * 800)

    page = browser_of(alice).get("/articles/1/").text

    assert page.count("<em>word</em>") == 800
    assert kept_pieces._page.cache_info().currsize == before


def test_what_is_put_into_a_gap_is_not_searched_for_gaps():
    page = kept_page("footer.html", Imprint(), {"address": gap("form_token")})

    assert gap("form_token") in page


def test_a_gap_that_nothing_is_put_into_is_an_error():
    with pytest.raises(KeyError):
        kept_page("footer.html", Imprint(), {})


def test_a_gap_in_the_title_of_an_article_or_the_name_of_a_group_is_text(site_store, alice):
    text = "<!--gap form_token--> <!--gap rows-->"
    site_store.groups.create("python", text)
    post_as(site_store, alice, text, "https://example.org/", ["python"])

    page = browser_of(alice).get("/groups/python/").text

    assert page.count("&lt;!--gap form_token--&gt; &lt;!--gap rows--&gt;") >= 2
    assert "<!--gap" not in page


def test_the_page_of_an_article_is_kept_while_only_time_and_views_change(site_store, article, bob):
    browser = browser_of(bob)
    browser.get(f"/articles/{article}/")
    before = kept_pieces._page.cache_info().misses

    pages = []
    for minutes in (5, 90):
        with time_machine.travel(time.time() + 60 * minutes, tick=False):
            view(site_store, article, minutes)
            pages.append(browser.get(f"/articles/{article}/").text)

    assert kept_pieces._page.cache_info().misses == before
    assert "5 minutes ago" in pages[0]
    assert "1 hour ago" in pages[1]
    assert pages[0] != pages[1]


def test_members_in_turn_see_their_own_choice_on_the_page_of_an_article(site_store, article, alice, bob, carol):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    seen = []
    for _ in range(2):
        for member in (alice, bob, carol):
            page = browser_of(member).get(f"/articles/{article}/").text
            seen.append(re.search(r'data-none="">([^<]*)</p>', page)[1])
            assert re.findall(r'class="me"><a href="/users/(\w+)/"', page) == [member.username]
            assert (f"/articles/{article}/remove/" in page) is (member is carol)

    assert seen == 2 * ["You voted for it.", "You opposed it.", ""]


def _forget_pieces():
    for kept in (kept_pieces._page, kept_pieces._piece, kept_pieces._macro):
        kept.cache_clear()


def test_votes_and_choices_change_the_page_of_an_article_but_make_no_other_outline(
    site_store, article, bob, carol
):
    def page_of(member):
        page = browser_of(member).get(f"/articles/{article}/", headers={"Purpose": "prefetch"}).text
        return re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r"\1", page)

    def states():
        for choice, saved in ((Choice.VOTE, True), (Choice.OPPOSE, False), (Choice.NONE, True)):
            site_store.votes.cast(article, bob.pk, choice)
            site_store.members.save(bob.pk, article, wanted=saved)
            yield

    _forget_pieces()
    page_of(bob), page_of(carol)
    outlines = kept_pieces._page.cache_info().misses
    shown = [(page_of(bob), page_of(carol)) for _ in states()]
    assert kept_pieces._page.cache_info().misses == outlines

    anew = []
    for _ in states():
        for member in (bob, carol):
            _forget_pieces()
            anew.append(page_of(member))
    assert [page for both in shown for page in both] == anew
    assert len(set(anew)) == len(anew) == 6

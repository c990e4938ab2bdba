"""Drawings that are kept in memory: each is a function of its shape, with holes for what is the reader's own."""

import re
import time

import pytest
import time_machine
from django.utils import translation
from jinja2 import UndefinedError
from markupsafe import Markup, escape

from articles.domain.articles import Choice
from articles.formatting.kept import LONGEST_VALUE, MOST_KEPT, OPEN, keeper, piece
from tests.factories import browser_of, post_as, view

FOOTER = {
    "is_staff": False,
    "sees_operation": False,
    "has_rules": False,
    "has_imprint": False,
    "has_contact": False,
    "has_privacy": False,
    "is_closed": False,
    "theme": "",
    "keyboard": True,
}


HOLES = {"back": "/", "form_token": ""}


def footer(holes=HOLES, **values):
    return piece("footer.html", holes, **FOOTER | values)


def drawn(template="footer.html"):
    """Return how many drawings of a template were made, and how many are kept."""
    info = keeper(template).cache_info()
    return info.misses, info.currsize


ARTICLE = "articles/article.html"


def test_an_equal_piece_is_drawn_once():
    first = footer(theme="equal")
    before = drawn()

    assert footer(theme="equal") == first
    assert drawn() == before


def test_each_template_has_its_own_number_of_kept_drawings():
    assert {template: keeper(template).cache_info().maxsize for template in MOST_KEPT} == MOST_KEPT


@pytest.mark.parametrize(
    "other",
    [
        {"theme": "dark"}, {"keyboard": False}, {"has_rules": True},
        {"holes": HOLES | {"back": "/hot/"}}, {"holes": HOLES | {"form_token": "x"}},
    ],
)  # fmt: skip
def test_every_value_makes_another_piece(other):
    assert footer(**other) != footer()


def test_each_language_has_its_own():
    with translation.override("zh-hans"):
        chinese = footer()

    assert chinese != footer()


def test_the_token_of_a_reader_is_in_no_kept_piece():
    first, second = (
        footer(HOLES | {"form_token": Markup(f'<input value="{token}">')}) for token in ("one", "two")
    )

    assert first.replace("one", "two") == second
    assert first.count('<input value="one">') == 2


def test_a_value_that_is_not_passed_is_an_error():
    with pytest.raises(UndefinedError):
        piece("footer.html", HOLES, theme="")


def test_a_piece_with_a_very_long_value_is_not_kept():
    before = drawn()

    assert footer(theme="x" * (LONGEST_VALUE + 1))
    assert drawn() == before


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


def test_holes_are_filled_for_each_reader_and_escaped():
    pages = {address: str(footer(HOLES | {"back": address})) for address in ("/a/", "/<b>/")}

    assert 'value="/a/#chosen-theme"' in pages["/a/"]
    assert 'value="/&lt;b&gt;/#chosen-theme"' in pages["/<b>/"]
    assert pages["/a/"].replace("/a/", "/&lt;b&gt;/") == pages["/<b>/"]


def test_what_is_put_into_a_hole_is_not_searched_for_holes():
    assert OPEN["form_token"] in footer(HOLES | {"back": OPEN["form_token"]})


def test_a_hole_that_nothing_is_put_into_is_an_error():
    with pytest.raises(KeyError):
        footer({"form_token": ""})


def test_a_hole_in_the_title_of_an_article_or_the_name_of_a_group_is_text(site_store, alice):
    text = f"{OPEN['form_token']} {OPEN['rows']}"
    site_store.groups.create("python", text)
    post_as(site_store, alice, text, "https://example.org/", ["python"])

    page = browser_of(alice).get("/groups/python/").text

    assert page.count(escape(str(text))) >= 2
    assert text not in page


def test_the_page_of_an_article_is_kept_while_only_time_and_views_change(site_store, article, bob):
    browser = browser_of(bob)
    browser.get(f"/articles/{article}/")
    before = drawn(ARTICLE)[0]

    pages = []
    for minutes in (5, 90):
        with time_machine.travel(time.time() + 60 * minutes, tick=False):
            view(site_store, article, minutes)
            pages.append(browser.get(f"/articles/{article}/").text)

    assert drawn(ARTICLE)[0] == before
    assert "5 minutes ago" in pages[0]
    assert "1 hour ago" in pages[1]
    assert pages[0] != pages[1]


def test_members_in_turn_see_their_own_choice_on_the_page_of_an_article(site_store, article, alice, bob, carol):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    seen = []
    for _ in range(2):
        for member in (alice, bob, carol):
            page = browser_of(member).get(f"/articles/{article}/").text
            votes = re.search(r'<div class="votes" data-votes-of="\d+".*?data-choice="(\w+)"', page)
            seen.append(votes[1])
            assert re.findall(r'class="me"><a href="/users/(\w+)/"', page) == [member.username]
            assert (f"/articles/{article}/remove/" in page) is (member is carol)

    assert seen == 2 * ["vote", "oppose", "none"]


def _forget():
    for template in (ARTICLE, "articles/buttons.html", "articles/saving.html", "header.html", "footer.html"):
        keeper(template).cache_clear()


def test_votes_and_choices_change_the_page_of_an_article_but_draw_nothing_else(site_store, article, bob, carol):
    def page_of(member):
        page = browser_of(member).get(f"/articles/{article}/", headers={"Purpose": "prefetch"}).text
        return re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r"\1", page)

    def states():
        for choice, saved in ((Choice.VOTE, True), (Choice.OPPOSE, False), (Choice.NONE, True)):
            site_store.votes.cast(article, bob.pk, choice)
            site_store.members.save(bob.pk, article, wanted=saved)
            yield

    _forget()
    page_of(bob), page_of(carol)
    drawings = drawn(ARTICLE)[0]
    shown = [(page_of(bob), page_of(carol)) for _ in states()]
    assert drawn(ARTICLE)[0] == drawings

    anew = []
    for _ in states():
        for member in (bob, carol):
            _forget()
            anew.append(page_of(member))
    assert [page for both in shown for page in both] == anew
    assert len(set(anew)) == len(anew) == 6

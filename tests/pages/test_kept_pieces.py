"""Pieces of pages that are kept in memory: each is a function of the values that it is given."""

import re

import pytest
from django.utils import translation
from jinja2 import UndefinedError
from markupsafe import Markup

from tests.factories import browser_of
from voting_site import kept_pieces
from voting_site.kept_pieces import kept_piece

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
    before = kept_pieces._rendered.cache_info()

    assert footer(back="/equal/") == first
    assert kept_pieces._rendered.cache_info().misses == before.misses
    assert kept_pieces._rendered.cache_info().maxsize == kept_pieces.MOST_PIECES


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
    before = kept_pieces._rendered.cache_info()
    footer(back="/" + "x" * 600)

    assert kept_pieces._rendered.cache_info() == before


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

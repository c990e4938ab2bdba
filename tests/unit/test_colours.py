"""Accent colours, and whether they can be read."""

import re

import pytest
from hypothesis import given, strategies as st

from articles.configuration import colours

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@given(COLOURS)
def test_of_each_colour_the_nearest_that_can_be_read_is_accepted_and_every_theme_can_be_read(colour):
    near = colours.nearest(colour)

    assert colours.parse(near) == near
    light, dark, strong, strong_dark = re.findall("#[0-9a-f]{6}", colours.style_sheet(near))
    assert light == near
    assert colours.contrast(light, "#f1f2ee") >= 4.5
    assert colours.contrast(light, "#ffffff") >= 4.5  # text on a button
    assert colours.contrast(dark, "#1e2327") >= 4.5
    assert colours.contrast(dark, "#0d1513") >= 4.5
    assert colours.contrast(strong, "#ffffff") >= 7
    assert colours.contrast(strong_dark, "#000000") >= 7


@pytest.mark.parametrize("text", ["#0C6653", "#8a1f5c", "#000000"])
def test_a_colour_that_can_be_read_stays_as_it_is(text):
    assert colours.parse(text) == colours.nearest(text) == text.lower()


@pytest.mark.parametrize(
    "text", ["", "red", "#fff", "#ffffff", "#f0c040", "0c6653", "#0c6653;", "#0c665३", "#0c6653\n", "url(#0c6653)"]
)
def test_another_text_is_no_accent(text):
    with pytest.raises(ValueError):  # noqa: PT011 - it has no text
        colours.parse(text)


def test_contrasts_are_those_of_wcag():
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colours.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)

"""Contrast in both themes, as in WCAG: 4.5 to 1 for text, and 3 to 1 for the edges of controls."""

import re

import pytest
from django.conf import settings

CSS = settings.BASE_DIR / "static" / "css"
ROOTS = (CSS / "frame" / "tokens.css").read_text().split("@media (prefers-contrast: more)")
PAIR = re.compile(r"--([\w-]+): light-dark\(#(\w+), #(\w+)\);")
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(", re.IGNORECASE)
TEXTS = ["ink", "soft", "visited", "accent", "oppose", "good", "bad", "plum"]


def colours(text, theme):
    return {name: (light, dark)[theme == "dark"] for name, light, dark in PAIR.findall(text)}


def luminance(colour):
    whole = "".join(digit * 2 for digit in colour) if len(colour) == 3 else colour
    parts = [int(whole[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(params=["light", "dark"])
def palette(request):
    return colours(ROOTS[0], request.param)


@pytest.fixture(params=["light", "dark"])
def strong_palette(request):
    return colours(ROOTS[0], request.param) | colours(ROOTS[1], request.param)


def test_contrast_is_measured_as_in_wcag():
    assert contrast("000", "fff") == pytest.approx(21)
    assert contrast("767676", "fff") == pytest.approx(4.54, abs=0.01)


def test_all_text_is_readable_in_both_themes(palette):
    for name in TEXTS:
        for ground in ("paper", "raised"):
            assert contrast(palette[name], palette[ground]) >= 4.5, (name, ground)
    assert contrast(palette["on-accent"], palette["accent"]) >= 4.5
    assert contrast(palette["ink"], palette["mark"]) >= 4.5


def test_edges_of_fields_and_buttons_are_visible(palette):
    assert contrast(palette["edge"], palette["paper"]) >= 3
    assert contrast(palette["edge"], palette["raised"]) >= 3


def test_readers_who_prefer_more_contrast_get_seven_to_one(strong_palette):
    for name in ("ink", "soft", "visited", "accent", "oppose", "bad"):
        assert contrast(strong_palette[name], strong_palette["paper"]) >= 7, name


def test_colours_appear_only_in_the_tokens_and_print_styles():
    named = [path.name for path in CSS.rglob("*.css") if COLOUR.search(path.read_text())]

    assert sorted(named) == ["print.css", "tokens.css"]


def test_every_custom_property_in_use_is_defined():
    texts = "".join(path.read_text() for path in CSS.rglob("*.css"))
    defined = set(re.findall(r"(--[\w-]+):", texts))

    assert set(re.findall(r"var\((--[\w-]+)", texts)) - defined == set()

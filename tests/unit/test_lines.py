"""Titles, reasons and group titles: displayed as written, with nothing invisible."""

import json
import os
import pickle
import unicodedata
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from articles.text.characters import MARKS_LIMIT, has_stacked_marks, is_unseen
from articles.text.lines import (
    GROUP_TITLE_LIMIT,
    REASON_LIMIT,
    TEXT_LIMIT,
    TITLE_LIMIT,
    InvalidInput,
    clean_comment,
    clean_group_title,
    clean_reason,
    clean_text,
    clean_title,
)
from articles.text.messages import INPUT
from tests.work import work_in

CASES = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[3] / "shared") / "cases"
VISIBLE_FORMATS = dict.fromkeys(map(ord, "\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\U000110bd"))
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared test cases are not here")

ZERO_WIDTH = "\u200b\u2060\ufeff\u00ad\u180e\u034f\u3164\u115f"
BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
FAMILY = "👨\u200d👩\u200d👧\u200d👦"

# Characters whose treatment depends on their neighbours, drawn together more often than at random.
DELICATE = (
    "ae \n\x00\x1f\u200b\u200c\u200d\u202e\ufe0f\ufe0e\u0301\u0316\u0338\u2800\u1160\ue000\U000e0041"
    "↔👩🏽❤می\u094dकष가\U0001d15e"
)
lines = st.one_of(
    st.text(st.characters()),
    st.text(DELICATE),
    st.builds(str.__mul__, st.text(DELICATE, max_size=40), st.integers(1, 40)),
)


def refusal(clean, raw):
    """Return the code with which the text is refused; fail if it is accepted."""
    with pytest.raises(InvalidInput) as refused:
        clean(raw)
    assert refused.value.message
    return refused.value.code


@settings(max_examples=200)
@given(lines)
def test_every_line_is_either_clean_or_refused(raw):
    try:
        line = clean_title(raw)
    except InvalidInput:
        return
    assert 1 <= len(line) <= TITLE_LIMIT
    assert unicodedata.is_normalized("NFC", line)
    assert not has_stacked_marks(line)
    assert line == " ".join(line.split())
    assert not any(is_unseen(char) for char in line if char not in "\u200c\u200d")
    assert clean_title(line) == line


@given(st.text("abc XYZ 123 <>&'\"{}%中文éü", min_size=1, max_size=TITLE_LIMIT))
def test_ordinary_text_keeps_every_visible_character(raw):
    words = raw.split()
    if words:
        assert clean_title(raw) == " ".join(words)


@pytest.mark.parametrize(
    "title",
    [
        "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "{% load %}",
        "]]> & &amp;", "*3\\r\\n$3\\r\\nSET", "Café, naïve, 中文標題，한국어, עִבְרִית, ภาษาไทยที่นี่",
    ],
)  # fmt: skip
def test_markup_and_all_scripts_are_unchanged(title):
    assert clean_title(title) == unicodedata.normalize("NFC", title)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("  two   words \t", "two words"), ("line\r\nbreak", "line break"), ("line\u2028break", "line break"),
        ("a\u3000b\u00a0c", "a b c"), ("a\x1fb\x85c", "a b c"), ("*1\r\n$4\r\nPING", "*1 $4 PING"),
        ("nul\x00and\x07bell", "nulandbell"), ("\x1b[31mred", "[31mred"),
        ("evil\u202egpj.exe", "evilgpj.exe"), ("e\u200b\u0301", "é"), ("e\u0301", "é"),
        ("un\u00adloved", "unloved"), ("\u0301accent first", "accent first"),
        ("dots\u2800between", "dots between"), ("tag\U000e0041\U000e0042", "tag"),
        ("private\ue000 and\U000fffff none\uffff", "private and none"),
    ],
)  # fmt: skip
def test_invisible_characters_are_removed(raw, line):
    assert clean_title(raw) == line


@pytest.mark.parametrize("char", ZERO_WIDTH + BIDI_CONTROLS)
def test_zero_width_and_direction_controls_leave_no_trace(char):
    assert clean_title(f"{char}a{char}{char}b{char}") == "ab"


@pytest.mark.parametrize(
    "title",
    [
        FAMILY,
        "👩🏽\u200d🚀 in space", "🏴\u200d☠\ufe0f", "🙂\u200d↔\ufe0f", "I ❤\ufe0f Redis",
        "1\ufe0f\u20e3 first", "می\u200cشود", "ශ\u0dca\u200dර\u0dd3", "র\u200d\u09cdয", "လျှော့",
        "葛\U000e0100飾", "\U0001fae8 newer than the tables", "\U000323b0 as well",
    ],
)  # fmt: skip
def test_joiners_and_selectors_that_emoji_and_scripts_need_are_kept(title):
    assert clean_title(title) == title


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("\u200da\u200d", "a"), ("pay\u200dpal", "paypal"), ("a\u200cb", "ab"),
        ("می\u200c\u200c\u200cشود", "می\u200cشود"), ("می\u200c شود", "می شود"), ("👩\u200d", "👩"),
        ("👩\u200c👧", "👩👧"), ("👩\u200d\u200d👧", "👩\u200d👧"), ("❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f"),
    ],
)  # fmt: skip
def test_joiners_and_selectors_that_join_nothing_are_removed(raw, line):
    assert clean_title(raw) == line


@pytest.mark.parametrize(
    "raw",
    ["", "   ", "\r\n", "\x00", "\u200b\u200d\ufeff", "\u3164", "\u2800", "\u0301\u0302", "\u202e", "\ue000"],
)
def test_a_title_without_visible_characters_is_empty(raw):
    assert refusal(clean_title, raw) == "title-empty"


def test_a_lone_surrogate_from_json_is_refused():
    assert refusal(clean_title, json.loads(r'"broken \ud83d emoji"')) == "title-encoding"


def test_surrounding_white_space_does_not_count_towards_the_length():
    assert clean_title(" " * 500 + "x" * TITLE_LIMIT) == "x" * TITLE_LIMIT


def test_eighty_thousand_combining_marks_are_refused_unread(monkeypatch):
    monkeypatch.setattr("articles.text.characters.visible", lambda text, **_most: pytest.fail("it was read"))

    assert refusal(clean_title, "a" + "\u0301\u0316" * 40_000) == "title-long"


@pytest.mark.parametrize("marks", ["\u0316" * 5, "\u0301\u0316" * 500, "\u064e\u200d" * 20 + "\u064e"])
def test_many_marks_on_one_letter_are_refused(marks):
    assert refusal(clean_title, f"ب{marks}") == "title-marks"


def test_four_marks_on_each_letter_are_accepted():
    title = ("b" + "\u0316" * MARKS_LIMIT) * 3

    assert clean_title(title) == title


@pytest.mark.parametrize(
    ("clean", "limit", "field"),
    [
        (clean_title, TITLE_LIMIT, "title"),
        (clean_reason, REASON_LIMIT, "reason"),
        (clean_group_title, GROUP_TITLE_LIMIT, "group-title"),
    ],
)
def test_every_field_has_its_own_limit_and_codes(clean, limit, field):
    assert clean("x" * limit) == "x" * limit
    assert refusal(clean, "x" * (limit + 1)) == f"{field}-long"
    assert clean("😀" * limit) == "😀" * limit
    assert refusal(clean, " ") == f"{field}-empty"
    assert refusal(clean, "\udfff") == f"{field}-encoding"
    assert refusal(clean, "b" + "\u0316" * (MARKS_LIMIT + 1)) == f"{field}-marks"


@pytest.mark.parametrize("code", INPUT)
def test_every_refusal_has_a_message(code):
    message = InvalidInput(code, limit=300, length=301, host="example.org", reason="spam").message

    assert message.endswith(".")
    assert "%" not in message


def test_a_refusal_can_be_pickled():
    refused = pickle.loads(pickle.dumps(InvalidInput("title-long", limit=300, length=301)))

    assert (refused.code, refused.params) == ("title-long", {"limit": 300, "length": 301})


@needs_cases
def test_naughty_strings_are_clean_or_refused_as_titles():
    refusals = Counter()
    for raw in json.loads((CASES / "naughty_strings.json").read_text(encoding="utf-8")):
        try:
            title = clean_title(raw)
        except InvalidInput as refused:
            refusals[refused.code] += 1
        else:
            assert clean_title(title) == title
            assert title.translate(VISIBLE_FORMATS).isprintable(), ascii(raw)
    assert refusals == {"title-empty": 7, "title-marks": 6}


@needs_cases
def test_script_injections_are_treated_as_plain_text():
    for raw in (CASES / "xss_300.txt").read_text(encoding="utf-8").splitlines():
        if visible := " ".join(raw.split()):
            assert clean_title(raw) == visible


@settings(max_examples=200)
@given(lines)
def test_every_text_is_either_clean_or_refused(raw):
    with suppress(InvalidInput):
        text = clean_text(raw)
        assert clean_text(text) == text
        assert unicodedata.is_normalized("NFC", text)
        assert not any(is_unseen(char) for char in text.translate(VISIBLE_FORMATS))


def test_a_text_keeps_its_lines_and_indents_but_nothing_invisible():
    raw = " \r\n    code\u200b\r\n\tb \u202ec\x1fd\x00\r\r\u2028e \n\n"

    assert clean_text(raw) == "    code\n\tb c d\n\n\ne"
    assert clean_text(" \n\u200b ") == ""


def test_a_text_keeps_the_spaces_of_every_script_as_they_were_typed():
    text = "\u3000\u3000段落\n\u00a0\u2003a\u202f\u205f\u1680b\u2800\u28ff"

    assert clean_text(f"\u3000\n\u2800\n{text}\u3000\u2800\u00a0") == text
    assert clean_title(text) == "段落 a b \u28ff"
    assert refusal(clean_comment, "\u3000\n\u2800\u00a0") == "comment-empty"


def test_a_comment_is_a_text_that_is_not_empty():
    assert clean_comment("\n a\u200b\n") == clean_text("\n a\u200b\n") == " a"
    assert refusal(clean_comment, " \n\u200b ") == "comment-empty"
    assert refusal(clean_comment, "x" * 20_001) == "comment-long"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("x" * 20_001, "text-long"), ("x" * 80_001, "text-long"), ("\ud800", "text-encoding"),
        ("e" + "\u0301\u0316" * 3, "text-marks"), ("e" + "\u0301\u0316" * 9_000, "text-marks"),
        ("e" + ("\u0301\u0316" * 15 + "\u034f") * 600, "text-marks"),
        ("\u0958" * 15_000, "text-long"),
    ],
)  # fmt: skip
def test_a_text_too_long_or_broken_is_refused(raw, code):
    assert refusal(clean_text, raw) == code


@pytest.mark.parametrize(
    "unit",
    [
        "\u180b\u200d",
        "\u0301" * 29 + "\u034f",
        "e\u0301" * 14 + "\u0316",
        "\u30dd\u0301",
        " \u0301\u200d",
        "👩\u200d\u200c",
    ],
)
def test_cleaning_takes_work_in_proportion_to_the_length(unit):
    def clean() -> None:
        with suppress(InvalidInput):
            clean_text(("☀\ufe0e" + unit * TEXT_LIMIT)[:TEXT_LIMIT])

    assert work_in(clean) < TEXT_LIMIT

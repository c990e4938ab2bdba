"""Names of groups: safe in an address and in a Redis key, and the same for all spellings."""

import json
import os
import unicodedata
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given, settings, strategies as st

from articles.text.lines import InvalidInput
from articles.text.slugs import SLUG_LIMIT, clean_slug, slug_from_title
from tests.store_state import RANKING_KEY

SHARED = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[3] / "shared")
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared test cases and data are not here")

# Characters with a meaning in Redis keys and patterns, lists of groups, addresses or pages.
FORBIDDEN = set(":{}*?[]/\\,.+#%&=;\"'<>@ \t\r\n\x00")

ODD = "abZ09-_+#:{}*?[]/\\,. \n\x00ßİſ\u0345\u0301\u0316\u094d\ufe0f\u200d\u200b\u1160ΣςᏍ①ａ２中क가ﷺ٣Ⅷ😀♯"
raws = st.one_of(st.text(st.characters()), st.text(ODD), st.text(ODD, max_size=4), st.text("abc+#", max_size=9))


def refusal(raw):
    """Return the code with which the name is refused; fail if it is accepted."""
    with pytest.raises(InvalidInput) as refused:
        clean_slug(raw)
    return refused.value.code


def assert_slug(slug):
    assert 1 <= len(slug) <= SLUG_LIMIT
    assert not FORBIDDEN & set(slug)
    assert slug[0].isalnum()
    assert slug[-1] not in "-_"
    assert {unicodedata.category(char)[0] for char in slug if char not in "-_"} <= {"L", "M", "N"}
    assert slug == unicodedata.normalize("NFKC", slug.casefold())
    assert clean_slug(slug) == slug
    assert unquote(quote(slug)) == slug


@settings(max_examples=200)
@given(raws)
@example("c#\u0301")
def test_every_name_is_either_safe_or_refused(raw):
    try:
        slug = clean_slug(raw)
    except InvalidInput:
        return
    assert_slug(slug)


@settings(max_examples=200)
@given(raws)
def test_the_name_proposed_for_a_title_is_valid_or_empty(title):
    slug = slug_from_title(title)

    if slug:
        assert_slug(slug)


@pytest.mark.parametrize(
    ("raw", "slug"),
    [
        ("python", "python"), (" Python\n", "python"), ("ＰＹＴＨＯＮ", "python"), ("c", "c"), ("9", "9"),
        ("web_design", "web_design"), ("front-end", "front-end"), ("Straße", "strasse"), ("数据库", "数据库"),
        ("हिन्दी", "हिन्दी"), ("cafe\u0301", "café"), ("x" * SLUG_LIMIT, "x" * SLUG_LIMIT),
    ],
)  # fmt: skip
def test_letters_and_digits_of_every_script_are_valid_in_a_name(raw, slug):
    assert clean_slug(raw) == slug


@pytest.mark.parametrize(
    ("raw", "slug"),
    [
        ("c++", "cpp"), ("C++", "cpp"), ("c＋＋", "cpp"), ("c++11", "cpp11"), ("notepad++", "notepadpp"),
        ("c#", "csharp"), ("F#", "fsharp"), ("c♯", "csharp"),
    ],
)  # fmt: skip
def test_the_signs_of_languages_are_spelled_out(raw, slug):
    assert clean_slug(raw) == slug


@pytest.mark.parametrize(
    "raw",
    [
        "", " ", "a:b", RANKING_KEY,
        "{x}", "{s0}", "*", "a*", "a?", "[a]", "..", ".", "../a", "a/b", "a\\b", "a,b", "a b", "a\nb",
        "a\x00b", "a\u200bb", "a\u202eb", "a\ufe0f", "\u3164", "가\u1160", "\u0301", "a-\u0301", "😀",
        "python😀", "℀", "a：b", "-a", "a-", "_a", "a_", "a--b", "a-_b", "+", "++", "a+b", "python+redis",
        "c+", "c+++", "c++++", "#python", "c#d", "c##", "9#", "node.js", "%00", "<b>", "\ud800",
        "b" + "\u0316" * 5,
    ],
)  # fmt: skip
def test_characters_that_could_break_a_key_or_an_address_are_refused(raw):
    assert refusal(raw) == "slug-form"


def test_a_name_that_grows_too_long_by_folding_is_refused():
    assert refusal("ß" * SLUG_LIMIT) == "slug-long"


def test_eighty_thousand_combining_marks_are_refused_unread(monkeypatch):
    with monkeypatch.context() as watched:
        watched.setattr(unicodedata, "normalize", lambda *_: pytest.fail("it was read"))

        assert refusal("a" + "\u0301\u0316" * 40_000) == "slug-long"


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Machine Learning", "machine-learning"), ("C++", "cpp"), ("C# & F#", "csharp-fsharp"),
        ("Node.js", "node-js"), (".NET", "net"), ("R&D", "r-d"), ("Don't panic", "dont-panic"),
        ("Don’t panic", "dont-panic"), ("a - b", "a-b"), ("snake_case", "snake-case"),
        ("机器学习", "机器学习"), ("हिन्दी समाचार", "हिन्दी-समाचार"),
        ("Everything a reader of this site could want", "everything-a-reader-of-this"),
        ("x" * 60, "x" * SLUG_LIMIT), ("!!!", ""), ("😀", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_title_proposes_a_name_of_whole_words(title, slug):
    assert slug_from_title(title) == slug


def test_a_huge_title_proposes_a_name_from_its_beginning():
    assert slug_from_title("go " + "\u0301" * 1_000_000) == "go"


@needs_shared
def test_naughty_strings_are_safe_or_refused_as_names():
    for raw in json.loads((SHARED / "cases" / "naughty_strings.json").read_text(encoding="utf-8")):
        if proposal := slug_from_title(raw):
            assert_slug(proposal)
        try:
            slug = clean_slug(raw)
        except InvalidInput:
            continue
        assert_slug(slug)


@needs_shared
def test_every_real_group_has_a_valid_name():
    groups = set()
    with (SHARED / "data" / "articles_2000.jsonl").open(encoding="utf-8") as articles:
        for article in map(json.loads, articles):
            groups.update(article["groups"])

    slugs = {clean_slug(group) for group in groups}

    assert len(slugs) == len(groups)
    for slug in slugs:
        assert_slug(slug)

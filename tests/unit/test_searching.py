"""Words of texts, terms of queries, and how they match."""

import json
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from articles.searching import MOST_CHARACTERS, Query, marked_parts, read_query, words_of, words_of_comment
from articles.searching.query import MOST_TERMS
from articles.searching.words import LONGEST_WORD
from tests.cases import for_each

TITLES = st.text(max_size=300)


def words(title: str, link: str = "https://a.example/", poster: str = "") -> list[str]:
    return words_of(title, link, poster).split()


def found(title: str, query: str, link: str = "https://a.example/", poster: str = "") -> bool:
    """Return whether the search finds an article: each term matches one of its words."""
    terms = read_query(query).terms
    return bool(terms) and all(any(map(term.is_met_by, words(title, link, poster))) for term in terms)


def marks(text: str, query: str) -> list[str]:
    return [part for part, met in marked_parts(text, read_query(query)) if met]


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Voting on databases", "vote database"),
        ("Vote for a database", "voting databases"),
        ("The voters voted", "voter vot"),
        ("Why I’m leaving: don't panic", "dont"),
        ("Running Redis in C++ and C#", "c++ run"),
        ("Running Redis in C++ and C#", "c#"),
        ("Node.js 20.1 is out", "node.js"),
        ("Node.js 20.1 is out", "node"),
        ("Node.js 20.1 is out", "20.1"),
        ("Café Ångström STRASSE", "cafe angstrom straße"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full width"),
        ("分布式数据库入门", "数据"),
        ("分布式数据库入门", "数据库"),
        ("分布式数据库入门", "门"),
        ("分布式数据库入门", "库"),
        ("用Python写Redis客户端", "python 客户"),
        ("データベースの設計", "データ"),
        ("데이터베이스 설계", "데이터"),
        ("ฐานข้อมูลแบบกระจาย", "ข้อมูล"),
        ("ПРИВЕТ мир", "привет"),
        ("قَاعِدَة بيانات", "قاعدة"),
        ("हिन्दी समाचार", "हिन्दी"),
        ("A history of Rome", "the history of rome"),
        ("The The", "the the"),
        ("A theory of voting", "vote the"),
        ("The state of voting", "the of"),
        ("Python", "pyth"),
        ("Python", "python "),
        ("machine-learning_basics", "learning machine"),
    ],
)
def test_a_title_is_found_by_every_form_of_a_query(title, query):
    assert found(title, query)


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Redis", "redis python"),
        ("数据", "据数"),
        ("数据", "数字"),
        ("Python", "ython"),
        ("Python", "pyth "),
        ("Google", "go\t"),
        ("C++", "c# code"),
        ("About voting", "vote the"),
        ("Of mice", "the of"),
        ("Of mice", "the of?"),
        ("Python 数据", "pyth数据"),
        ("Anything", ""),
        ("Anything", "?! “”"),
    ],
)
def test_an_article_that_does_not_match_is_not_found(title, query):
    assert not found(title, query)


@pytest.mark.parametrize("word", ["voting", "databases", "organization", "universities", "running", "quickly"])
def test_a_word_is_found_at_every_letter_while_it_is_typed(word):
    missed = [word[:end] for end in range(1, len(word) + 1) if not found(f"About {word}", word[:end])]

    assert missed == []


@pytest.mark.parametrize(
    "query",
    ["github", "github.com", "docs.github.com", "github.co", "https://docs.github.com/en?x=1", "www.github.com"],
)
def test_a_host_is_found_by_its_parts_and_by_a_whole_link(query):
    assert found("T", query, link="https://docs.github.com/en/actions")


def test_a_host_in_another_script_is_found_as_displayed():
    assert found("T", "例子", link="https://xn--fsqu00a.example/")


def test_a_poster_is_found():
    assert found("T", "demo-reader", poster="Demo-Reader")


def test_the_top_level_domain_of_a_host_is_not_a_word():
    assert not found("T", "com", link="https://docs.github.com/")
    assert not found("T", "com docs", link="https://docs.github.com/")


def test_a_long_title_without_spaces_has_a_hundred_words():
    title = "".join(chr(0x4E00 + n) for n in range(300))

    made = words(title)

    assert made[:2] == ["一丁", "丁丂"]
    assert len([word for word in made if not word.isascii()]) == 100


def test_a_query_is_read_up_to_two_hundred_characters():
    read = read_query(" ".join(f"{'x' * 38}{n}" for n in range(9)))

    assert [len(term.words[0]) for term in read.terms] == [39, 39, 39, 39, 39]
    assert read_query("?" * 199 + " redis").terms == ()


def test_an_invalid_link_has_no_words():
    assert words("Title", link="nothing") == ["titl"]


@given(TITLES)
@example("\ufe70")  # a letter whose compatibility form is a space and a mark
@example("\ufdfa data")  # one that stands for four words
def test_a_title_is_found_by_itself_if_it_has_words(title):
    query = title[:MOST_CHARACTERS]
    if read_query(query).terms and "http" not in query.lower() and "www." not in query.lower():
        assert found(title, query)


@given(TITLES, st.text(max_size=40))
def test_words_are_bounded_and_safe_in_keys(title, poster):
    made = words_of(title, "https://a.example/", poster)

    assert made[0] == made[-1] == " "
    assert "  " not in made.strip(" ") or made == "  "
    assert len(made.split(" ")) <= 122
    assert all(len(word) <= LONGEST_WORD for word in made.split())
    assert not set(",:{}\n\t") & set(made)
    assert len(set(made.split())) == len(made.split())


@given(TITLES, st.text(max_size=60))
def test_the_marked_parts_add_up_to_the_text(text, query):
    parts = list(marked_parts(text, read_query(query)))

    assert "".join(part for part, _ in parts) == text
    assert all(part for part, _ in parts)


def test_a_comment_is_not_read_to_its_end_if_its_letters_take_long_to_compare():
    assert " zebra " in words_of_comment("é ﷺ " * 1_900 + "zebra")
    assert " zebra " not in words_of_comment("é ﷺ " * 4_900 + "zebra")
    assert " zebra " in words_of_comment("e x " * 4_900 + "zebra")


@for_each("char, texts", [("a", 6), ("中", 1)])
def test_long_words_are_not_kept_in_memory(char, texts):
    def index_and_mark(number: int) -> None:
        text = f"{char * 19_000}{number}"
        words_of_comment(text)
        marks(text, char * 2)

    index_and_mark(0)
    tracemalloc.start()
    try:
        for number in range(1, texts + 1):
            index_and_mark(number)
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 200_000


@given(st.text(max_size=2000))
def test_any_query_is_read_into_a_bounded_number_of_terms(text):
    query = read_query(text)

    assert len(query.terms) <= MOST_TERMS
    assert all(term.words or term.beginning for term in query.terms)


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Voting on Straße", "vote strass", ["Voting", "Straße"]),
        ("Databases & <b>data</b>", "database", ["Databases"]),
        ("分布式数据库入门", "数据库", ["数据库"]),
        ("数据和数据库", "数", ["数", "数"]),
        ("数据库", "数 据", ["数据"]),
        ("ｶﾞｲﾄﾞ 2", "ガ", ["ｶﾞｲﾄﾞ"]),
        ("\u0e19\u0e33", "\u0e4d", ["\u0e33"]),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한", ["\u1112\u1161\u11ab\u1100\u1173\u11af"]),
        ("cafe\u0301s", "café", ["cafe\u0301s"]),
        ("数cafe\u0301和", "café", ["cafe\u0301"]),
        ("Of Node.js.org", "js node.js.org", ["Node.js.org"]),
        ("Node.js", "node.js", ["Node.js"]),
        ("Node.js", "js", ["js"]),
        ("CAFÉ au lait", "cafe", ["CAFÉ"]),
        ("Python写的", "pyth", ["Python"]),
        ("docs.github.com", "github.com", []),
        ("ﬁnal", "fin", ["ﬁnal"]),
        ("Redis", "python", []),
    ],
)
def test_matches_are_marked(text, query, marked):
    assert marks(text, query) == marked


def test_groups_match_by_slug_and_title_but_not_by_one_letter():
    titles = {"python": "Python", "ml": "Machine learning", "数据": "数据库"}

    def groups(text):
        return [term.groups for term in read_query(text).with_groups(titles).terms]

    assert groups("pyt") == [("python",)]
    assert groups("p") == [()]
    assert groups("数") == [("数据",)]
    assert groups("machines learn") == [("ml",), ("ml",)]
    assert groups("数据") == [("数据",)]
    assert Query(()).with_groups(titles) == Query(())


def test_a_term_matches_at_most_ten_groups():
    titles = {f"news-{letter}": f"News {letter}" for letter in "abcdefghijkl"}

    (term,) = read_query("news").with_groups(titles).terms

    assert term.groups == tuple(f"news-{letter}" for letter in "abcdefghij")


def test_naughty_strings_are_searched_and_displayed(shared_dir):
    strings = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    for text in strings:
        read_query(text)
        assert "".join(part for part, _ in marked_parts(text, read_query(text[:50]))) == text
        assert words_of(text, "https://a.example/", text)


@pytest.mark.parametrize("word", ["ios", "aws", "gas", "ais", "dns", "bus", "io", "c"])
def test_a_short_word_is_never_stemmed(word):
    assert [words(text)[0] for text in (word, word.upper(), f"{word}'s")] == [word] * 3
    assert read_query(f"{word} x").terms[0].words == (word,)


@pytest.mark.parametrize("word", ["ions", "ties", "bees", "used", "apis", "being"])
def test_no_stem_is_shorter_than_three_letters(word):
    assert len(words(word)[0]) >= 3


@pytest.mark.parametrize(("query", "whole"), [("go", ("go",)), ("voting", ("vote",)), ("new python", ("python",))])
def test_a_query_has_a_variant_of_whole_words(query, whole):
    asked = read_query(query).of_whole_words()

    assert asked.terms[:-1] == read_query(query).terms[:-1]
    assert (asked.terms[-1].words, asked.terms[-1].beginning) == (whole, "")


@pytest.mark.parametrize("query", ["", "go ", "数", "数据库", "?"])
def test_a_query_without_a_word_prefix_is_searched_once(query):
    assert read_query(query).of_whole_words() is None


def test_groups_are_known_by_their_new_titles_at_once():
    query = read_query("gardens ")

    assert query.with_groups({"a": "Gardens", "b": "Boats"}).terms[0].groups == ("a",)
    assert query.with_groups({"a": "Houses", "b": "Gardens"}).terms[0].groups == ("b",)
    assert query.with_groups({"b": "Gardens"}).terms[0].groups == ("b",)
    assert query.with_groups({}).terms[0].groups == ()

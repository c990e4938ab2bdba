"""Tokens of texts, queries and their filters, what matches on the index, and what is marked."""

import json
import tracemalloc
from types import SimpleNamespace

import pytest
from hypothesis import example, given, strategies as st

from articles.domain.articles import Article
from articles.domain.lists import SearchOrder
from articles.repository.finding import finder
from articles.repository.finding.finder import _find
from articles.repository.finding.index import ARTICLES, Index, State, document_of_article, key_of
from articles.text.searching import (
    MOST_CHARACTERS,
    Between,
    Named,
    Query,
    Words,
    marked_parts,
    read_query,
    tokens_of,
)
from articles.text.searching.query import MOST_TERMS
from articles.text.searching.tokens import LONGEST_TOKEN, language_of, stem
from tests.cases import for_each

TITLES = st.text(max_size=300)


def an_article(number: int, title: str, link: str = "https://a.example/", poster: str = "", **more) -> Article:
    facts = {"votes": 1, "opposes": 0, "score": 0.0, "closes_at": 9e9} | more
    return Article(title, link, number, 1, poster, facts.pop("posted_at", 1.7e9 + number), **facts)


def searched(*articles: Article):
    index = Index()
    writer = index.writer()
    writer.enter((key_of(one.id, ARTICLES), document_of_article(one, 432.0)) for one in articles)
    writer.commit(State("copy", 432.0, None))
    index.publish()
    return index.opened().searcher()


def found(title: str, query: str, link: str = "https://a.example/", poster: str = "", text: str = "") -> bool:
    return bool(matches(searched(an_article(1, title, link, poster, text=text)), query))


def matches(searcher, query: str, order=SearchOrder.RELEVANCE, slug=None, hidden=()) -> list[int]:
    return _find(searcher, ARTICLES, read_query(query), order, 100, slug, hidden).ids


def marks(text: str, query: str) -> list[str]:
    return [part for part, met in marked_parts(text, read_query(query)) if met]


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Voting on databases", "vote database"), ("Vote for a database", "voting databases"),
        ("The voters voted", "voter vot"), ("Why I’m leaving: don't panic", "dont"),
        ("Running Redis in C++ and C#", "c++ run"), ("Running Redis in C++ and C#", "c#"),
        ("Node.js 20.1 is out", "node.js"), ("Node.js 20.1 is out", "node"), ("Node.js 20.1 is out", "20.1"),
        ("Café Ångström STRASSE", "cafe angstrom straße"), ("ＦＵＬＬ ｗｉｄｔｈ", "full width"),
        ("分布式数据库入门", "数据"), ("分布式数据库入门", "数据库"), ("分布式数据库入门", "门"),
        ("分布式数据库入门", "库"), ("用Python写Redis客户端", "python 客户"),
        ("データベースの設計", "データ"), ("데이터베이스 설계", "데이터"), ("ฐานข้อมูลแบบกระจาย", "ข้อมูล"),
        ("ПРИВЕТ мир", "привет"), ("قَاعِدَة بيانات", "قاعدة"), ("हिन्दी समाचार", "हिन्दी"),
        ("A history of Rome", "the history of rome"), ("The The", "the the"),
        ("A theory of voting", "vote the"), ("The state of voting", "the of"), ("Python", "pyth"),
        ("Python", "python "), ("machine-learning_basics", "learning machine"),
    ],
)  # fmt: skip
def test_a_title_is_found_by_every_form_of_a_query(title, query):
    assert found(title, query)


def test_of_a_large_index_a_short_beginning_stands_for_what_it_did_up_to_a_minute_ago(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(finder, "_LARGE", 50)
    monkeypatch.setattr(finder, "time", SimpleNamespace(monotonic=lambda: now[0]))
    articles = [an_article(n, word) for n, word in enumerate([*map("qz{:02}".format, range(60)), "xyz"], 1)]
    before = matches(searched(*articles), "qz")
    assert (len(before), matches(searched(*articles), "xy")) == (50, [61])

    searcher = searched(*articles, an_article(70, "qzz"), an_article(71, "qzz"), an_article(72, "xyzz"))

    assert matches(searcher, "qz") == before
    assert sorted(matches(searcher, "xy")) == [61, 72], "what stands for fewer words than may be is looked up"
    now[0] = 60.0
    assert {70, 71} < {*matches(searcher, "qz")}


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Redis", "redis python"), ("数据", "据数"), ("数据", "数字"), ("Python", "ython"),
        ("Python", "pyth "), ("Google", "go\t"), ("C++", "c# code"), ("About voting", "vote the"),
        ("Of mice", "the of"), ("Of mice", "the of?"), ("Python 数据", "pyth数据"),
        ("Anything", ""), ("Anything", "?! “”"),
    ],
)  # fmt: skip
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


def test_a_query_is_read_up_to_two_hundred_characters():
    read = read_query(" ".join(f"{'x' * 38}{n}" for n in range(9)))

    assert [len(term.tokens[0]) for term in read.words] == [39, 39, 39, 39, 39]
    assert read_query("?" * 199 + " redis").clauses == ()


def test_an_invalid_link_has_no_host():
    assert found("Title", "title", link="nothing")


@pytest.mark.deep
@given(TITLES)
@example("\ufe70")  # a letter whose compatibility form is a space and a mark
@example("\ufdfa data")  # one that stands for four words
def test_a_title_is_found_by_itself_if_it_has_words(title):
    query = title[:MOST_CHARACTERS]
    if read_query(query).clauses and not {":", '"', "-", "OR"} & {*query, *query.split()}:
        assert found(title, query)


@given(TITLES)
def test_tokens_are_bounded_and_without_spaces(title):
    assert all(0 < len(token) <= LONGEST_TOKEN and not any(map(str.isspace, token)) for token in tokens_of(title))


@given(TITLES, st.text(max_size=60))
def test_the_marked_parts_add_up_to_the_text(text, query):
    parts = list(marked_parts(text, read_query(query)))

    assert "".join(part for part, _ in parts) == text
    assert all(part for part, _ in parts)


@pytest.mark.deep
@for_each("char, texts", [("a", 6), ("中", 1)])
def test_long_words_are_not_kept_in_memory(char, texts):
    def index_and_mark(number: int) -> None:
        text = f"{char * 19_000}{number}"
        tokens_of(text)
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


@pytest.mark.deep
@given(st.text(max_size=2000))
def test_any_query_is_read_into_a_bounded_number_of_terms(text):
    query = read_query(text)

    assert sum(len(clause.terms) for clause in query.clauses) <= MOST_TERMS
    assert all(word.tokens for word in query.words)
    matches(searched(an_article(1, "Title")), text)


WORDS = [chr(0x4E00 + number) for number in range(60)]

MANY_TERMS = {
    "words": " ".join(f"word{n}" for n in range(30)),
    "alternatives of phrases": " OR ".join(f'"a{one} b"' for one in WORDS),
    "alternatives of filters": " OR ".join(f"by:p{n}" for n in range(40)),
    "exclusions": " ".join(f"-{one}" for one in WORDS),
    "pairs of alternatives": " ".join(f"{one} OR x{one}" for one in WORDS),
    "syllables": " ".join(chr(0xAC00 + 30 * n) for n in range(90)),
    "doubtful filters": " OR ".join(f"is:{n}" for n in range(40)),
}


@for_each("kind", MANY_TERMS)
def test_of_a_query_only_the_first_terms_are_looked_up_alternatives_included(kind):
    query = read_query(MANY_TERMS[kind])

    assert sum(len(clause.terms) for clause in query.clauses) == MOST_TERMS
    assert all(clause.terms for clause in query.clauses)


@pytest.mark.parametrize("sign", [" ", " OR ", " -"])
def test_of_a_query_only_four_filters_by_points_or_time_count(sign):
    typed = "redis points:>1 after:2005 points:<9 before:2030 points:>2 before:2031 go"
    counting = "redis points:>1 after:2005 points:<9 before:2030 go"

    assert read_query(typed.replace(" ", sign)) == read_query(counting.replace(" ", sign))


def test_a_term_that_is_repeated_counts_once():
    repeated = " OR ".join(["redis"] * 20)

    assert read_query(f"{repeated} OR valkey") == read_query("redis OR valkey")
    assert len(read_query(" ".join(f"{one} OR redis" for one in ["redis"] * 8) + " valkey").clauses) == 2


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Voting on Straße", "vote strass", ["Voting", "Straße"]),
        ("Databases & <b>data</b>", "database", ["Databases"]),
        ("分布式数据库入门", "数据库", ["数据库"]), ("数据和数据库", "数", ["数", "数"]),
        ("数据库", "数 据", ["数据"]), ("ｶﾞｲﾄﾞ 2", "ガ", ["ｶﾞｲﾄﾞ"]), ("\u0e19\u0e33", "\u0e4d", ["\u0e33"]),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한", ["\u1112\u1161\u11ab\u1100\u1173\u11af"]),
        ("cafe\u0301s", "café", ["cafe\u0301s"]),
        ("数cafe\u0301和", "café", ["cafe\u0301"]),
        ("Of Node.js.org", "js node.js.org", ["Node.js.org"]),
        ("Node.js", "node.js", ["Node.js"]),
        ("Node.js", "js", ["js"]),
        ("python.readthedocs.io", "python", ["python"]),
        ("python.readthedocs.io", "python.read", ["python.readthedocs.io"]),
        ("CAFÉ au lait", "cafe", ["CAFÉ"]), ("Python写的", "pyth", ["Python"]),
        ("docs.github.com", "github.com", []), ("ﬁnal", "fin", ["ﬁnal"]), ("Redis", "python", []),
    ],
)  # fmt: skip
def test_matches_are_marked(text, query, marked):
    assert marks(text, query) == marked


def test_groups_match_by_slug_and_title_but_not_by_one_letter():
    titles = {"python": "Python", "ml": "Machine learning", "数据": "数据库"}

    def groups(text):
        return [words.groups for words in read_query(text).with_groups(titles).words]

    assert groups("pyt") == [("python",)]
    assert groups("p") == [()]
    assert groups("数") == [("数据",)]
    assert groups("machines learn") == [("ml",), ("ml",)]
    assert groups("数据") == [("数据",)]
    assert Query(()).with_groups(titles) == Query(())


def test_a_term_matches_at_most_ten_groups():
    titles = {f"news-{letter}": f"News {letter}" for letter in "abcdefghijkl"}

    (words,) = read_query("news").with_groups(titles).words

    assert words.groups == tuple(f"news-{letter}" for letter in "abcdefghij")


def test_naughty_strings_are_searched_and_displayed(shared_dir):
    strings = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    for text in strings:
        read_query(text)
        assert "".join(part for part, _ in marked_parts(text, read_query(text[:50]))) == text
        tokens_of(text)


@pytest.mark.parametrize("word", ["ios", "aws", "gas", "ais", "dns", "bus", "io", "c"])
def test_a_short_word_is_never_stemmed(word):
    assert [[stem(token) for token in tokens_of(text)] for text in (word, word.upper(), f"{word}'s")] == [
        [word]
    ] * 3


@pytest.mark.parametrize("word", ["ions", "ties", "bees", "used", "apis", "being"])
def test_no_stem_is_shorter_than_three_letters(word):
    assert len(stem(word)) >= 3


# Filters


NOW = 1_700_000_000.0  # 14 November 2023


@pytest.fixture(scope="module")
def library():
    """A searcher of some articles, by number."""
    return searched(
        an_article(1, "Django and Python", "https://djangoproject.com/a", "bitrot", groups=("python",), votes=40),
        an_article(2, "Python without frameworks", "https://docs.github.com/b", "ann", groups=("python", "web")),
        an_article(3, "Open source databases", "https://example.org/", "ann", votes=12, posted_at=NOW - 40e6),
        an_article(4, "Source code that is open", "https://github.com/x", "Bob", groups=("web",), votes=3),
        an_article(5, "Ask: what to read?", "", "cy", text="Is there an open source book about gardens?"),
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("python -django", {2}), ("python -frameworks", {1}), ('"open source"', {3, 5}),
        ("open source", {3, 4, 5}), ("-python", {3, 4, 5}), ('open -"open source"', {4}),
        ("django OR databases", {1, 3}), ("python django OR frameworks", {1, 2}), ("author:bitrot", {1}),
        ("author:BOB", {4}), ("by:@ann python", {2}), ("-author:ann open", {4, 5}), (" group:python", {1, 2}),
        (" group:python -group:web", {1}), ("host:github.com", {2, 4}), ("site:docs.github.com", {2}),
        ("in:title open source", {3, 4}), ("in:text open", {5}), (" points:>10", {1, 3}), (" points:3", {4}),
        (" points:3..12", {3, 4}), (" points:<2", {2, 5}), ("open before:2023", {3}),
        ("open after:2022", {4, 5}), ("open after:2023-11-14", set()), ("gardens", {5}), ("garden", {5}),
        ("gard", {5}), ("nothing OR", set()),
    ],
)  # fmt: skip
def test_a_filter_finds(library, query, expected):
    assert {*matches(library, query)} == expected


def test_an_exact_word_in_the_title_comes_first():
    library = searched(
        an_article(1, "A vote about something else"),
        an_article(2, "Voting machines"),
        an_article(3, "About elections", text="Voting is discussed here"),
    )

    assert matches(library, "voting ")[0] == 2
    assert {*matches(library, "voting ")} == {1, 2, 3}


def test_results_are_in_the_order_asked_for(library):
    orders = {order: matches(library, "open", order) for order in SearchOrder}

    assert orders[SearchOrder.TIME] == [5, 4, 3]
    assert orders[SearchOrder.POINTS] == [3, 4, 5]
    assert orders[SearchOrder.SCORE] == [4, 5, 3]


def test_a_group_is_searched_alone_and_hidden_ones_are_left_out(library):
    assert {*matches(library, "python", slug="web")} == {2}
    assert {*matches(library, "python", hidden=("web",))} == {1}


def test_what_is_no_filter_is_searched_as_words_and_named():
    read = read_query("foo:bar colour:red before:yesterday 12:30 a")

    assert read.doubts == ("foo:", "colour:", "before:")
    assert read.words[0] == Words(("foo", "bar"))


@pytest.mark.parametrize(
    ("query", "filter_"),
    [
        ("after:2023-11", Between("time", least=1_701_388_800.0)),
        ("before:2023-11-14", Between("time", most=1_699_919_999.999)),
        (" points:>=-5", Between("points", least=-5.0)),
        (" group:数据", Named("group", "数据")),
    ],
)
def test_a_filter_is_read(query, filter_):
    assert read_query(query).clauses[0].terms == (filter_,)


@pytest.mark.parametrize(
    ("title", "queries"),
    [
        ("Les erreurs de l’éditeur dans le code et la page", ("erreur", "l'éditeur", "editeur")),
        ("Die Häuser und das Haus sind nicht groß", ("haus", "hauser", "gross")),
        ("Как писать программы на языке", ("программа", "язык")),
        ("Los errores de la base de datos y el servidor", ("error", "servidores")),
        ("Gli errori dell'utente e della macchina", ("errore", "utente", "macchine")),
        ("Øystein og Łódź, Ærø, Straße", ("oystein", "lodz", "aero", "strasse")),
        ("Release v1.2.3 of .NET and ASP.NET", ("1.2.3", "v1.2.3", "v1.2", ".net", "asp.net", "net")),
        ("Mail foo@bar.example, see /usr/local/bin", ("foo@bar.example", "/usr/local", "local/bin")),
        ("50 % of C++, C# and F# don't", ("50 %", "50%", "c++", "c#", "f#", "don't", "dont")),
        ("अंतरराष्ट्रीय समाचार", ("समाचार",)),
        ("مكتبة برمجية مفتوحة", ("برمجية",)),
        ("cafe\u0301 ＡＢＣ", ("café", "cafe", "abc")),
    ],
)
def test_words_of_each_language_are_found(title, queries):
    searcher = searched(an_article(1, title))

    assert [query for query in queries if not matches(searcher, f"{query} ")] == []


def test_any_two_neighbouring_signs_are_found():
    title = "分布式数据库系统的设计与实现从入门到精通"
    searcher = searched(an_article(1, title))

    missed = [
        title[at : at + n]
        for n in (1, 2, 3, 5)
        for at in range(len(title) - n + 1)
        if not matches(searcher, title[at : at + n])
    ]

    assert missed == []
    assert matches(searcher, "数库") == []


def test_the_language_of_a_text_is_guessed_by_its_small_words():
    assert language_of(tokens_of("Der Code und das Haus")) == "german"
    assert language_of(tokens_of("The code and the house")) == "english"
    assert language_of(tokens_of("Python")) == "english"

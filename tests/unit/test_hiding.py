"""What a reader hides: which titles, links and articles, and how it is kept as text."""

import pytest

from articles.text.lines import InvalidInput
from articles.text.searching import MOST, NOTHING, Hiding, Kind, clean_hidden_host, clean_word

HIDDEN = Hiding(("python", "数据"), (7, 12), ("example.org", "github.com/a-b"), ("C++", "new york"), (3, 21))


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("python", "Why PYTHON, again?"), ("Python", "学习Python的人"), ("resume", "How to write a résumé"),
        ("ＡＩ", "Of AI and men"), ("ai", "Ｏｆ　ＡＩ"), ("c++", "C++ in a day"), ("node", "Node.js 20 is out"),
        ("node.js", "What node.js does"), ("don't", "Don’t do it"), ("trump", "Trump's tower"),
        ("new york", "NEW YORK, new york"), ("机器学习", "一门机器学习课程"),
        ("学习python", "学习Python"), ("straße", "Die STRASSE"),
    ],
)  # fmt: skip
def test_a_title_with_a_hidden_word_is_hidden(word, title):
    assert Hiding(words=(clean_word(word),)).hides_text(title, "")


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("python", "Pythons and other snakes"), ("c", "C++ and C#"), ("c++", "C and C#"),
        ("new york", "New in York"), ("don", "Don't do it"), ("机器学习", "机器的学习"), (".*", "Anything"),
    ],
)  # fmt: skip
def test_other_titles_are_shown(word, title):
    assert not Hiding(words=(word,)).hides_text(title, "")


def test_a_host_hides_its_subdomains_and_an_author_only_their_part():
    hides = HIDDEN.hides_text
    assert hides("", "https://example.org/a")
    assert hides("", "https://blog.example.org/a")
    assert hides("", "https://github.com/A-B/repository")
    assert not hides("", "https://github.com/a-bc")
    assert not hides("", "https://badexample.org/")
    assert not hides("", "")


def test_a_text_holds_all_of_it_and_what_is_malformed_is_left_out():
    assert Hiding.of(HIDDEN.text) == HIDDEN
    assert Hiding.of("python,redis,,python") == Hiding(("python", "redis"))
    assert Hiding.of("@x,#1.x.2,~,/,@٣,#-1") == Hiding(articles=(1, 2))
    assert Hiding.of("") == NOTHING
    assert not NOTHING


def test_a_text_beyond_the_limits_keeps_the_first_and_the_newest_articles():
    found = Hiding.of(",".join([*(f"g{n}" for n in range(99)), *(f"#{n}" for n in range(999))]))

    assert (len(found.groups), found.groups[-1]) == (MOST[Kind.GROUP], "g49")
    assert (len(found.articles), found.articles[-1]) == (MOST[Kind.ARTICLE], 998)


def test_a_further_article_replaces_the_oldest_and_a_word_is_kept_once():
    full = Hiding(articles=tuple(range(1, MOST[Kind.ARTICLE] + 1)))

    after = full.changed(Kind.ARTICLE, 9999, hidden=True)
    assert (after.articles[0], after.articles[-1], len(after.articles)) == (2, 9999, MOST[Kind.ARTICLE])
    words = Hiding(words=("Résumé",)).changed(Kind.WORD, "resume", hidden=True)
    assert words.words == ("resume",)
    assert words.changed(Kind.WORD, "RESUME", hidden=False) == NOTHING


def test_words_and_hosts_are_cleaned_or_refused():
    assert clean_word("  New,\u200b York ") == "New York"
    assert clean_hidden_host("https://www.Example.org/a?b") == clean_hidden_host("example.org")
    assert clean_hidden_host("GitHub.com/Django/") == "github.com/django"
    for word in ("", " ", "!?", "\u200b", "x" * 51):
        with pytest.raises(InvalidInput):
            clean_word(word)
    for host in ("", "a b", "https://", "x" * 3000):
        with pytest.raises(InvalidInput):
            clean_hidden_host(host)

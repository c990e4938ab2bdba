"""What matches moderators' rules: words in any script, patterns that cannot be slow, and sets of both."""

import pytest
import re2
from hypothesis import example, given, settings, strategies as st

from articles.web.rules import matching
from articles.web.rules.matching import (
    Definition,
    Facts,
    PatternRefused,
    Rule,
    RuleAct,
    Rules,
    Subject,
    check_pattern,
    compile_pattern,
    digest_of,
    folded,
)
from tests.cases import for_each


def rules_of(*definitions):
    return Rules(
        [Rule(str(n), Definition(Subject.COMMENT, RuleAct.FLAG, **one)) for n, one in enumerate(definitions)]
    )


def found(rules, text):
    return [int(rule.name) for rule in rules.matching(Facts(Subject.COMMENT, text))]


WORDS = (
    ("spam", "Buy SPAM!", True), ("spam", "spammer", False), ("spam", "anti-spam", True),
    ("buy pills", "Buy,  pills", True), ("buy pills", "buy the pills", False), ("слово", "Это СЛОВО.", True),
    ("слов", "слово", False), ("STRASSE", "Die Straße", True), ("ｖｐｎ", "vpn", True),
    ("推荐", "强烈推荐这个", True), ("VPN", "用VPN推荐", True), ("VPN推荐", "好用的vpn推荐吧", True),
    ("加微信", "加 微信", False), ("스팸", "스팸입니다", True),
    ("c++", "I like C.", True), ("naïve", "nai\u0308ve", True),
)  # fmt: skip


@for_each("word, text, is_found", WORDS)
def test_words_are_found_as_wholes_where_a_script_has_spaces(word, text, is_found):
    assert (found(rules_of({"words": (word,)}), text) == [0]) is is_found


def test_any_word_is_enough_and_all_conditions_must_hold():
    rules = rules_of({"words": ("one", "two")}, {"words": ("one",), "pattern": "three"}, {"pattern": "T[W]O"})

    assert found(rules, "two") == [0, 2]
    assert found(rules, "one three") == [0, 1]
    assert found(rules, "four") == []


@given(st.text(max_size=200))
def test_folding_a_folded_text_changes_nothing(text):
    assert folded(folded(text)) == folded(text)


def test_short_texts_do_not_count_as_repeated():
    assert digest_of(folded("Thank you!")) == ""
    assert digest_of(folded("The same long text, twice")) == digest_of(folded("THE same long text: twice!"))


def test_a_definition_survives_json_and_later_versions_of_the_site():
    definition = Definition(Subject.ARTICLE, RuleAct.JOIN, group="news", words=("a", "b"), links=3, is_first=True)

    assert Definition.of(definition.plain) == definition
    assert Definition.of(definition.plain | {"mood": "bad"}) == definition


# Patterns


SLOW_ELSEWHERE = (
    (r"(a+)+$", "a" * 20_000 + "!"), (r"(a|aa)+b", "a" * 20_000), (r"(\w+\s?)*x", "word " * 4_000),
    (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 20_000), (r"(.*)(.*)(.*)(.*)z", "y" * 20_000),
)  # fmt: skip


@for_each("pattern, text", SLOW_ELSEWHERE)
def test_patterns_that_take_other_engines_forever_are_answered(pattern, text):
    check_pattern(pattern)

    assert len(found(rules_of({"pattern": pattern}), text)) <= 1


REFUSED = {
    "(": "invalid",
    r"(a)\1": "invalid",
    "(?=a)b": "invalid",
    "a{2000}": "invalid",
    "a*": "empty",
    "|a": "empty",
    r"\w{200}": "large",
    "[ab]*a[ab]{90}c": "slow",
}


@for_each("pattern, code", REFUSED.items())
def test_which_patterns_are_refused_and_why(pattern, code):
    with pytest.raises(PatternRefused) as refused:
        check_pattern(pattern)

    assert refused.value.code == code


PARTS = st.sampled_from(
    [*"ab|*+?.^$", "(", ")", "[ab]", "[^a]", r"\w", r"\b", r"\p{Han}", "买", "{3}", "{1,40}", "(?i)", "(?:", r"\1"]
)
PATTERNS = st.lists(PARTS, min_size=1, max_size=12).map("".join)


@settings(max_examples=60, deadline=None)
@given(PATTERNS, st.text("ab买 ", max_size=50))
def test_any_pattern_is_refused_or_answered(pattern, beginning):
    try:
        check_pattern(pattern)
    except PatternRefused:
        return
    text = beginning + "ab" * 10_000

    assert len(found(rules_of({"pattern": pattern}), text)) <= 1


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=25), st.text("ab买 ", max_size=60))
@example(["a", "b"] * 11, "b")
def test_sets_find_what_each_pattern_alone_finds(patterns, text):
    good = []
    for pattern in patterns:
        try:
            check_pattern(pattern)
        except PatternRefused:
            continue
        good.append(pattern)

    alone = [n for n, pattern in enumerate(good) if compile_pattern(pattern).search(text)]

    assert found(rules_of(*({"pattern": pattern} for pattern in good)), text) == alone


def test_a_set_without_enough_memory_searches_for_each_pattern_alone(monkeypatch):
    class Exhausted:
        @staticmethod
        def SearchSet(_options):
            return Exhausted()

        def Add(self, _expression):
            pass

        def Compile(self):
            pass

        def Match(self, _text):
            return None

    monkeypatch.setattr(re2, "Set", Exhausted)
    rules = rules_of({"pattern": "a"}, {"pattern": "b"}, {"words": ("b",)})

    assert found(rules, "b") == [1, 2]
    assert matching.re2.Set is Exhausted

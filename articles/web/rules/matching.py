"""What a rule says, and whether something matches it. The same function decides on new posts and in a trial.

Every condition of a rule must hold; the cheap ones are asked first. Words and patterns are RE2, whose time is
linear in the text, and ten rules are searched for in one pass. With more, a hostile text with the words of many
rules would let RE2 build a state for each combination of them: `bench/rules.py` measures it.
"""

import re
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

import re2

from articles.text.links import host_of
from articles.text.searching.tokens import NO_SPACES

MOST_ON = 200  # rules that can be on at a time
PATTERN_LIMIT = 200  # characters
MOST_WORDS = 50
WORD_LIMIT = 100  # characters
MOST_HOSTS = 50
MOST_DAYS = 30  # days over which repeated texts can be counted, and for which a trial looks back
_PROGRAM_LIMIT = 500
"""Instructions of a pattern: with a text of the maximum length, their product bounds the time of a search."""

_TIMES_AS_SLOW = 3  # how many times the CPU time of `_MEASURE` a pattern may take for a text of the maximum length
_HOSTILE_CHARACTERS = 20_000
_PER_SET = 10  # rules that are searched for in one pass
_MEMORY_BYTES = 4 << 20  # memory of the states of one set
_SHORTEST_REPEATED = 20
"""Characters from which on a text counts as repeated: short ones, such as thanks, are written by many."""


class Subject(StrEnum):
    """What a rule looks at."""

    ARTICLE = "article"
    COMMENT = "comment"
    NAME = "name"
    REPORT = "report"


class RuleAct(StrEnum):
    """What a rule does with what matches."""

    REFUSE = "refuse"
    HOLD = "hold"
    FLAG = "flag"
    JOIN = "join"
    LEAVE = "leave"
    LOCK = "lock"


ACTS: Mapping[Subject, Sequence[RuleAct]] = {
    Subject.ARTICLE: tuple(RuleAct),
    Subject.COMMENT: (RuleAct.REFUSE, RuleAct.HOLD, RuleAct.FLAG),
    Subject.NAME: (RuleAct.REFUSE, RuleAct.HOLD),
    Subject.REPORT: (RuleAct.REFUSE, RuleAct.JOIN, RuleAct.LEAVE, RuleAct.LOCK),
}
"""What rules about each subject can do. A comment does not change its article: its author would decide on that."""

_ABOUT_TEXTS = ("words", "pattern")
_ABOUT_POSTS = ("hosts", "links", "posts", "is_first", "members")
CONDITIONS: Mapping[Subject, Sequence[str]] = {
    Subject.ARTICLE: (*_ABOUT_TEXTS, *_ABOUT_POSTS, "age_days", "points"),
    Subject.COMMENT: (*_ABOUT_TEXTS, *_ABOUT_POSTS, "age_days", "points"),
    Subject.NAME: _ABOUT_TEXTS,
    Subject.REPORT: (*_ABOUT_TEXTS, "age_days", "points"),
}
"""The conditions that rules about each subject can have, by the field of the definition."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a version of a rule says. Conditions that are empty or 0 do not matter."""

    subject: Subject
    act: RuleAct
    sentence: str = ""  # what the member reads who is refused
    group: str = ""  # slug of the group that an article is put into, or out of
    scope: str = ""  # slug of the group in which the rule applies; "" for the whole site
    words: tuple[str, ...] = ()
    pattern: str = ""
    hosts: tuple[str, ...] = ()
    links: int = 0  # the least number of links
    age_days: int = 0  # the member's account is younger
    points: int = 0  # the member's articles have fewer points
    posts: int = 0  # the member posted at least as many of the kind in the `hours` before
    hours: int = 0
    is_first: bool = False  # it is the member's first article or comment
    members: int = 0  # at least as many other members posted the same text in the `days` before
    days: int = 0

    @property
    def conditions(self) -> list[str]:
        """The names of its conditions."""
        names = dict.fromkeys((*CONDITIONS[Subject.ARTICLE], *CONDITIONS[self.subject]))
        return [name for name in names if getattr(self, name)]

    @property
    def plain(self) -> dict[str, Any]:
        """What JSON can hold of it: all that is not empty."""
        return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(self).items() if one}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Definition":
        """Return the definition that JSON holds."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {
            name: tuple(one) if isinstance(one, list) else one for name, one in plain.items() if name in known
        }
        return cls(**values | {"subject": Subject(plain["subject"]), "act": RuleAct(plain["act"])})


class PatternRefused(ValueError):
    """A pattern that cannot be used. `code`: invalid, empty, large or slow."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _options() -> Any:
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, _MEMORY_BYTES
    return options


_OPTIONS = _options()


def compile_pattern(pattern: str) -> Any:
    """Return a pattern that was checked. Raises re2.error."""
    return re2.compile(pattern, _OPTIONS)


def check_pattern(pattern: str) -> None:
    """Raise PatternRefused for a pattern that is invalid, matches everything, or needs long for a hostile text."""
    try:
        compiled = compile_pattern(pattern)
    except re2.error as error:
        raise PatternRefused("invalid") from error
    if compiled.search(b""):
        raise PatternRefused("empty")
    if compiled.programsize > _PROGRAM_LIMIT:
        raise PatternRefused("large")
    hostile = [text.encode() for text in _hostile_texts(pattern)]
    if _worst_seconds(compiled, hostile) > _TIMES_AS_SLOW * _worst_seconds(
        _MEASURE, [b".z" * (_HOSTILE_CHARACTERS // 2)]
    ):
        raise PatternRefused("slow")


def _hostile_texts(pattern: str) -> Iterator[str]:
    """Yield long texts of the pattern's own characters, for which a search can discard nothing early."""
    own, random = sorted(set(pattern) - set("\\[](){}|?*+^$")) or ["a"], Random(0)  # nosec B311 # noqa: S311 - not for secrets
    for alphabet in (own, [*own, *"abcdefghij 0123456789"], "ab", "ab01 .-/"):
        yield "".join(random.choices(alphabet, k=_HOSTILE_CHARACTERS))  # nosec B311


_MEASURE = compile_pattern("(.*)(.*)(.*)(.*)z")


def _worst_seconds(compiled: Any, texts: Sequence[bytes]) -> float:
    return max(min(_seconds(compiled, text) for _ in range(3)) for text in texts)


def _seconds(compiled: Any, text: bytes) -> float:
    began = time.thread_time()
    compiled.search(text)
    return time.thread_time() - began


_UNSPACED = re.compile(rf"[{NO_SPACES}]+")
_GAPS = re.compile(r"[\W_]+")


def folded(text: str) -> str:
    """Return the text in one case and width, its words between single blanks; "" without any.

    What is written without spaces, such as Chinese, is one word until other letters begin.
    """
    plain = _UNSPACED.sub(r" \g<0> ", unicodedata.normalize("NFKC", text).casefold())
    return f" {words} " if (words := _GAPS.sub(" ", plain).strip()) else ""


def word_expression(word: str) -> str:
    """Return the expression that finds a word or phrase in a folded text; "" for one without letters or digits.

    Whole words only, but where the word begins or ends in a script without spaces, anything may stand beside it.
    """
    text = folded(word)
    if not text:
        return ""
    start = 1 if _UNSPACED.match(text[1]) else 0
    end = len(text) - (1 if _UNSPACED.match(text[-2]) else 0)
    return str(re2.escape(text[start:end]))


def digest_of(text: str) -> str:
    """Return the digest by which a folded text counts as repeated; "" for one that is too short for that."""
    is_long = len(text) >= _SHORTEST_REPEATED
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest() if is_long else ""


@dataclass
class Facts:
    """What rules can ask about something that is posted. Each answer is found when a rule first asks for it."""

    subject: Subject
    text: str
    """An article's title, link and text on lines of their own; a comment; a name; a report's words."""

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.folded)

    @cached_property
    def groups(self) -> Sequence[str]:
        """Slugs of the article's groups."""
        return ()

    @cached_property
    def links(self) -> Sequence[str]:
        return ()

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts of the links, and the domains above them."""
        labels = [host_of(link).split(".") for link in self.links]
        return frozenset(".".join(one[at:]) for one in labels for at in range(len(one)))

    @cached_property
    def age_days(self) -> float:
        """Age of the member's account."""
        raise NotImplementedError

    @cached_property
    def points(self) -> int:
        """Points of the member's articles."""
        raise NotImplementedError

    @cached_property
    def is_first(self) -> bool:
        """Whether the member has posted neither an article nor a comment before."""
        return not any(self._count(0))

    def _count(self, since: float) -> tuple[int, int]:
        """Return how many articles and comments the member posted before, since a time in Unix seconds."""
        raise NotImplementedError

    def count_posts(self, hours: int) -> int:
        """Return how many of the kind the member posted in the hours before."""
        raise NotImplementedError

    def count_others(self, days: int) -> int:
        """Return how many other members posted the same text in the days before."""
        raise NotImplementedError


class _Searches:
    """Searches texts for many expressions, in a pass for each set of `_PER_SET`."""

    def __init__(self, expressions: Mapping[int, str]) -> None:
        """`expressions`: by number; those that are empty are never found."""
        wanted = [(number, one) for number, one in expressions.items() if one]
        self._sets = [_Set(wanted[at : at + _PER_SET]) for at in range(0, len(wanted), _PER_SET)]

    def found_in(self, text: str) -> set[int]:
        """Return the numbers of the expressions that are in the text."""
        return {number for one in self._sets for number in one.found_in(text)}


class _Set:
    """Searches texts for a few expressions. If a text is too much for the set's memory, for each of them alone."""

    def __init__(self, expressions: Sequence[tuple[int, str]]) -> None:
        self._numbers, self._expressions = zip(*expressions, strict=True)
        self._all = re2.Set.SearchSet(_OPTIONS)
        for one in (*self._expressions, ""):  # the last is in every text, unless the memory did not suffice
            self._all.Add(one)
        self._all.Compile()

    def found_in(self, text: str) -> Iterator[int]:
        found = self._all.Match(text)
        if found:
            return (self._numbers[at] for at in found if at < len(self._numbers))
        each = zip(self._numbers, self._expressions, strict=True)
        return (number for number, one in each if compile_pattern(one).search(text))


class Rule(NamedTuple):
    """A rule by its name, which the moderation log knows it by."""

    name: str
    definition: Definition

    def answers(self, facts: Facts, *, has_words: bool, has_pattern: bool) -> Iterator[bool]:
        """Yield whether each of its conditions holds. Those that cost a query or a round trip come last."""
        wanted = self.definition
        if wanted.words:
            yield has_words
        if wanted.pattern:
            yield has_pattern
        if wanted.age_days:
            yield facts.age_days < wanted.age_days
        if wanted.hosts:
            yield not facts.hosts.isdisjoint(wanted.hosts)
        if wanted.links:
            yield len(facts.links) >= wanted.links
        if wanted.scope:
            yield wanted.scope in facts.groups
        if wanted.is_first:
            yield facts.is_first
        if wanted.posts:
            yield facts.count_posts(wanted.hours) >= wanted.posts
        if wanted.members:
            yield facts.count_others(wanted.days) >= wanted.members
        if wanted.points:
            yield facts.points < wanted.points


class Rules:
    """Rules about one subject, ready to match."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = rules
        words = (filter(None, map(word_expression, rule.definition.words)) for rule in rules)
        self._words = _Searches(dict(enumerate(map("|".join, words))))
        self._patterns = _Searches({n: rule.definition.pattern for n, rule in enumerate(rules)})
        self.ask_for_repeats = any(rule.definition.members for rule in rules)

    def matching(self, facts: Facts) -> list[Rule]:
        """Return the rules of which all conditions hold."""
        words, patterns = self._words.found_in(facts.folded), self._patterns.found_in(facts.text)
        return [
            rule
            for n, rule in enumerate(self._rules)
            if all(rule.answers(facts, has_words=n in words, has_pattern=n in patterns))
        ]

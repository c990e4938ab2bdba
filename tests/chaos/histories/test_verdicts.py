"""The judgement of histories: which must pass, which must not, and that it agrees with the definition."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from articles.domain.articles import Choice
from tests.chaos.histories.linearizability import final_choices
from tests.chaos.histories.operations import READ, SET, Operation, Register
from tests.chaos.histories.verdict import Start, judge

pytestmark = [pytest.mark.deep, pytest.mark.fast]

ARTICLE = 12
REGISTER = Register(7, ARTICLE)
CHOICES = [choice.value for choice in Choice]


def history(text: str, register: Register = REGISTER) -> list[Operation]:
    """Return the operations of lines such as "0 1 set vote"; "-" is an answer that never came."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return [
        Operation(f"p{n}", register, kind, choice, float(begin), math.inf if end == "-" else float(end))
        for n, (begin, end, kind, choice) in enumerate(rows)
    ]


UNDONE = {
    "a vote that was not confirmed is seen, and undone": "0 - set vote\n 1 2 read vote\n 3 4 read none",
    "it is undone after others have set theirs": (
        "0 1 set oppose\n 2 - set none\n 3 4 read none\n 5 6 read oppose\n 7 8 set vote\n 9 10 read vote"
    ),
}
"""Explained only if a server that takes over may lack what was not confirmed."""

UNEXPLAINED = {
    "a confirmed vote is lost": ("0 1 set vote\n 2 3 read none", 2),
    "a stale read after the answer": ("0 1 set vote\n 2 3 set oppose\n 4 5 read vote\n 6 7 read oppose", 3),
    "a choice from nowhere": ("0 1 set vote\n 2 3 read oppose", 2),
    "both choices at once": ("0 1 set vote\n 2 3 read both", 2),
    "an older choice comes back": ("0 1 set vote\n 2 3 set none\n 4 5 read none\n 6 7 read vote", 4),
    "a late write counts twice": (
        "0 - set vote\n 1 2 set oppose\n 3 4 read vote\n 5 6 set oppose\n 7 8 read oppose\n 9 10 read vote",
        6,
    ),
    "a read before the only write": ("0 1 read vote\n 2 3 set vote", 1),
    "an unknown write before its call": ("0 1 read vote\n 2 - set vote", 1),
    "readers disagree on the order": ("0 9 set vote\n 1 2 read vote\n 3 4 read none", 3),
    "concurrent writes in both orders": (
        "0 1 set vote\n 0 1 set oppose\n 2 3 read vote\n 4 5 read oppose\n 6 7 read vote",
        4,
    ),
}


@pytest.mark.parametrize(("text", "shown"), UNEXPLAINED.values(), ids=UNEXPLAINED)
def test_an_impossible_history_fails_with_the_first_operation_that_nothing_explains(text, shown):
    operations = history(text)

    (failure,) = judge(operations).failures

    assert len(failure.operations) == shown
    assert str(REGISTER) in str(failure)


@pytest.mark.parametrize("text", UNDONE.values(), ids=UNDONE)
def test_what_was_read_before_it_was_confirmed_may_be_undone_where_that_is_allowed(text):
    assert judge(history(text)).failures

    verdict = judge(history(text), may_undo=True)

    assert (verdict.failures, verdict.undone) == ([], 1)
    assert "1 seen before they were confirmed, and undone" in str(verdict)


@pytest.mark.parametrize("text", [text for text, _ in UNEXPLAINED.values() if "- set" not in text])
def test_nothing_that_was_confirmed_may_be_undone(text):
    assert judge(history(text), may_undo=True).failures


# What the store holds, and the counts


def members(*texts: str) -> list[Operation]:
    """Return histories of several members on one article."""
    return [one for member, text in enumerate(texts, 1) for one in history(text, Register(member, ARTICLE))]


@pytest.mark.parametrize("counts", [(3, 0), (4, 0), (3, 1)])
def test_counts_that_some_choices_add_up_to_pass(counts):
    operations = members("0 1 set vote", "0 - set vote", "0 1 set none\n 2 - set oppose")

    assert judge(operations, counts={ARTICLE: counts}, start=Start(counts={ARTICLE: (2, 0)})).failures == []


@pytest.mark.parametrize("counts", [(2, 0), (5, 0), (3, 2), (0, 0)])
def test_counts_off_by_one_fail(counts):
    operations = members("0 1 set vote", "0 - set vote", "0 1 set none\n 2 - set oppose")

    (failure,) = judge(operations, counts={ARTICLE: counts}, start=Start(counts={ARTICLE: (2, 0)})).failures

    assert failure.what.startswith(f"article 12: counts (votes, opposes) {counts}, allowed are [(")


def test_counts_must_be_those_of_the_choices_in_the_store():
    operations = members("0 1 set vote", "0 - set vote")
    held = {Register(1, ARTICLE): "vote", Register(2, ARTICLE): "none"}

    assert judge(operations, held=held, counts={ARTICLE: (1, 0)}).failures == []
    assert len(judge(operations, held=held, counts={ARTICLE: (2, 0)}).failures) == 1


def test_what_was_chosen_before_is_the_beginning_of_a_history():
    operations = [*members("0 1 read vote\n 2 3 set oppose"), *history("0 1 read none", Register(9, ARTICLE))]
    start = Start({Register(1, ARTICLE): "vote", Register(2, ARTICLE): "vote"}, {ARTICLE: (4, 0)})

    assert judge(operations, counts={ARTICLE: (3, 1)}, start=start).failures == []
    assert len(judge(operations, counts={ARTICLE: (4, 1)}, start=start).failures) == 1
    assert len(judge(operations).failures) == 1


# Against the definition, and against a simulated register


def by_definition(operations: Sequence[Operation]) -> frozenset[str]:
    """Try every order of every selection that has all known operations."""
    finals = set()
    unknown = [one for one in operations if not one.is_known]
    for bits in range(2 ** len(unknown)):
        dropped = [one for n, one in enumerate(unknown) if bits >> n & 1]
        for order in permutations([one for one in operations if one not in dropped]):
            finals |= set(_end_of(order))
    return frozenset(finals)


def _end_of(order: Sequence[Operation]) -> Iterator[str]:
    choice, moment = "none", -math.inf
    for one in order:
        moment = max(moment, one.invoked)
        if one.completed < moment or (one.kind == READ and one.choice != choice):
            return
        choice = one.choice
    yield choice


@st.composite
def any_operation(draw: st.DrawFn) -> Operation:
    begin, kind = draw(st.integers(0, 8)), draw(st.sampled_from([SET, READ]))
    end = begin + draw(st.integers(1, 6)) + 0.5  # no two of the same moment
    unknown = kind == SET and draw(st.booleans()) and draw(st.booleans())
    choice = draw(st.sampled_from(CHOICES[:2] if kind == SET else CHOICES))
    name = str(draw(st.integers(0, 10**9)))
    return Operation(name, REGISTER, kind, choice, begin, math.inf if unknown else end)


@given(st.lists(any_operation(), max_size=6, unique_by=lambda one: one.process))
def test_the_search_finds_what_the_definition_allows(operations):
    assert final_choices(operations) == by_definition(operations)


@st.composite
def simulated(draw: st.DrawFn) -> tuple[list[Operation], str]:
    """Return what clients saw of a register that works, and the choice it holds in the end."""
    operations, held = [], "none"
    for moment in range(0, 10 * draw(st.integers(1, 30)), 10):
        begin, end = moment - draw(st.integers(0, 40)), moment + draw(st.integers(0, 40)) + 0.5
        kind, fate = (
            draw(st.sampled_from([SET, SET, READ])),
            draw(st.sampled_from(["ok"] * 6 + ["lost", "not done"])),
        )
        choice = draw(st.sampled_from(CHOICES)) if kind == SET else held
        if kind == READ and fate != "ok":
            continue
        held = held if fate == "not done" else choice
        operations.append(
            Operation(f"p{moment}", REGISTER, kind, choice, begin, end if fate == "ok" else math.inf)
        )
    return operations, held


@given(simulated())
def test_no_history_of_a_register_that_works_fails(run):
    operations, held = run
    counts = {ARTICLE: (int(held == "vote"), int(held == "oppose"))}

    verdict = judge(operations, held={REGISTER: held}, counts=counts)

    assert verdict.failures == [], verdict


@given(simulated(), st.data())
def test_every_damage_to_such_a_history_is_seen(run, data):
    operations, held = run
    operations.append(Operation("last", REGISTER, SET, held, 1_000, 1_001))
    after = Operation("reader", REGISTER, READ, held, 1_002, 1_003)
    possible = {held, *(one.choice for one in operations if not one.is_known)}
    damages = [
        lambda: judge([*operations, replace(after, choice="both")]),
        lambda: judge(operations, held={REGISTER: "both"}),
        lambda: judge(operations, held={REGISTER: held}, counts={ARTICLE: (1, 1)}),
    ]
    for other in set(CHOICES) - possible:
        damages += [
            lambda other=other: judge([*operations, replace(after, choice=other)]),
            lambda other=other: judge(operations, held={REGISTER: other}),
        ]

    assert data.draw(st.sampled_from(damages))().failures

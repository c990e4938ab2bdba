"""Whether the operations on a register can have happened one after another, each between its call and its answer.

The search of Wing and Gong ("Testing and verifying concurrent objects", 1993), with Lowe's memory of the states
it has been in ("Testing for linearizability", 2017). An operation whose outcome no client knows may take effect at
any time after its call, or never.

What makes it fast on registers: a read of the current choice can be placed at once, without a branch; of the
writes of one choice that can come next, the one with the earliest answer can always come first; and an unknown
write is of use only if it changes the choice.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from articles.domain.articles import Choice
from tests.chaos.histories.operations import READ, Operation

INITIAL = Choice.NONE.value


class _State(NamedTuple):
    """A place in the search. `first`: index of the first operation not placed; `placed`: bits of later ones."""

    choice: str
    first: int = 0
    placed: int = 0
    used: tuple[str, ...] = ()  # choices of the unknown writes that have taken effect, sorted


def final_choices(operations: Sequence[Operation], initial: str = INITIAL) -> frozenset[str]:
    """Return the choices that the register may hold afterwards; none if the history is impossible."""
    ordered = sorted(operations, key=lambda operation: operation.invoked)
    if _is_sequential(ordered):
        return _replay(ordered, initial)
    return _Search(ordered).run(initial)


def _is_sequential(ordered: Sequence[Operation]) -> bool:
    moment = -math.inf
    for operation in ordered:
        if operation.invoked <= moment or not operation.is_known:
            return False
        moment = operation.completed
    return True


def _replay(ordered: Sequence[Operation], choice: str) -> frozenset[str]:
    for operation in ordered:
        if operation.kind == READ and operation.choice != choice:
            return frozenset()
        choice = operation.choice
    return frozenset({choice})


class _Search:
    def __init__(self, ordered: Sequence[Operation]) -> None:
        self._known = [operation for operation in ordered if operation.is_known]
        self._unknown = [operation for operation in ordered if not operation.is_known]

    def run(self, initial: str) -> frozenset[str]:
        finals: set[str] = set()
        start = _State(initial)
        seen, stack = {start}, [start]
        while stack:
            state = stack.pop()
            if state.first == len(self._known):
                finals.add(state.choice)
            for following in self._following(state):
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return frozenset(finals)

    def _following(self, state: _State) -> Iterator[_State]:
        candidates, horizon = self._candidates(state)
        writes: dict[str, int] = {}
        for index in candidates:
            operation = self._known[index]
            if operation.kind == READ:
                if operation.choice == state.choice:
                    yield self._place(state, index)
                    return
            elif (
                operation.choice not in writes
                or operation.completed < self._known[writes[operation.choice]].completed
            ):
                writes[operation.choice] = index
        for index in writes.values():
            yield self._place(state, index)
        used = Counter(state.used)
        called = Counter(one.choice for one in self._unknown if one.invoked <= horizon)
        for choice in called:
            if choice != state.choice and used[choice] < called[choice]:
                yield state._replace(choice=choice, used=tuple(sorted((*state.used, choice))))

    def _candidates(self, state: _State) -> tuple[list[int], float]:
        """Return the indexes of the known operations that can come next, and the first answer to any of them."""
        horizon, indexes = math.inf, []
        for index in range(state.first, len(self._known)):
            operation = self._known[index]
            if operation.invoked > horizon:
                break
            if not state.placed >> (index - state.first) & 1:
                indexes.append(index)
                horizon = min(horizon, operation.completed)
        return indexes, horizon

    def _place(self, state: _State, index: int) -> _State:
        first, placed = state.first, state.placed | 1 << (index - state.first)
        while placed & 1:
            first, placed = first + 1, placed >> 1
        return state._replace(choice=self._known[index].choice, first=first, placed=placed)

"""The ranking's parameters: which are in force, and putting others in their place.

Another weight of a vote moves every article. So a second ranking is made beside the one in force, step by step,
and every vote meanwhile goes into both; when it is whole it takes the other's place in all shards in one
transaction, with the hot list scored anew. Readers see the one or the other and never a mixture. Whoever began
may die at any step: `advance`, by whomever it is called, goes on where it was.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from articles.domain.errors import ParametersChanged, StoreUnfit
from articles.domain.lists import Order
from articles.domain.moderation import Actor
from articles.domain.ranking import RANGES, Parameters, out_of_range
from articles.repository.store.batches import ARTICLES_PER_STEP
from articles.repository.store.client import UNPREPARED
from articles.repository.store.connection import Call, Store, exact_time

_NAMES = tuple(RANGES)


@dataclass(frozen=True, slots=True)
class ChangeProgress:
    """Parameters on their way into force: `done` of `total` articles are scored by them."""

    parameters: Parameters
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RankingState:
    """The current parameters, their version, and any change being applied.

    `is_chosen`: whether moderators chose the weight of a vote, so that the site does not adjust it.
    """

    parameters: Parameters
    version: int
    applying: ChangeProgress | None = None
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class RankingChange:
    """One version of the parameters. `at`: when it was applied, in Unix seconds; 0 for the initial one.

    `learnt_from`: how many articles the site learnt the weight of a vote from; 0 if it did not.
    """

    version: int
    at: float
    actor_name: str
    reason: str
    parameters: Parameters
    learnt_from: int = 0


def values_of(parameters: Parameters) -> dict[str, str]:
    """The parameters as the store keeps them, with the weight they come to."""
    values = {name: _exact(value) for name, value in asdict(parameters).items()}
    return values | {"seconds_per_point": _exact(parameters.seconds_per_point)}


def parameters_from(values: Mapping[str, Any]) -> Parameters:
    """The parameters of a hash or an entry of the history."""
    floats = {name: float(values[name]) for name in _NAMES if name != "votes_per_day"}
    return Parameters(votes_per_day=round(float(values["votes_per_day"])), **floats)


def _exact(value: float) -> str:
    return f"{value:.17g}"


class RankingParameters:
    """The parameters of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_current(self) -> Parameters:
        """What ranks now."""
        return self.get_state().parameters

    def get_state(self) -> RankingState:
        """What ranks now, and what will."""
        directory, shards = self._store.shards.directory, self._store.shards.all
        with self._store.pipeline() as pipe:
            pipe.hgetall(directory.ranking)
            for keys in shards:
                pipe.zcard(keys.next_score)
                pipe.zcard(keys.order(Order.SCORE))
            values, *counts = pipe.execute()
        if "version" not in values:
            raise StoreUnfit(UNPREPARED)
        is_chosen = values.get("chosen") == "1"
        tuning = RankingState(parameters_from(values), int(values["version"]), is_chosen=is_chosen)
        if "next_version" not in values:
            return tuning
        upcoming = parameters_from({name: values[f"next_{name}"] for name in _NAMES})
        applying = ChangeProgress(upcoming, sum(counts[::2]), sum(counts[1::2]))
        return replace(tuning, applying=applying)

    def apply(
        self,
        parameters: Parameters,
        *,
        expected: int,
        actor: Actor,
        reason: str,
        is_chosen: bool | None = None,
        learnt_from: int = 0,
    ) -> None:
        """Begin to put parameters in force, if version `expected` still is; `advance` ends it.

        If the weight of a vote does not change, they apply immediately. `is_chosen`: whether the weight counts as
        the moderators' choice from then on; by default, if it differs. `learnt_from`: see TuningEntry.
        Raises ParametersChanged, TuningRunning, ValueError for parameters out of their range.
        """
        if wrong := out_of_range(parameters):
            raise ValueError(", ".join(wrong))
        directory, now = self._store.shards.directory, exact_time(self._store.now())
        named = [text for pair in values_of(parameters).items() for text in pair]
        chosen = "" if is_chosen is None else str(int(is_chosen))
        status, *rest = self._store.ask(
            "ranking/begin_change",
            expected,
            [directory.ranking],
            [expected, now, actor.name, reason, chosen, learnt_from, *named],
            handled=("changed",),
        )
        if status == "changed":
            raise ParametersChanged(int(rest[0]))
        self.advance(0)

    def advance(self, budget: float = 0) -> bool:
        """Go on with what is being applied, for about `budget` seconds but a step at least; whether it is done."""
        deadline = time.monotonic() + budget
        while (state := self.get_state()).applying:
            parameters, version = state.applying.parameters, state.version + 1
            same_weight = parameters.votes_per_day == state.parameters.votes_per_day
            if same_weight or self._stage(parameters, version):
                self._put_in_force(parameters, version)
            elif time.monotonic() >= deadline:
                return False
        return True

    def _stage(self, parameters: Parameters, version: int) -> bool:
        """One step in every shard; whether the ranking beside is whole."""
        weight = _exact(parameters.seconds_per_point)
        replies = self._store.run_many(
            [
                Call(
                    "ranking/stage_scores",
                    (keys.ranking, keys.next_score, keys.order(Order.TIME), keys.order(Order.SCORE)),
                    (keys.prefix, weight, ARTICLES_PER_STEP, version),
                )
                for keys in self._store.shards.all
            ]
        )
        return all(done for done, _, _ in replies)

    def _put_in_force(self, parameters: Parameters, version: int) -> None:
        """In all shards in one transaction. Repeating it changes nothing."""
        store, directory = self._store, self._store.shards.directory
        with store.pipeline() as pipe:
            pipe.hgetall(directory.ranking)
            pipe.hkeys(directory.groups)
            values, slugs = pipe.execute()
        if values.get("next_version") != str(version):
            return  # somebody else was faster
        now = exact_time(store.now())
        named = [text for pair in values_of(parameters).items() for text in pair]
        noted = self._noting(parameters, values, now)
        store.run_together(
            [noted]
            + [
                Call(
                    "ranking/apply",
                    (keys.ranking, keys.order(Order.SCORE), keys.next_score),
                    (keys.prefix, version, now, store.rules.hot_size, len(named), *named, *slugs),
                )
                for keys in store.shards.all
            ]
        )
        self._drop_rankings_of_groups_since(set(slugs))

    def _drop_rankings_of_groups_since(self, slugs: set[str]) -> None:
        """A group that was made in the last moment may have a ranking by the weight that was in force."""
        shards, directory = self._store.shards.all, self._store.shards.directory
        with self._store.commands() as client:
            if late := set(client.hkeys(directory.groups)) - slugs:
                with client.pipeline(transaction=True) as pipe:
                    pipe.unlink(*(keys.group_order(Order.SCORE, slug) for keys in shards for slug in late))
                    pipe.execute()

    def _noting(self, parameters: Parameters, values: Mapping[str, str], now: str) -> Call:
        directory, before = self._store.shards.directory, parameters_from(values)
        old, new = asdict(before), asdict(parameters)
        changes = {name: f"{old[name]:g} → {new[name]:g}" for name in _NAMES if old[name] != new[name]}
        told = {"version": values["next_version"]} | changes
        if learnt_from := values.get("next_learnt_from"):
            told["learnt_from"] = learnt_from
        return Call(
            "ranking/log_change",
            (directory.ranking, directory.tunings),
            (
                directory.prefix,
                values["next_version"],
                now,
                values["next_actor"],
                values["next_reason"],
                json.dumps(values_of(parameters)),  # as text: Lua's JSON would cut numbers to 14 digits
                json.dumps(values_of(before)),
                json.dumps(told),
                values.get("next_chosen", values.get("chosen", "0")),
            ),
        )

    def list_changes(self) -> list[RankingChange]:
        """What was in force, newest first; the first entry is in force now."""
        directory = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.lrange(directory.tunings, 0, -1)
            pipe.hgetall(directory.ranking)
            texts, values = pipe.execute()
        entries = [_entry(json.loads(text)) for text in texts]
        if not entries:
            return [RankingChange(int(values["version"]), 0.0, "", "", parameters_from(values))]
        return entries


def _entry(told: Mapping[str, Any]) -> RankingChange:
    return RankingChange(
        int(told["version"]),
        float(told["at"]),
        told["actor"],
        told["reason"],
        parameters_from(told["parameters"]),
        int(told.get("learnt_from", 0)),
    )


def is_chosen_by_moderators(history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a moderator made the last change of the weight of a vote. `history`: entries, newest first."""
    weights = [entry["parameters"]["votes_per_day"] for entry in history]
    for entry, after, before in zip(history, weights, weights[1:], strict=False):
        if after != before:
            return bool(entry["actor"])
    return False

"""The ranking's parameters: the current ones, and changing them.

Other votes per day move every article. So a second ranking is staged beside the current one, in steps, and every
vote meanwhile is written to both. When it is complete, it replaces the current ranking in all shards in one
transaction, which also rescores the hot list. Readers see the one or the other, never a mixture. The process that
began a change may die at any step: `advance`, called by any process, continues the change.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from articles.domain.errors import ParametersChanged, StoreDamaged, StoreUnfit
from articles.domain.lists import Order
from articles.domain.moderation_log import Actor
from articles.domain.ranking import RANGES, Parameters, out_of_range
from articles.repository.store.batches import ARTICLES_PER_STEP
from articles.repository.store.clients.guarded_connection import UNPREPARED
from articles.repository.store.connection import Call, OfStore, exact_time
from articles.repository.store.values import exact, number_from, parameters_from, values_of, whole_from

_NAMES = tuple(RANGES)

NEXT = "next_"  # beginning of the fields of a change that is being applied


@dataclass(frozen=True, slots=True)
class ChangeProgress:
    """A change that is being applied: `done` of `total` articles are scored with its parameters."""

    parameters: Parameters
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RankingState:
    """The current parameters, their version, and any change being applied.

    `is_chosen`: whether moderators chose the votes per day, so that the site does not adjust them.
    """

    parameters: Parameters
    version: int
    applying: ChangeProgress | None = None
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class RankingChange:
    """One version of the parameters. `at`: when it was applied, in Unix seconds; 0 for the initial one.

    `learnt_from`: number of articles from which the site learnt the votes per day; 0 if it did not.
    """

    version: int
    at: float
    actor_name: str
    reason: str
    parameters: Parameters
    learnt_from: int = 0


class RankingParameters(OfStore):
    """The parameters of a store."""

    def get_current(self) -> Parameters:
        """Return the current parameters. One round trip. Raises StoreUnfit if the store has lost them."""
        return self.get_state().parameters

    def get_state(self) -> RankingState:
        """Return the parameters, and a change being applied. One round trip. Raises StoreUnfit if lost."""
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
        state = RankingState(
            parameters_from(values), int(number_from(values["version"], "version")), is_chosen=is_chosen
        )
        if "next_version" not in values:
            return state
        upcoming = parameters_from({name: values[f"next_{name}"] for name in _NAMES})
        applying = ChangeProgress(upcoming, sum(counts[::2]), sum(counts[1::2]))
        return replace(state, applying=applying)

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
        """Begin to apply parameters, if version `expected` is still current; `advance` completes the change.

        If the votes per day do not change, the parameters apply immediately. `is_chosen`: whether the votes per
        day count as the moderators' choice from then on; by default, if they differ. `learnt_from`: see
        RankingChange. Two round trips; six if they apply immediately. Raises ParametersChanged, ChangeRunning,
        and ValueError for parameters out of their range.
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
        """Continue a change for about `budget` seconds, at least one step; return whether none is left to apply.

        One round trip without a change, else two for each step and four to complete it.
        """
        deadline = time.monotonic() + budget
        while (state := self.get_state()).applying:
            parameters, version = state.applying.parameters, state.version + 1
            same_scores = parameters.votes_per_day == state.parameters.votes_per_day
            if same_scores or self._stage(parameters, version):
                self._make_current(parameters, version)
            elif time.monotonic() >= deadline:
                return False
        return True

    def _stage(self, parameters: Parameters, version: int) -> bool:
        """Score a batch, of all shards together; return whether the staged ranking is complete."""
        seconds_per_point = exact(parameters.seconds_per_point)
        step = max(1, ARTICLES_PER_STEP // self._store.shards.count)
        replies = self._store.run_many(
            Call(
                "ranking/stage_scores",
                (keys.ranking, keys.next_score, keys.order(Order.TIME), keys.order(Order.SCORE)),
                (keys.prefix, seconds_per_point, step, version),
            )
            for keys in self._store.shards.all
        )
        return all(done for done, _, _ in replies)

    def _make_current(self, parameters: Parameters, version: int) -> None:
        """Make the parameters current in all shards, in one transaction with the entry of the log. Idempotent."""
        store, directory = self._store, self._store.shards.directory
        with store.pipeline() as pipe:
            pipe.hgetall(directory.ranking)
            pipe.hkeys(directory.groups)
            values, slugs = pipe.execute()
        if values.get("next_version") != str(version):
            return  # another process was faster
        now = exact_time(store.now())
        named = [text for pair in values_of(parameters).items() for text in pair]
        store.run_together(
            [
                self._log_call(parameters, values, now),
                *(
                    Call(
                        "ranking/apply",
                        (keys.ranking, keys.order(Order.SCORE), keys.next_score),
                        (keys.prefix, version, now, store.rules.hot_size, len(named), *named, *slugs),
                    )
                    for keys in store.shards.all
                ),
            ]
        )
        self._drop_rankings_of_new_groups(set(slugs))

    def _drop_rankings_of_new_groups(self, known: set[str]) -> None:
        """Drop rankings of groups created since the transaction was built: they may hold the old scores."""
        shards, directory = self._store.shards.all, self._store.shards.directory
        with self._store.commands() as client:
            if new := set(client.hkeys(directory.groups)) - known:
                with client.pipeline(transaction=True) as pipe:
                    for keys in shards:
                        pipe.unlink(*(keys.group_order(Order.SCORE, slug) for slug in new))
                    pipe.execute()

    def _log_call(self, parameters: Parameters, values: Mapping[str, str], now: str) -> Call:
        directory, before = self._store.shards.directory, parameters_from(values)
        old, new = asdict(before), asdict(parameters)
        changes = {name: f"{old[name]:g} → {new[name]:g}" for name in _NAMES if old[name] != new[name]}
        details = {"version": values["next_version"]} | changes
        if learnt_from := values.get("next_learnt_from"):
            details["learnt_from"] = learnt_from
        return Call(
            "ranking/log_change",
            (directory.ranking, directory.tunings),
            (
                directory.prefix,
                values["next_version"],
                now,
                values["next_actor"],
                values["next_reason"],
                json.dumps(values_of(parameters)),  # as text, because Lua's JSON cuts numbers to 14 digits
                json.dumps(values_of(before)),
                json.dumps(details),
                values.get("next_chosen", values.get("chosen", "0")),
            ),
        )

    def list_changes(self) -> list[RankingChange]:
        """Return all versions, the current one first. One round trip. Raises StoreDamaged."""
        directory = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.lrange(directory.tunings, 0, -1)
            pipe.hgetall(directory.ranking)
            texts, values = pipe.execute()
        entries = [_entry(text) for text in texts]
        if not entries:
            if "version" not in values:
                raise StoreUnfit(UNPREPARED)
            version = whole_from(values["version"], "version")
            return [RankingChange(version, 0.0, "", "", parameters_from(values))]
        return entries


def _entry(text: str) -> RankingChange:
    """Return a version from its entry in the history. Raises StoreDamaged."""
    try:
        return _change_from(json.loads(text))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"a version of the ranking parameters is {text[:40]!r}") from error


def _change_from(values: Mapping[str, Any]) -> RankingChange:
    return RankingChange(
        int(values["version"]),
        float(values["at"]),
        values["actor"],
        values["reason"],
        parameters_from(values["parameters"]),
        int(values.get("learnt_from", 0)),
    )

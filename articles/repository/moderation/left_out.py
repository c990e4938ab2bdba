"""Votes that are left out of ranking: by moderators, or on probation; the audit and repair of their records.

The shards follow an act one after the other, and the first shard records it as done only after all others. So
another shard may follow an earlier act as long as the first shard's act is open, but not once it is done.

A new member's votes are left out in the same way, but wait: the member is on probation, which begins with the
first act on the member, and ends with any other one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK
from articles.repository.store.connection import OfStore, Value, exact_time
from articles.repository.store.findings import Finding, carry_out
from articles.repository.store.keys import Keys
from articles.repository.store.scan import batches, hash_fields, set_members


def leaves_out(act: int) -> bool:
    """Return whether an act with this number leaves choices out: acts alternate, and the first leaves out."""
    return act % 2 == 1


@dataclass(frozen=True, slots=True)
class LeftOutState:
    """Whether a member's choices are left out of ranking, and why."""

    is_left_out: bool  # whether moderators left them out
    is_settled: bool  # whether all articles and comments are settled; False after an act that was interrupted
    waits: bool = False  # whether they wait until the member's probation ends


class LeftOutVotes(OfStore):
    """The acts of a store. Each step is one script in one shard, so an act can be interrupted and repeated."""

    def get_state(self, member: UserId) -> LeftOutState:
        """Return what is decided about a member's choices. One round trip."""
        keys = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.sismember(keys.left_out, str(member))
            pipe.sismember(keys.probation, str(member))
            pipe.hget(keys.left_out_acts, str(member))
            is_left_out, on_probation, act = pipe.execute()
        state = _state_from(act, is_left_out, on_probation)
        return LeftOutState(state.is_left_out and not state.waits, state.is_done, state.waits)

    def leave_out(self, member: UserId, name: str, actor: Actor, reason: str) -> Iterator[int]:
        """Leave a member's choices on open articles and comments, and all later ones, out of ranking; log it.

        Yields the number of articles and comments that each step changed. One round trip for each batch of the
        member's lists, and of the open comments with votes, in each shard. Idempotent, and continues an act that
        was interrupted. Raises StoreError.
        """
        yield from self._carry_out(member, "1", (actor.name, name, reason, ""))

    def count_again(self, member: UserId, name: str, actor: Actor, reason: str) -> Iterator[int]:
        """Count a member's choices, on those still open and all later ones, again. Otherwise like `leave_out`."""
        yield from self._carry_out(member, "0", (actor.name, name, reason, ""))

    def go_on(self, member: UserId) -> Iterator[int]:
        """Continue an act that was interrupted. Otherwise like `leave_out`."""
        yield from self._carry_out(member, "", ("", "", "", ""))

    def may_begin_probation(self, member: UserId) -> bool:
        """Return whether nothing was ever decided about a member, or not in every shard. One round trip."""
        keys = self._store.shards.directory
        with self._store.commands() as client:
            act = client.hget(keys.left_out_acts, str(member))
        return act in (None, f"{PROBATION_ACT} open")

    def begin_probation(self, member: UserId) -> None:
        """Let a member's choices wait from now on, unless anything was ever decided about them. Idempotent.

        `go_on` settles earlier ones. One round trip for each shard. Raises StoreError.
        """
        first, *others = self._store.shards.all
        now = exact_time(self._store.now())
        act, wanted = self._decide(first, member, "wait", "", now, "", "", "", "new")
        if act == PROBATION_ACT and wanted == "wait":
            for keys in others:
                self._decide(keys, member, wanted, act)

    def end_probation(self, member: UserId) -> Iterator[int]:
        """Count the choices of a member on probation, without a log entry. Otherwise like `count_again`."""
        yield from self._carry_out(member, "0", ("", "", "", "wait"))

    def fail_probation(self, member: UserId, name: str = "", actor: str = "", reason: str = "") -> Iterator[int]:
        """Like `leave_out` after a probation. `actor`: the moderator's name; "" for no log entry."""
        yield from self._carry_out(member, "1", (actor, name, reason, "wait"))

    def list_on_probation(self, most: int) -> dict[UserId, bool]:
        """Return some members on probation, and whether an act is open. One or two round trips."""
        keys = self._store.shards.directory
        with self._store.commands() as client:
            members = client.srandmember(keys.probation, most)
            acts = client.hmget(keys.left_out_acts, members) if members else []
        return {int(member): (act or "").endswith(" open") for member, act in zip(members, acts, strict=True)}

    def _carry_out(self, member: UserId, wanted: str, entry: tuple[str, str, str, str]) -> Iterator[int]:
        """Carry out an act. `wanted`: "1" leaves out, "0" counts, "" continues; `entry`: of the log, or "wait"."""
        first, *others = self._store.shards.all
        act, wanted = self._decide(first, member, wanted, "", exact_time(self._store.now()), *entry)
        if not act:
            return
        for keys in others:
            if self._decide(keys, member, wanted, act)[0]:
                yield from self.settle(keys, member, act)
        yield from self.settle(first, member, act)  # last: its "done" means that all others are done

    def _decide(self, keys: Keys, member: UserId, wanted: str, act: str, *entry: str) -> list[str]:
        """Make one shard follow the act; return the act, and what it does: see `left_out/decide`.

        The act is "" if nothing is left to settle in the shard.
        """
        arguments: list[Value] = [member, wanted, act, keys.prefix, *entry]
        given = [keys.left_out, keys.left_out_acts]
        return self._store.change("left_out/decide", member, given, arguments)

    def settle(self, keys: Keys, member: UserId, act: str) -> Iterator[int]:
        """Apply an act that is open in one shard to its articles and comments. Otherwise like `leave_out`."""
        now = exact_time(self._store.now())
        for script, chosen, size in (
            ("left_out/settle", keys.votes_of(member), ARTICLES_PER_CHECK),
            ("left_out/settle", keys.opposes_of(member), ARTICLES_PER_CHECK),
            ("left_out/settle_comments", keys.comment_voters, ENTRIES_PER_CHECK),  # last: it ends the act
        ):
            since, given = "-inf", [chosen, keys.left_out_acts]
            while since:
                arguments: list[Value] = [keys.prefix, member, act, now, since, size]
                changed, since = self._store.change(script, member, given, arguments)
                yield int(changed)


_ACT = re.compile(r"([1-9][0-9]*) (open|done)")
PROBATION_ACT = "1"  # the act that begins probation, as `lua/lib/left_out.lua` has it


class _State(NamedTuple):
    """One shard's record of a member: the number of the act that it follows, 0 for none, and its state."""

    act: int
    is_done: bool
    is_left_out: bool
    on_probation: bool

    @property
    def is_sound(self) -> bool:
        """Whether the record agrees with the act that the shard follows."""
        return self.is_left_out == leaves_out(self.act)

    @property
    def waits(self) -> bool:
        return self.is_left_out and self.on_probation and str(self.act) == PROBATION_ACT


_States = tuple[_State, ...]  # the record of a member in each shard, the first shard first


class LeftOutUpkeep(OfStore):
    """The audit and the repair of left-out members and acts, between the shards of a store."""

    def check(self) -> Iterator[Finding]:
        """Yield what is wrong with the acts of members. One round trip for each batch. Raises StoreError."""
        for member, states in self._read_all():
            yield from self._problems(member, states)

    def repair(self) -> None:
        """Complete the last act on each member's votes in every shard. Idempotent. Raises StoreError."""
        for member, states in self._read_all():
            if self._is_wrong(member, states):
                self._repeat(member, states)
            elif not states[0].is_done:
                carry_out(LeftOutVotes(self._store).go_on(member))

    def _repeat(self, member: UserId, states: _States) -> None:
        """Carry out the last act again in every shard. The first shard begins it first and completes it last."""
        # If all acts are lost, one that leaves the first shard as it is.
        act = max(state.act for state in states) or (1 if states[0].is_left_out else 2)
        (first, *others), votes = self._store.shards.all, LeftOutVotes(self._store)
        sound = [state for state in states if state.act == act and state.is_sound]
        waits = str(act) == PROBATION_ACT and any(state.on_probation for state in sound[:1] or states)
        self._begin(first, member, act, waits=waits)
        for keys in others:
            self._begin(keys, member, act, waits=waits)
            carry_out(votes.settle(keys, member, str(act)))
        carry_out(votes.settle(first, member, str(act)))

    def _begin(self, keys: Keys, member: UserId, act: int, *, waits: bool) -> None:
        given: list[Value] = [member, act, int(leaves_out(act)), int(waits)]
        self._store.change("left_out/repair", member, [keys.left_out, keys.left_out_acts, keys.probation], given)

    def _read_all(self) -> Iterator[tuple[UserId, _States]]:
        """Yield the shards' records of each member; wrong ones only if two readings agree.

        One reading may catch an act between two shards. The numbers of a member's acts only grow, so what two
        readings agree on was true in every shard at the moment between them.
        """
        for batch in batches(self._members(), ENTRIES_PER_CHECK):
            found = dict(zip(map(int, batch), self._read(batch), strict=True))
            wrong = [str(member) for member, states in found.items() if self._is_wrong(member, states)]
            again = dict(zip(map(int, wrong), self._read(wrong), strict=True))
            yield from ((one, states) for one, states in found.items() if again.get(one, states) == states)

    def _members(self) -> set[UserId]:
        """Return the members of whom any shard has a record."""
        found = set[str]()
        for keys in self._store.shards.all:
            found.update(hash_fields(self._store, keys.left_out_acts), set_members(self._store, keys.left_out))
            found.update(set_members(self._store, keys.probation))
        return {int(member) for member in found if member.isascii() and member.isdigit()}

    def _read(self, members: list[str]) -> list[_States]:
        """Return the shards' records of each of these members. One round trip, none without members."""
        if not members:
            return []
        replies = self._store.in_shards(
            lambda pipe, keys: (
                pipe.hmget(keys.left_out_acts, members),
                pipe.smismember(keys.left_out, members),
                pipe.smismember(keys.probation, members),
            )
        )
        shards = [map(_state_from, *replies[at : at + 3]) for at in range(0, len(replies), 3)]
        return list(zip(*shards, strict=True))

    def _is_wrong(self, member: UserId, states: _States) -> bool:
        return any(True for _ in self._problems(member, states))

    def _problems(self, member: UserId, states: _States) -> Iterator[Finding]:
        first = states[0]
        for keys, state in zip(self._store.shards.all, states, strict=True):
            if not state.is_sound:
                says = "leaves" if leaves_out(state.act) else "does not leave"
                yield Finding(keys.left_out, f"act {state.act} {says} the choices of {member} out of ranking")
            if state.on_probation and state.is_done and not state.waits:
                yield Finding(keys.probation, f"the choices of {member} do not wait by act {state.act}")
            if state.act > first.act:
                yield Finding(keys.left_out_acts, f"act {state.act} of {member}, in the first shard {first.act}")
            elif first.is_done and state[:2] != first[:2]:
                yield Finding(keys.left_out_acts, f"act {first.act} of {member} is done in the first shard only")
            elif first.is_done and state.on_probation != first.on_probation:
                yield Finding(keys.probation, f"{member} is on probation in some shards only")


def _state_from(act: str | None, is_left_out: int, on_probation: int) -> _State:
    """Return a shard's record of a member; an act that cannot be read counts as none."""
    parts = _ACT.fullmatch(act or "")
    number, state = parts.groups() if parts else ("0", "done")
    return _State(int(number), state == "done", bool(is_left_out), bool(on_probation))

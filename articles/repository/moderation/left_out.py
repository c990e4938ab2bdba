"""Acts of moderators: leave a member's choices on articles and comments out of ranking, or count them again."""

from collections.abc import Iterator
from dataclasses import dataclass

from articles.domain.members import UserId
from articles.domain.moderation.log import Actor
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.keys import Keys


def leaves_out(act: int) -> bool:
    """Return whether an act with this number leaves choices out: acts alternate, and the first leaves out."""
    return act % 2 == 1


@dataclass(frozen=True, slots=True)
class LeftOutState:
    """Whether a member's choices are left out of ranking."""

    is_left_out: bool
    is_settled: bool
    """Whether all articles and comments are settled; False after an act that was interrupted."""


class LeftOutVotes:
    """The acts of a store. Each step is one script in one shard, so an act can be interrupted and repeated."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_state(self, member: UserId) -> LeftOutState:
        """Return what moderators decided about a member's choices. One round trip."""
        keys = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.sismember(keys.left_out, str(member))
            pipe.hget(keys.left_out_acts, str(member))
            is_left_out, act = pipe.execute()
        return LeftOutState(bool(is_left_out), not (act or "").endswith(" open"))

    def leave_out(self, member: UserId, name: str, actor: Actor, reason: str) -> Iterator[int]:
        """Leave a member's choices on open articles and comments, and all later ones, out of ranking; log it.

        Yields the number of articles and comments that each step changed. One round trip for each batch of the
        member's lists, and of the open comments with votes, in each shard. Idempotent, and continues an act that
        was interrupted. Raises StoreError.
        """
        yield from self._carry_out(member, "1", (actor.name, name, reason))

    def count_again(self, member: UserId, name: str, actor: Actor, reason: str) -> Iterator[int]:
        """Count a member's choices, on those still open and all later ones, again. Otherwise like `leave_out`."""
        yield from self._carry_out(member, "0", (actor.name, name, reason))

    def go_on(self, member: UserId) -> Iterator[int]:
        """Continue an act that was interrupted. Otherwise like `leave_out`."""
        yield from self._carry_out(member, "", ("", "", ""))

    def _carry_out(self, member: UserId, wanted: str, entry: tuple[str, str, str]) -> Iterator[int]:
        """Carry out an act. `wanted`: "1" leaves out, "0" counts, "" continues; `entry`: what the log says."""
        first, *others = self._store.shards.all
        act, wanted = self._decide(first, member, wanted, "", exact_time(self._store.now()), *entry)
        if not act:
            return
        for keys in others:
            if self._decide(keys, member, wanted, act)[0]:
                yield from self.settle(keys, member, act)
        yield from self.settle(first, member, act)  # last: its "done" means that all others are done

    def _decide(self, keys: Keys, member: UserId, wanted: str, act: str, *entry: str) -> list[str]:
        """Make one shard follow the act; return the act and whether it leaves out ("1") or counts ("0").

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

"""One move: a copy, the changes made meanwhile, and a few seconds without changes for the last of them."""

import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from itertools import chain

from articles.domain.lists import Order
from articles.repository.backup import BackupReader, Backups, Layout
from articles.repository.changes import Changes as IndexedChanges
from articles.repository.lists.hot import Hot
from articles.repository.moving import marks
from articles.repository.moving.carrier import Carrier, Changes
from articles.repository.moving.marks import Place
from articles.repository.store import keys as names
from articles.repository.store import schema
from articles.repository.store.batches import ENTRIES_PER_STEP
from articles.repository.store.connection import Store, Value
from articles.repository.upkeep import upgrades
from articles.repository.upkeep.audit import Audit
from articles.repository.upkeep.repair import Repair

Progress = Callable[[str, int, int], None]
"""Receives the name of the step, the amount done, and the total."""

COPYING, REBUILDING, CHECKING, FOLLOWING, SWITCHING = (
    *("copying", "rebuilding lists", "checking"),
    *("carrying changes", "switching"),
)
REFUSED_SECONDS = 20
"""Seconds after which a store takes changes again if the move is interrupted in its last step."""

_LEAST_LEFT = 5
"""How many of those seconds must be left when the site is switched."""

_MOMENT = 0.5
"""A round this short, in seconds, leaves little to carry while changes are refused."""

_NO_LESS = 0.9
"""Share of the shortest round; if a round takes longer, further rounds would not get shorter."""

_MOST_ROUNDS = 50
_MOST_CHECKS = 3


class MoveFailed(Exception):
    """A move that cannot be made or finished; one sentence for the operator. The site stays on its store."""


class Move:
    """A move from one store to another. Each step can be interrupted and repeated. Raises StoreError."""

    def __init__(self, source: Store, target: Store) -> None:
        self._source = source
        self._target = target
        self._repair = Repair(target, Hot(target))
        self._mark = marks.COPYING

    def copy(self, progress: Progress) -> list[str]:
        """Copy everything while the site is in use; return what the audit of the copy finds, one line each.

        After an interruption it continues with the changes if everything was copied once, otherwise it restarts.
        Raises MoveFailed.
        """
        if marks.other_place(self._source, marks.MOVED_FROM):
            raise MoveFailed("The last move is not confirmed yet: run `manage.py move_store --confirm`.")
        if self._is_copied():
            marks.note_changes(self._source)  # which its last step may have refused
            self._continue(progress)
        else:
            marks.clear(self._source)
            marks.name_move(self._source)
            marks.note_changes(self._source)
            self._copy_all(progress)
        self.follow(progress)
        return self._check_copy(progress)

    def _check_copy(self, progress: Progress) -> list[str]:
        """Return what the audit of the copy finds again once later changes are carried, one line each.

        A vote made while it was carried may be in one list and not in the other until it is carried again.
        """
        findings: list[str] | None = None
        for _ in range(_MOST_CHECKS):
            audit = map(str, Audit(self._target).run(lambda done, total: progress(CHECKING, done, total)))
            findings = [finding for finding in audit if findings is None or finding in findings]
            self.follow(progress)
            if not findings:
                break
        return findings or []

    def _is_copied(self) -> bool:
        """Return whether the other store is a whole copy, made by a move that has recorded changes ever since."""
        with self._target.commands() as client:
            copy, shards = client.hmget(names.SCHEMA, marks.COPY, "shards")
        return copy is not None and (copy, shards) == (self._name, str(self._target.shards.count))

    def _continue(self, progress: Progress) -> None:
        """Continue a copy that may have ended between writing an article and putting it into its lists."""
        self._close_target(self._name)
        self.follow(progress)
        self._repair.run(lambda done, total: progress(REBUILDING, done, total))

    @property
    def _id(self) -> str:
        return f"{schema.MOVE_OF} {self._layout.site}"

    @property
    def _name(self) -> str | None:
        return marks.move_of(self._source, marks.MOVE)

    @cached_property
    def _layout(self) -> Layout:
        return Backups(self._source).get_layout()

    def _copy_all(self, progress: Progress) -> None:
        reader = Backups(self._source).read(lambda _name: None)
        restore = Backups(self._target).restore(self._id, self._layout)
        restore.begin()
        articles = reader.iterate_articles(lambda done, total: progress(COPYING, done, total))
        restore.write(chain(reader.iterate_lists(), articles, reader.iterate_site()), lambda _done: None)
        schema.stamp(self._target)
        upgrades.upgrade(self._target)
        self._target.load_scripts()
        self._repair.rebuild(lambda done, total: progress(REBUILDING, done, total))
        self._close_target(self._name)

    def follow(self, progress: Progress) -> None:
        """Carry what has changed since it was copied, until a round takes a moment, or no less than others."""
        shortest = float("inf")
        for _ in range(_MOST_ROUNDS):
            began = time.monotonic()
            progress(FOLLOWING, 0, marks.count_changed(self._source))
            self._carry()
            took = time.monotonic() - began
            if took < _MOMENT or took > shortest * _NO_LESS:
                break
            shortest = took

    def _carry(self) -> None:
        changes = Changes.among(marks.take_changed(self._source))
        self._carrier.carry(changes)
        marks.forget_taken(self._source)

    @cached_property
    def _carrier(self) -> Carrier:
        reader = BackupReader(self._source, lambda _name: None, surveyed=False)
        return Carrier(self._source, self._target, self._repair, reader, self._layout)

    def switch(self, here: Place, there: Place, progress: Progress) -> float:
        """Carry the last changes, and let the site use the other store; return for how long changes were refused.

        The other store notes what changes there, so that the site can return. Raises MoveFailed.
        """
        progress(SWITCHING, 0, 1)
        name = self._name
        self._carrier.carry_outside()
        self._carry()
        began = time.monotonic()
        marks.refuse_changes(self._source, REFUSED_SECONDS)
        try:
            self._carry()
            self._carrier.carry_outside()
            self._compare()
            if name is None or name != marks.move_of(self._target, marks.COPY) or name != self._name:
                raise MoveFailed("Meanwhile the move was cancelled, or another one was begun.")
            if time.monotonic() - began > REFUSED_SECONDS - _LEAST_LEFT:
                raise MoveFailed("The last changes took too long to carry. Try again when the site is less busy.")
            self._prepare_return(here)
            IndexedChanges(self._target).begin_copy()  # carried changes are not noted for search indexes
            if not marks.finish(self._source):
                raise MoveFailed("The last changes took too long to carry. Try again when the site is less busy.")
        except BaseException:
            self._close_target(name)
            marks.reopen(self._source, self._mark) if self._name else marks.clear(self._source)
            raise
        # From here on the site is in the other store, even if this process does not learn of it.
        marks.name_place(self._source, marks.MOVED_TO, there)
        marks.open_copy(self._target, name)
        progress(SWITCHING, 1, 1)
        return time.monotonic() - began

    def undo(self, here: Place, there: Place, progress: Progress) -> float:
        """Let the site return to the store that it was moved from, with all changes since.

        Returns for how long changes were refused. Raises MoveFailed.
        """
        if marks.other_place(self._source, marks.MOVED_FROM) is None:
            raise MoveFailed("The site was not moved to this store, or the move is confirmed.")
        self._mark = marks.NOTING
        if self._is_copied():
            marks.note_changes(self._source, self._mark)
            self._continue(progress)
        else:
            marks.name_move(self._source)
            self._close_target(self._name)
        self.follow(progress)
        return self.switch(here, there, progress)

    def _prepare_return(self, here: Place) -> None:
        """Let the other store note what changes there, unless the site returns to it."""
        if self._mark == marks.COPYING:
            marks.note_changes(self._target, marks.NOTING)
            marks.name_place(self._target, marks.MOVED_FROM, here)

    def _close_target(self, name: str | None) -> None:
        """Let no site start on the other store: it is a copy that the move with this name will carry on."""
        marks.close_copy(self._target, self._id, name or "")

    def _compare(self) -> None:
        """Raise MoveFailed unless both stores have the same articles, votes, and choices of members."""
        here, there = sum_up(self._source), sum_up(self._target)
        if differing := sorted(name for name in here | there if here[name] != there[name]):
            raise MoveFailed(f"The copy is not complete. What differs: {', '.join(differing)}.")


def sum_up(store: Store) -> Counter[str]:
    """Return sums over the articles of a store, and over the choices of its members. In steps of every shard."""
    sums = Counter[str]()
    for keys in store.shards.all:
        for name, ranking, kind in (
            ("articles", keys.order(Order.TIME), "articles"),
            ("removed articles", keys.removed, "articles"),
            ("comments with votes", keys.comment_voters, "comments"),
        ):
            done, read = 0, 1
            while read:
                step: list[Value] = [keys.prefix, kind, done, ENTRIES_PER_STEP]
                read, votes, choices = store.run("moving/sum_choices", [ranking], step)
                done += read
                sums += Counter({name: read, "votes": int(votes), "choices of members": int(choices)})
    return sums

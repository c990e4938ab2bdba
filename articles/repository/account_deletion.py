"""The removal of a deleted account's name from the store.

Articles, comments and votes of a deleted account stay, anonymised. What it posted keeps its number until the last
pass, so that moderators can still treat it together; an empty name says that the account is deleted. A member gets
another name in the same way.
"""

from collections.abc import Callable

from articles.domain.comments import article_of
from articles.domain.errors import StoreError
from articles.domain.members import DELETED_MEMBER, DELETED_NAME, UserId
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, OfStore, Value
from articles.repository.store.keys import Keys

_KINDS = ("articles", "comments", "flags", "log")
"""What is anonymised or, of flags, withdrawn, in this order."""

NAMES_PER_SCRIPT = 50  # articles, comments, flags, or entries of the moderation log, that one script handles


class AccountDeletion(OfStore):
    """The account deletions of a store. Every step runs in one shard and is idempotent."""

    def advance(
        self, user: UserId, name: str, progress: str, more: Callable[[], bool], *, is_last: bool = False
    ) -> str:
        """Continue a pass from `progress` ('' at first); return the new progress, '' when it is complete.

        `is_last`: also remove the member's number from articles and comments, and the lists of them.

        From the first step on the member can no longer post or vote, and their lists of votes, opposes and visits
        and their inbox are gone. Then their articles, their comments and the moderation log are anonymised, and
        their flags withdrawn, a batch in each step, while `more()` is true; at least
        one step is taken. The list of saved articles is deleted last. One round trip, and one or two for each
        step. Raises StoreError.
        """
        with self._store.retracting([]):
            self._revoke(user)
        kind, shard, cursor = (*progress.split(), *("",) * 3)[:3]
        left, at, cursor = list(_KINDS[_KINDS.index(kind or _KINDS[0]) :]), int(shard or "0"), cursor or "0"
        while True:
            heir = DELETED_MEMBER if is_last else user
            cursor = self._step(left[0], self._store.shards.all[at], user, heir, name, cursor)
            if not cursor:
                at, cursor = at + 1, "0"
                if at == self._store.shards.count:
                    left, at = left[1:], 0
            if not left:
                break
            if not more():
                return f"{left[0]} {at} {cursor}"
        with self._store.commands() as client:
            client.unlink(names.saved(user))
        return ""

    def _revoke(self, user: UserId) -> None:
        self._store.run_many(
            Call("account_deletion/revoke", (keys.deleted_members,), (user, keys.prefix))
            for keys in self._store.shards.all
        )

    def rename(self, user: UserId, former: str, name: str, progress: Callable[[int], object]) -> None:
        """Replace a member's name in what they posted and in the moderation log. Safe to interrupt and to repeat.

        About two round trips for each 50 articles, comments or entries of the log. `progress`: how many of these
        are done. Raises StoreError.
        """
        done = 0
        for keys in self._store.shards.all:
            for kind in ("articles", "comments"):
                first = 0
                while True:
                    count = self._give(kind, keys, user, user, name, first)
                    first += count
                    progress(done + first)
                    if count < NAMES_PER_SCRIPT:
                        break
                done += first
            cursor = "0"
            while cursor := self._replace_in_log(keys, former, name, cursor):
                done += NAMES_PER_SCRIPT
                progress(done)

    def _step(self, kind: str, keys: Keys, user: UserId, heir: UserId, name: str, cursor: str) -> str:
        """Take one step in one shard; return the next cursor, '' when this kind is done in the shard."""
        if kind == "flags":
            return "" if self._withdraw_flags(keys, user) else "0"
        if kind == "log":
            return self._replace_in_log(keys, name, DELETED_NAME, cursor)
        first = int(cursor) if heir == user else 0
        count = self._give(kind, keys, user, heir, "", first)
        return "" if count < NAMES_PER_SCRIPT else str(first + count)

    def _replace_in_log(self, keys: Keys, name: str, replacement: str, cursor: str) -> str:
        following, changed = self._store.run(
            "account_deletion/anonymise_log",
            [keys.log, keys.tunings, keys.ranking],
            [name, replacement, cursor, NAMES_PER_SCRIPT],
        )
        if changed:  # the pages of articles show their entries
            self._store.retract(None)
        return str(following)

    def _give(self, kind: str, keys: Keys, user: UserId, heir: UserId, name: str, first: int) -> int:
        """Give a batch of the member's articles or comments to another member, or another name to the member.

        Return its size. What goes to another member leaves the list, so that it holds exactly what is left. All
        pages are retracted if the reply is lost.
        """
        are_comments = kind == "comments"
        posted = keys.commented(user) if are_comments else keys.posted(user)
        whose: list[Value] = [user, heir, name, first, NAMES_PER_SCRIPT, keys.prefix, int(are_comments)]
        try:
            count, changed = self._store.run("account_deletion/anonymise_posts", [posted], whose)
        except StoreError:
            self._store.retract(None)
            raise
        ids = map(int, changed)
        self._store.retract(set(map(article_of, ids) if are_comments else ids))
        return int(count)

    def _withdraw_flags(self, keys: Keys, user: UserId) -> bool:
        """Withdraw a batch of the member's flags; return whether the shard is done."""
        given: list[Value] = [user, NAMES_PER_SCRIPT, keys.prefix]
        (count,) = self._store.run("flags/withdraw", [keys.flags_by(user)], given)
        return int(count) < NAMES_PER_SCRIPT

"""Account deletion in the store: removes the member's name. Articles, comments and votes stay, anonymised."""

from collections.abc import Callable

from articles.domain.discussion.comments import article_of
from articles.domain.members import DELETED_NAME, UserId
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.repository.store.values import article_id_from
from articles.searching import words_of

_KINDS = ("articles", "comments", "flags", "log")
"""What is anonymised or, of flags, withdrawn, in this order."""

NAMES_PER_SCRIPT = 50
"""Articles, comments, flags, or entries of the moderation log, that one script handles."""


class AccountDeletion:
    """The account deletions of a store. Every step runs in one shard and is idempotent."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def advance(self, user: UserId, name: str, progress: str, more: Callable[[], bool]) -> str:
        """Continue a deletion from `progress` ('' at first); return the new progress, '' when it is complete.

        From the first step on the member can no longer post or vote, and their lists of votes, opposes and visits
        and their inbox are gone. Then their articles, their comments and the moderation log are anonymised, and
        their flags withdrawn, a batch in each step, while `more()` is true; at least one step is taken. The list
        of saved articles is deleted last. One round trip, and one or two for each step. Raises StoreError.
        """
        with self._store.retracting([]):
            self._revoke(user)
        kind, shard, cursor = (*progress.split(), *("",) * 3)[:3]
        left, at, cursor = list(_KINDS[_KINDS.index(kind or _KINDS[0]) :]), int(shard or "0"), cursor or "0"
        while True:
            cursor = self._step(left[0], self._store.shards.all[at], user, name, cursor)
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
        shards = self._store.shards.all
        self._store.run_many(
            [
                Call(
                    "account_deletion/revoke",
                    (
                        keys.deleted_members,
                        keys.votes_of(user),
                        keys.opposes_of(user),
                        keys.inbox(user),
                        keys.visits(user),
                    ),
                    (user,),
                )
                for keys in shards
            ]
        )

    def _step(self, kind: str, keys: Keys, user: UserId, name: str, cursor: str) -> str:
        """Take one step in one shard; return the next cursor, '' when this kind is done in the shard."""
        if kind == "articles":
            return "" if self._anonymise_articles(keys, user) else "0"
        if kind == "comments":
            return "" if self._anonymise_comments(keys, user) else "0"
        if kind == "flags":
            return "" if self._withdraw_flags(keys, user) else "0"
        lists = [keys.log, keys.tunings, keys.ranking]
        following, changed = self._store.run(
            "account_deletion/anonymise_log", lists, [name, DELETED_NAME, cursor, NAMES_PER_SCRIPT]
        )
        if changed:  # the pages of articles show their entries
            self._store.retract(None)
        return str(following)

    def _anonymise_articles(self, keys: Keys, user: UserId) -> bool:
        """Anonymise a batch of the member's articles; return whether all of the shard are done.

        The script that anonymises an article also removes it from the member's list, so the list holds exactly the
        articles that are left. An article that is edited meanwhile stays for the next step.
        """
        posted = keys.posted(user)
        flat = self._store.run("members/find_posted", [posted], [keys.prefix, NAMES_PER_SCRIPT])
        rows: list[str] = []
        for article_id, title, link in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
            rows += [article_id, title, link, words_of(title, link, "")]
        if not rows:
            return True
        with self._store.retracting(list(map(article_id_from, rows[::4]))):
            changed = self._store.run(
                "account_deletion/anonymise_articles", [keys.lexicon, posted], [keys.prefix, user, *rows]
            )
        return not changed and len(flat) < 3 * NAMES_PER_SCRIPT

    def _anonymise_comments(self, keys: Keys, user: UserId) -> bool:
        """Anonymise a batch of the member's comments; return whether all of the shard are done."""
        ids: list[str] = self._store.run(
            "account_deletion/anonymise_comments", [keys.commented(user)], [user, NAMES_PER_SCRIPT, keys.prefix]
        )
        if ids:
            self._store.retract({article_of(int(comment_id)) for comment_id in ids})
        return len(ids) < NAMES_PER_SCRIPT

    def _withdraw_flags(self, keys: Keys, user: UserId) -> bool:
        """Withdraw a batch of the member's flags; return whether all of the shard are done."""
        (count,) = self._store.run("flags/withdraw", [keys.flags_by(user)], [user, NAMES_PER_SCRIPT, keys.prefix])
        return int(count) < NAMES_PER_SCRIPT

"""What is left to do for a member whose account is deleted: the name goes, articles and votes stay."""

from collections.abc import Callable

from articles.domain.members import DELETED_NAME, UserId
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.searching import words_of

_ARTICLES, _LOG = "articles", "log"
NAMES_PER_SCRIPT = 50
"""Articles that lose the name, or entries of the log, in one script. Few: an article's words are indexed again."""


class AccountDeletion:
    """The departures of a store. Every step is one script in one shard, and may be repeated."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def advance(self, user: UserId, name: str, progress: str, more: Callable[[], bool]) -> str:
        """Go on with what `progress` says was not done yet ('' at first); returns how far it is, '' when all is.

        Nobody of that id chooses or posts anything from the first step on, nor is what they chose listed. Then the
        name goes from all they posted and from the moderation log, some of it in each step, as long as `more()`;
        at least one step is done. Their list of what they saved goes last.
        """
        self._revoke(user)
        kind, shard, done = (*progress.split(), *("",) * 3)[:3]
        kind, shard, done = kind or _ARTICLES, shard or "0", done or "0"
        at = int(shard)
        while True:
            done = self._step(kind, self._store.shards.all[at], user, name, done)
            if not done:
                at += 1
                if at == self._store.shards.count:
                    if kind == _LOG:
                        break
                    kind, at = _LOG, 0
                done = "0"
            if not more():
                return f"{kind} {at} {done}"
        with self._store.commands() as client:
            client.unlink(names.saved(user))
        return ""

    def _revoke(self, user: UserId) -> None:
        shards = self._store.shards.all
        self._store.run_many(
            [
                Call("account_deletion/revoke", (keys.gone, keys.votes_of(user), keys.opposes_of(user)), (user,))
                for keys in shards
            ]
        )

    def _step(self, kind: str, keys: Keys, user: UserId, name: str, done: str) -> str:
        if kind == _ARTICLES:
            return "" if self._anonymise_articles(keys, user) else "0"
        return self._anonymise_log(keys, name, done)

    def _anonymise_log(self, keys: Keys, name: str, done: str) -> str:
        lists = [keys.log, keys.tunings, keys.ranking]
        (further,) = self._store.run(
            "account_deletion/anonymise_log", lists, [name, DELETED_NAME, done, NAMES_PER_SCRIPT]
        )
        return str(further)

    def _anonymise_articles(self, keys: Keys, user: UserId) -> bool:
        """Take the name off some articles the member posted; whether it is off all of a shard.

        One script writes an article and its place on the member's list, and one takes the name off and the article
        off the list, so no other article is looked at. One that is edited meanwhile stays for the next step.
        """
        posted = keys.posted(user)
        found = self._store.run("members/find_posted", [posted], [keys.prefix, NAMES_PER_SCRIPT])
        rows: list[str] = []
        for article_id, title, link in zip(found[::3], found[1::3], found[2::3], strict=True):
            rows += [article_id, title, link, words_of(title, link, "")]
        changed = rows and self._store.run(
            "account_deletion/anonymise_articles", [keys.lexicon, posted], [keys.prefix, user, *rows]
        )
        return not changed and len(found) < 3 * NAMES_PER_SCRIPT

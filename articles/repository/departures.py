"""What is left to do for a member whose account is deleted: the name goes, articles and votes stay."""

from collections.abc import Callable

from articles.domain import DELETED_NAME, Order, UserId
from articles.repository import keys as names
from articles.repository.keys import Keys
from articles.repository.store import Call, Store
from articles.searching import words_of

_ARTICLES, _LOG = "articles", "log"
_FIRST = {_ARTICLES: "-inf", _LOG: "0"}

STEP = 1000
"""Articles, or entries of the log, that are looked at in one script."""


class Departures:
    """The departures of a store. Every step is one script in one shard, and may be repeated."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def advance(self, user: UserId, name: str, progress: str, more: Callable[[], bool]) -> str:
        """Go on with what `progress` says was not done yet ('' at first); returns how far it is, '' when all is.

        Nobody of that id chooses or posts anything from the first step on, nor is what they chose listed. Then the
        name goes from all they posted and from the moderation log, some of it in each step, as long as `more()`;
        at least one step is done. Their lists of what they posted and saved go last.
        """
        self._leave(user)
        kind, shard, done = (*progress.split(), *("",) * 3)[:3]
        kind, shard, done = kind or _ARTICLES, shard or "0", done or _FIRST[_ARTICLES]
        at = int(shard)
        while True:
            done = self._step(kind, self._store.shards.all[at], user, name, done)
            if not done:
                at += 1
                if at == self._store.shards.count:
                    if kind == _LOG:
                        break
                    kind, at = _LOG, 0
                done = _FIRST[kind]
            if not more():
                return f"{kind} {at} {done}"
        with self._store.pipeline() as pipe:
            pipe.unlink(names.posted(user))
            pipe.unlink(names.saved(user))
            pipe.execute()
        return ""

    def _leave(self, user: UserId) -> None:
        shards = self._store.shards.all
        self._store.run_many(
            [Call("leave", (keys.gone, keys.votes_of(user), keys.opposes_of(user)), (user,)) for keys in shards]
        )

    def _step(self, kind: str, keys: Keys, user: UserId, name: str, done: str) -> str:
        if kind == _ARTICLES:
            return self._disown(keys, user, done)
        lists = [keys.log, keys.tunings, keys.ranking]
        (further,) = self._store.run("forget_actor", lists, [name, DELETED_NAME, done, STEP])
        return str(further)

    def _disown(self, keys: Keys, user: UserId, done: str) -> str:
        lists = [keys.order(Order.TIME), keys.removed]
        while True:
            further, *flat = self._store.run("find_posted", lists, [keys.prefix, user, done, STEP])
            rows: list[str] = []
            for article_id, title, link in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
                rows += [article_id, title, link, words_of(title, link, "")]
            if not rows or not self._store.run("disown", [keys.lexicon], [keys.prefix, *rows]):
                return str(further)  # else some were edited meanwhile: look again

"""Finding articles by their words, and keeping the index of words.

The index is in the store, in the article's shard, and is written by the script that writes the article.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import Order, SearchPage
from articles.domain.members import UserId
from articles.repository.lists.reading import moved_to, read_articles, sort_key
from articles.repository.search.index import ALL_INDEXED, by_words, version_of
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.connection import Call, Store, Value
from articles.repository.store.keys import Keys
from articles.searching import WORDS_VERSION, Query, Term, words_of

MOST_FOUND = 1000
"""Articles that can be paged through: whoever has not found it among these asks for something else."""

FEW = 2000
"""Articles that are all looked at and sorted."""

STEPS = (("walk", 2000), ("meet", 4000), ("walk", 4000), ("walk", 4000), ("sample", 1))
"""What is tried, one call of the script each, and how many articles of a ranking it walks past, until the best are
known. After the last, the answer says that there may be more: no store is held up for what hardly anybody asks."""

_Match = tuple[float, bytes]


class Search:
    """The search of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(
        self,
        query: Query,
        order: Order = Order.SCORE,
        number: int = 1,
        *,
        slug: str | None = None,
        hidden: Sequence[str] = (),
        reader: UserId | None = None,
    ) -> SearchPage:
        """Page `number`, counted from 1, of what meets all terms: best (by score) or newest (by time) first.

        By score, articles with the last word as it was typed come before those with a word that begins so. Inside
        a group if `slug` is given; without the articles of the groups `hidden`. Three round trips; some more for
        words that are frequent alone and rare together. Raises GroupNotFound, and PageNotFound before
        the first page and beyond what can be paged through.
        """
        size = self._store.rules.per_page
        start = (number - 1) * size
        if number < 1:
            raise PageNotFound(number)
        if start >= MOST_FOUND:
            raise PageTooDeep(number)
        hunt, titles, indexed = self._hunt(query, order, start + size + 1, slug, hidden)
        ids = [int(member) for _, member in hunt.best[start : start + size]]
        if number > 1 and not ids:
            raise PageNotFound(number)
        listed = [article for article in read_articles(self._store, ids, reader) if article.removed is None]
        more = len(hunt.best) > start + size and start + size < MOST_FOUND
        facts = (order, titles, hunt.total, hunt.complete and indexed)
        return SearchPage(tuple(listed), number, size, more, *facts)

    def list_newest(
        self, query: Query, most: int, *, slug: str | None = None, hidden: Sequence[str] = ()
    ) -> list[ArticleId]:
        """Ids of the newest articles that meet all terms, newest first, at most `most`. Raises GroupNotFound."""
        hunt, _, _ = self._hunt(query, Order.TIME, most, slug, hidden)
        return [int(member) for _, member in hunt.best[:most]]

    def _hunt(
        self, query: Query, order: Order, wanted: int, slug: str | None, hidden: Sequence[str]
    ) -> "tuple[_Found, dict[str, str], bool]":
        """The `wanted` best that are found; the groups' titles; whether every article is indexed."""
        titles, indexed = self._directory()
        if slug is not None and slug not in titles:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        looked_for = [query]
        if order is Order.SCORE and (whole := query.of_whole_words()):
            looked_for = [whole, query]
        hunts = [
            _Hunt(self._store, _as_json(one.with_groups(titles), slug, hidden), order, wanted)
            for one in looked_for
        ]
        if query.terms:
            _run(self._store, hunts)
        else:
            hunts[0].find_nothing()
        return _Found(hunts), titles, indexed

    def _directory(self) -> tuple[dict[str, str], bool]:
        """Titles of the groups by slug, and whether every article is indexed."""
        with self._store.pipeline() as pipe:
            pipe.hgetall(self._store.shards.directory.groups)
            pipe.hget(names.SCHEMA, "indexed")
            titles, indexed = pipe.execute()
        return titles, indexed == ALL_INDEXED

    def reindex(self, ids: Iterable[ArticleId]) -> int:
        """Put these articles under the words they have now; returns how many there are. Safe to repeat.

        To be called where anything but posting, editing and importing changes a title, a link or a poster's name.
        Leaves them alone where a newer version of the site makes the words, which runs beside this one.
        """
        waiting, done = [] if version_of(self._state()) > WORDS_VERSION else list(ids), 0
        while waiting:
            batch, waiting = waiting[:ARTICLES_PER_READ], waiting[ARTICLES_PER_READ:]
            articles = read_articles(self._store, batch, None)
            done += len(articles)
            waiting = self._enter(articles) + waiting
        return done

    def _enter(self, articles: Sequence[Article]) -> list[ArticleId]:
        """Index these; returns those that were changed since they were read."""
        shards: dict[Keys, list[tuple[str, ...]]] = {}
        for article in articles:
            facts = (article.title, article.link, article.poster_name)
            row = (str(article.id), *facts, words_of(*facts))
            shards.setdefault(self._store.shards.of(article.id), []).append(row)
        calls = [
            Call("search/index", (keys.lexicon,), (keys.prefix, *chain(*some)))
            for keys, rows in shards.items()
            for some in by_words(rows)
        ]
        return [int(changed) for reply in self._store.run_many(calls) for changed in reply]

    def index_all(self, *, anew: bool = False) -> Iterator[tuple[int, int]]:
        """Index every article that is there, by id; yields how far it is and the highest id, after each step.

        Resumes after an interruption, or starts over with `anew`. New articles are indexed when they are posted.
        Of several versions of the site that run side by side only the newest does it, unless `anew` is asked of
        another: that makes an older version, which replaces a newer one, the one that does it.
        """
        with self._store.pipeline() as pipe:
            pipe.get(names.COUNTER)
            pipe.hget(names.SCHEMA, "indexed")
            counter, state = pipe.execute()
        if state == ALL_INDEXED and not anew:
            return
        last, done = int(counter or 0), 0 if anew else _reached(state)
        if not self._note(done, takes_over=anew):
            return
        while done < last:
            following = min(done + ARTICLES_PER_READ, last)
            self.reindex(range(done + 1, following + 1))
            done = following
            if not self._note(done):
                return
            yield done, last
        self.mark_all_indexed()

    def mark_all_indexed(self) -> None:
        """Remember that every article has its words, so that nobody looks again."""
        self._note("all")

    def _note(self, reached: int | str, *, takes_over: bool = False) -> bool:
        """Remember up to which id articles have their words; False where a newer version makes them."""
        arguments: list[Value] = [WORDS_VERSION, reached, int(takes_over)]
        status, *_ = self._store.run("search/note_indexed", [names.SCHEMA], arguments)
        return bool(status == "ok")

    def _state(self) -> str | None:
        with self._store.commands() as client:
            state: str | None = client.hget(names.SCHEMA, "indexed")
        return state

    def catch_up(self, budget: float) -> int:
        """Go on indexing for so many seconds, if not everything is; returns how many ids were seen to."""
        state = self._state()
        if state == ALL_INDEXED or version_of(state) > WORDS_VERSION:
            return 0
        end, before, done = time.monotonic() + budget, _reached(state), 0
        for reached, _ in self.index_all():
            done = reached - before
            if time.monotonic() > end:
                break
        return done


def _reached(state: str | None) -> int:
    """The id up to which articles have the words of this version."""
    _, _, reached = (state or "").partition(" ")
    return int(reached) if version_of(state) == WORDS_VERSION and reached.isdigit() else 0


def _as_json(query: Query, slug: str | None, hidden: Sequence[str]) -> str:
    terms = [*query.terms, *([Term((), groups=(slug,))] if slug is not None else [])]
    rows = [{"words": t.words, "beginning": t.beginning, "groups": t.groups} for t in terms]
    return json.dumps({"terms": rows, "hidden": [one for one in hidden if one != slug]}, ensure_ascii=False)


def _run(store: Store, hunts: "Sequence[_Hunt]") -> None:
    """Let these go on side by side, a round trip for each step, until all know the best."""
    for step in STEPS:
        calls = [call for hunt in hunts for call in hunt.calls(*step)]
        if not calls:
            return
        replies = iter(store.run_many(calls))
        for hunt in hunts:
            hunt.take(replies)
    for hunt in hunts:
        hunt.end()


class _Found:
    """What one or more hunts found: all of the first come before the rest of the next."""

    def __init__(self, hunts: "Sequence[_Hunt]") -> None:
        self.best = list({match[1]: match for hunt in hunts for match in hunt.best}.values())
        self.total = hunts[-1].total
        self.complete = all(hunt.complete for hunt in hunts)


class _Hunt:
    """One search over all shards, step by step, until the best are known."""

    def __init__(self, store: Store, query: str, order: Order, wanted: int) -> None:
        self._query, self._order, self._wanted = query, order, wanted
        self._found: dict[Keys, dict[str, float]] = {keys: {} for keys in store.shards.all}
        """Each shard's matches with what ranks them, as last read: a vote may come between two steps."""

        self._at = dict.fromkeys(store.shards.all, 0)
        """Ranks from which to walk on in the shards where more may be needed."""

        self._totals: dict[Keys, int] = {}
        self.complete = True
        """Whether nothing better can have been missed."""

    def calls(self, mode: str, walked: int) -> list[Call]:
        """The next step in every shard that is needed."""
        return [
            Call(
                "search/find",
                (keys.order(self._order),),
                (keys.prefix, self._query, self._wanted, rank, mode, FEW, walked),
            )
            for keys, rank in self._at.items()
        ]

    def take(self, replies: Iterator[list[str]]) -> None:
        """Take one reply for each of the calls."""
        for keys in list(self._at):
            reply = next(replies)
            if self._is_enough(keys, reply):
                del self._at[keys]
            else:
                self._at[keys] = int(reply[1])

    def end(self) -> None:
        """No more steps are taken."""
        self.complete = not self._at

    def find_nothing(self) -> None:
        """End a search without terms: no article matches."""
        self._totals = dict.fromkeys(self._found, 0)

    def _is_enough(self, keys: Keys, reply: list[str]) -> bool:
        """Note a shard's matches; whether that is all that is needed of it."""
        status, number, *flat = reply
        matches = {member: float(value) for member, value in zip(flat[::2], flat[1::2], strict=True)}
        if status == "all":
            self._found[keys], self._totals[keys] = matches, int(number)
            return True
        self._found[keys] |= matches
        return int(number) < 0 or len(self._found[keys]) >= self._wanted

    @property
    def best(self) -> list[_Match]:
        found = (entry for matches in self._found.values() for entry in matches.items())
        return sorted((sort_key(value, member) for member, value in found), reverse=True)

    @property
    def total(self) -> int | None:
        """How many match; None where that is not known."""
        return sum(self._totals.values()) if len(self._totals) == len(self._found) else None

"""Rebuilds every list from the articles themselves. Idempotent, and safe while the site is in use."""

from articles.domain import ArticleId, Span
from articles.repository import keys as names
from articles.repository.audit import Progress, quiet
from articles.repository.groups import Groups
from articles.repository.hot import Hot
from articles.repository.index import Index
from articles.repository.keys import Keys
from articles.repository.keyspace import Contents, batches, mentioned_ids, survey
from articles.repository.reading import split_groups
from articles.repository.search import Search
from articles.repository.store import Store, Value, exact_time

_AT_ONCE = 250


class Repair:
    """The repair of a store."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot
        self._search = Search(store)
        self._index = Index(store)

    def run(self, progress: Progress = quiet) -> int:
        """Rebuild rankings, hot list, groups, profiles, members' lists, words, what articles
        know of the moderation log, and the id counter.

        Returns how many articles there are.

        Each article is put in order in one atomic step, so that whoever reads or votes meanwhile sees it
        either as it was or as it should be. Counts of votes are not touched.
        """
        shards, _ = survey(self._store)
        ids = {keys: mentioned_ids(self._store, keys, contents) for keys, contents in shards.items()}
        done, total = 0, sum(len(found) for found in ids.values())
        progress(done, total)
        slugs: set[str] = set()
        for keys, contents in shards.items():
            for batch in batches(ids[keys], _AT_ONCE):
                slugs |= self._repair_articles(keys, batch)
                self._search.renew(map(int, batch))
                done += len(batch)
                progress(done, total)
            self._repair_log(keys)
            self._repair_groups(keys, contents)
            self._index.repair_words(keys, contents.words)
            self._repair_choices(keys, contents)
            self._drop_tops(keys)
        self._search.note_all_indexed()
        Groups(self._store).settle(sorted(slugs))
        articles = [article for contents in shards.values() for article in contents.articles]
        self._raise_counter(max(articles, default=0))
        self._hot.rescore()
        return len(articles)

    def _repair_articles(self, keys: Keys, batch: list[str]) -> set[str]:
        """Repair these articles; returns the groups they are in."""
        store = self._store
        moment: list[Value] = [exact_time(store.now()), store.rules.voters_grace]
        told = store.run("repair_articles", [keys.removed], [keys.prefix, *moment, *batch])
        facts = [told[at : at + 4] for at in range(0, len(told), 4)]
        return {slug for _, _, groups, _ in facts for slug in split_groups(groups)}

    def _repair_log(self, keys: Keys) -> None:
        done, found = 0, _AT_ONCE
        while found == _AT_ONCE:
            (found,) = self._store.run("repair_log", [keys.log], [keys.prefix, done, _AT_ONCE])
            done += found

    def _repair_groups(self, keys: Keys, contents: Contents) -> None:
        for slug in sorted(contents.groups):
            with self._store.commands() as client:
                members = {int(member) for member in client.smembers(keys.group(slug))}
            for batch in list(batches(members, _AT_ONCE)) or [[]]:
                self._store.run("repair_group", [keys.group(slug)], [keys.prefix, slug, *batch])

    def _repair_choices(self, keys: Keys, contents: Contents) -> None:
        now = exact_time(self._store.now())
        for member in sorted(contents.members):
            lists = [keys.votes_of(member), keys.opposes_of(member), keys.gone]
            self._store.run("repair_choices", lists, [keys.prefix, member, now])

    def _drop_tops(self, keys: Keys) -> None:
        """The rankings of what was posted lately are made anew by their next readers."""
        with self._store.commands() as client:
            client.unlink(*map(keys.top, Span))

    def _raise_counter(self, highest: ArticleId) -> None:
        with self._store.commands() as client:
            missing = highest - int(client.get(names.COUNTER) or 0)
            if missing > 0:
                client.incrby(names.COUNTER, missing)

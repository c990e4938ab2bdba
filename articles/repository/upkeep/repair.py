"""The repair: rebuilds every list from the articles themselves. Idempotent, and safe while the site is in use."""

from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import partial

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged
from articles.domain.lists import TOP_PERIODS, Order, Period
from articles.repository.changes import Changes
from articles.repository.groups import Groups
from articles.repository.inbox import check_inbox
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import split_groups
from articles.repository.moderation.flags import FlagUpkeep
from articles.repository.moderation.left_out import LeftOutUpkeep
from articles.repository.moderation.merges import MergeUpkeep
from articles.repository.store import keys as names
from articles.repository.store.attempts import Finding, attempt_repair, carry_out
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, batches, portions, set_members, survey
from articles.repository.upkeep.audit import Facts, Progress, check_articles, check_choices, check_log, quiet
from articles.repository.upkeep.comments import CommentRepair
from articles.repository.upkeep.readable import Entries, drop_unreadable

Tell = Callable[[Finding], object]
"""Receives each problem that cannot be repaired."""


@dataclass(slots=True)
class _Named:
    """What the articles of a shard name."""

    groups: Counter[str] = field(default_factory=Counter)
    """With the number of listed articles in each, so that groups of the expected size need not be read."""

    merged: dict[ArticleId, tuple[str, str]] = field(default_factory=dict)
    """Fields `merged` and `merges` of the articles that have any."""

    discussed: set[ArticleId] = field(default_factory=set)
    """Articles that have any field about comments, or could not be read."""


class Repair:
    """The repair of a store."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot
        self._changes = Changes(store)
        self._comments = CommentRepair(store)
        self._flags = FlagUpkeep(store)
        self._left_out = LeftOutUpkeep(store)
        self._merges = MergeUpkeep(store)

    def run(self, progress: Progress = quiet, tell: Tell = lambda _: None) -> int:
        """Rebuild all lists and the id counter; return the number of articles.

        Before that, complete the last act on each member's votes in every shard; after it, interrupted merges. The
        lists are rankings, hot list, groups, profiles, members' lists, replies to comments, flags, and each
        article's log entries. Each article is repaired in one atomic step, so that readers and voters see it
        either before or after. Vote counts do not change. `tell` receives each damaged article or comment, which
        stays as it is until its hash is fixed, and each key that cannot be read. Every search index is built
        again. Reads all keys, in batches. Raises StoreError.
        """
        entries = Entries(self._store)
        shards, _ = survey(self._store, entries.read())
        drop_unreadable(self._store, entries.damages, tell)
        # Articles that the repair adds are then comparable with the rest.
        attempt_repair("hot:score", self._hot.rescore, tell)
        self._repair_left_out(tell)  # what articles leave out is counted by it
        ids = {
            keys: entries.ids_in(keys) | contents.articles | contents.mentioned
            for keys, contents in shards.items()
        }
        done, total = 0, sum(map(len, ids.values()))
        progress(done, total)
        slugs: set[str] = set()
        merged = dict[ArticleId, tuple[str, str]]()
        for keys, contents in shards.items():
            named = _Named()
            for batch in batches(ids[keys], ARTICLES_PER_CHECK):
                self._repair_batch(keys, batch, contents.mentioned, named, tell)
                done += len(batch)
                progress(done, total)
            slugs |= named.groups.keys()
            merged |= named.merged
            attempt_repair(keys.log, partial(carry_out, check_log(self._store, keys, "repair")), tell)
            repair_groups = partial(self._repair_groups, keys, contents, named.groups)
            attempt_repair(keys.prefix + "group:", repair_groups, tell)
            self._repair_choices(keys, contents, tell)
            for member in sorted(contents.inboxes):
                inbox = check_inbox(self._store, keys, member, "repair")
                attempt_repair(keys.inbox(member), partial(carry_out, inbox), tell)
            attempt_repair(keys.top(Period.DAY), partial(self._drop_tops, keys), tell)
            comments = partial(self._comments.run, keys, contents, named.discussed, tell)
            attempt_repair(keys.comment_voters, comments, tell)
            attempt_repair(keys.flagged, partial(self._flags.repair, keys, contents), tell)
        attempt_repair(names.MERGE_LOCK, partial(self._merges.repair, merged), tell)
        directory = self._store.shards.directory.groups
        attempt_repair(directory, partial(Groups(self._store).follow_merges, sorted(slugs)), tell)
        attempt_repair(self._store.shards.directory.descriptions, self._drop_descriptions, tell)
        articles = [article for contents in shards.values() for article in contents.articles]
        attempt_repair(names.COUNTER, partial(self._raise_counter, max(articles, default=0)), tell)
        attempt_repair("hot:score", self._hot.rescore, tell)
        attempt_repair(names.SCHEMA, self._changes.begin_copy, tell)
        return len(articles)

    def _repair_left_out(self, tell: Tell) -> None:
        acts = self._store.shards.directory.left_out_acts
        for step in self._left_out.list_steps():
            attempt_repair(acts, step, tell)

    def _drop_descriptions(self) -> None:
        directory = self._store.shards.directory
        self._store.run("repair/descriptions", [directory.groups, directory.descriptions], [])

    def rebuild(self, progress: Progress = quiet, tell: Tell = lambda _: None) -> None:
        """Build the lists of a store that has articles without any, as a backup restores it.

        Like `run`, but nothing in the lists can be wrong. Reads all keys, in batches. Raises StoreError;
        StoreDamaged if only `run` can help.
        """
        self._repair_left_out(tell)
        shards, _ = survey(self._store)
        done, total = 0, sum(len(contents.articles) for contents in shards.values())
        slugs: set[str] = set()
        merged = dict[ArticleId, tuple[str, str]]()
        for keys, contents in shards.items():
            named = _Named()
            for batch in batches(contents.articles, ARTICLES_PER_CHECK):
                self._repair_articles(keys, batch, contents.mentioned, named, tell)
                done += len(batch)
                progress(done, total)
            slugs |= named.groups.keys()
            merged |= named.merged
            carry_out(check_log(self._store, keys, "repair"))
            self._repair_choices(keys, contents, tell)
            self._comments.run(keys, contents, named.discussed, tell)
            self._flags.repair(keys, contents)
        self._merges.repair(merged)
        Groups(self._store).follow_merges(sorted(slugs))
        articles = [article for contents in shards.values() for article in contents.articles]
        self._raise_counter(max(articles, default=0))
        self._hot.rescore()
        self._changes.begin_copy()

    def _repair_batch(
        self,
        keys: Keys,
        batch: list[str],
        with_sets: Container[ArticleId],
        named: _Named,
        tell: Tell,
    ) -> None:
        """Repair these articles, one by one if they cannot be all together; note what they name.

        `with_sets`: the ids of those that have voter sets or counters.
        """
        try:
            self._repair_articles(keys, batch, with_sets, named, tell)
        except StoreDamaged:
            if len(batch) > 1:
                for one in batch:
                    self._repair_batch(keys, [one], with_sets, named, tell)
            else:
                named.discussed.add(int(batch[0]))
                tell(Finding(keys.article(int(batch[0])), "is damaged, and left as it is"))

    def _repair_articles(
        self,
        keys: Keys,
        batch: list[str],
        with_sets: Container[ArticleId],
        named: _Named,
        tell: Tell,
    ) -> None:
        articles = dict[str, Facts]()
        carry_out(check_articles(self._store, keys, batch, articles, with_sets, "repair"))
        for article_id, article in articles.items():
            for slug in set(split_groups(article.groups or "")):
                named.groups[slug] += article.state == "listed"
            if any(article.merged):
                named.merged[int(article_id)] = article.merged
            if article.is_discussed:
                named.discussed.add(int(article_id))
            if article.state == "damaged":
                tell(Finding(keys.article(int(article_id)), "is damaged, and left as it is"))

    def _repair_groups(self, keys: Keys, contents: Contents, sizes: Mapping[str, int]) -> None:
        """Repair groups that may hold wrong articles; drop all rankings, which the next read makes again."""
        slugs = sorted(contents.groups)
        for batch in portions(slugs, KEYS_PER_SCAN):
            with self._store.pipeline() as pipe:
                for slug in batch:
                    pipe.unlink(*(keys.group_order(order, slug) for order in Order))
                    pipe.scard(keys.group(slug))
                found = pipe.execute()[1::2]
            for slug, size in zip(batch, found, strict=True):
                if size != sizes.get(slug, 0):
                    self._repair_group(keys, slug)

    def _repair_group(self, keys: Keys, slug: str) -> None:
        for batch in portions(set_members(self._store, keys.group(slug)), ARTICLES_PER_CHECK):
            self._store.run("repair/group", [keys.group(slug)], [keys.prefix, slug, *batch])

    def _repair_choices(self, keys: Keys, contents: Contents, tell: Tell) -> None:
        for member in sorted(contents.members):
            choices = check_choices(self._store, keys, member, "repair")
            attempt_repair(keys.votes_of(member), partial(carry_out, choices), tell)

    def _drop_tops(self, keys: Keys) -> None:
        """Drop the rankings of spans, which the next read makes again."""
        with self._store.commands() as client:
            client.unlink(*map(keys.top, TOP_PERIODS.values()))

    def _raise_counter(self, highest: ArticleId) -> None:
        with self._store.commands() as client:
            missing = highest - int(client.get(names.COUNTER) or 0)
            if missing > 0:
                client.incrby(names.COUNTER, missing)

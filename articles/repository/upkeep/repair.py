"""The repair: rebuilds every list from the articles themselves. Idempotent, and safe while the site is in use."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged
from articles.domain.lists import TOP_PERIODS, Order
from articles.repository.changes import Changes
from articles.repository.groups import Groups
from articles.repository.inbox import check_inbox
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import split_groups
from articles.repository.moderation.flags import FlagUpkeep
from articles.repository.moderation.left_out import LeftOutUpkeep
from articles.repository.moderation.merges import MergeUpkeep
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_SCAN
from articles.repository.store.connection import OfStore
from articles.repository.store.findings import Finding, carry_out
from articles.repository.store.keys import Keys, among, recognise
from articles.repository.store.scan import Contents, batches, portions, set_members, survey, walk
from articles.repository.store.values import count_from
from articles.repository.upkeep.audit import Facts, Progress, check_articles, check_choices, check_log, quiet
from articles.repository.upkeep.comments import CommentRepair
from articles.repository.upkeep.survey import Found, find_all, note_ids

Tell = Callable[[Finding], object]  # receives each problem that cannot be repaired


@dataclass(slots=True)
class _Named:
    """What the articles of a shard name."""

    groups: Counter[str] = field(default_factory=Counter)
    """With the number of listed articles in each, so that groups of the expected size need not be read."""

    merged: dict[ArticleId, tuple[str, str]] = field(default_factory=dict)
    """Fields `merged` and `merges` of the articles that have any."""

    discussed: set[ArticleId] = field(default_factory=set)
    """Articles that have any field about comments, or could not be read."""


class Repair(OfStore):
    def remove_leftovers(self, keys: Iterable[str], fields: Collection[str], progress: Progress = quiet) -> None:
        """Delete keys of these kinds, unless the site has such keys, and these fields of all articles.

        They are of an extra whose folder was deleted. Reads the names of all keys, in batches. Idempotent. Raises
        StoreError.
        """
        is_left, done = among(keys), 0
        with self._store.commands():
            total = sum(server.dbsize() for server in self._store.servers())
        for batch in walk(self._store):
            with self._store.pipeline() as pipe:
                for name, kind in zip(batch, recognise(batch), strict=True):
                    if kind is None and is_left(name):
                        pipe.unlink(name)
                    elif kind is Keys.article and fields:
                        pipe.hdel(name, *fields)
                pipe.execute()
            done += len(batch)
            progress(min(done, total), total)

    def run(self, progress: Progress = quiet, tell: Tell = lambda _: None) -> int:
        """Rebuild all lists and the id counter; return the number of articles.

        Before that, complete the last act on each member's votes in every shard; after it, interrupted merges. The
        lists are rankings, hot list, groups, profiles, members' lists, replies to comments, flags, and each
        article's log entries. Each article is repaired in one atomic step, so that readers and voters see it
        either before or after. Vote counts do not change. `tell` receives each damaged article or comment, which
        stays as it is until its hash is fixed, and each key of another type that nothing rebuilds: then a backup
        has to be restored, and nothing else is repaired. Every search index is built again. Reads all keys, in
        batches. Raises StoreError.
        """
        found = find_all(self._store)
        if not self._drop_mistyped(found, tell):
            return 0
        note_ids(self._store, found)
        with self._store.commands() as client:
            for ranking, stray in found.strays:
                client.zrem(ranking, stray)
        with suppress(StoreDamaged):  # articles that the repair adds are then comparable with the rest
            Hot(self._store).rescore()
        LeftOutUpkeep(self._store).repair()  # what articles leave out is counted by it
        self._repair_shards(found.shards, found.ids, progress, tell)
        directory = self._store.shards.directory
        self._store.run("repair/descriptions", [directory.groups, directory.descriptions], [])
        return sum(len(contents.articles) for contents in found.shards.values())

    def _drop_mistyped(self, found: Found, tell: Tell) -> bool:
        """Drop keys of another type that are derived, and tell the others; return whether there are no others."""
        lost = [one for one in found.mistyped if not one.is_derived]
        for one in lost:
            tell(one.finding)
        with self._store.pipeline() as pipe:
            for one in found.mistyped:
                if one.is_derived:
                    pipe.unlink(one.name)
            pipe.execute()
        return not lost

    def rebuild(self, progress: Progress = quiet, tell: Tell = lambda _: None) -> None:
        """Build the lists of a store that has articles without any, as a backup restores it.

        Like `run`, but nothing in the lists can be wrong. Reads all keys, in batches. Raises StoreError;
        StoreDamaged if only `run` can help.
        """
        LeftOutUpkeep(self._store).repair()
        shards, _ = survey(self._store)
        ids = {keys: contents.articles for keys, contents in shards.items()}
        self._repair_shards(shards, ids, progress, tell, has_lists=False)

    def _repair_shards(
        self,
        shards: Mapping[Keys, Contents],
        ids: Mapping[Keys, Set[ArticleId]],
        progress: Progress,
        tell: Tell,
        *,
        has_lists: bool = True,
    ) -> None:
        """Repair each shard, then what concerns all: merges, groups, the id counter, hot list and search indexes.

        `has_lists`: whether there are lists that may hold what is wrong, and articles that may be damaged.
        """
        done, total = 0, sum(map(len, ids.values()))
        progress(done, total)
        slugs, merged = set[str](), dict[ArticleId, tuple[str, str]]()
        repair_batch = self._repair_batch if has_lists else self._repair_articles
        for keys, contents in shards.items():
            named = _Named()
            for batch in batches(ids[keys], ARTICLES_PER_CHECK):
                repair_batch(keys, batch, contents.mentioned, named, tell)
                done += len(batch)
                progress(done, total)
            slugs |= named.groups.keys()
            merged |= named.merged
            carry_out(check_log(self._store, keys, "repair"))
            for member in sorted(contents.members):
                carry_out(check_choices(self._store, keys, member, "repair"))
            if has_lists:
                self._repair_lists(keys, contents, named.groups)
            CommentRepair(self._store).run(keys, contents, named.discussed, tell)
            FlagUpkeep(self._store).repair(keys, contents)
        MergeUpkeep(self._store).repair(merged)
        Groups(self._store).follow_merges(sorted(slugs))
        highest = max((max(contents.articles, default=0) for contents in shards.values()), default=0)
        with self._store.commands() as client:
            missing = highest - count_from(client.get(names.COUNTER))
            if missing > 0:
                client.incrby(names.COUNTER, missing)
        Hot(self._store).rescore()
        Changes(self._store).begin_copy()

    def _repair_batch(
        self, keys: Keys, batch: list[str], with_sets: Container[ArticleId], named: _Named, tell: Tell
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
        self, keys: Keys, batch: list[str], with_sets: Container[ArticleId], named: _Named, tell: Tell
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

    def _repair_lists(self, keys: Keys, contents: Contents, sizes: Mapping[str, int]) -> None:
        """Repair inboxes and groups; drop rankings of groups and spans, which the next read makes again."""
        for batch in portions(sorted(contents.groups), KEYS_PER_SCAN):
            with self._store.pipeline() as pipe:
                for slug in batch:
                    pipe.unlink(*(keys.group_order(order, slug) for order in Order))
                    pipe.scard(keys.group(slug))
                found = pipe.execute()[1::2]
            for slug, size in zip(batch, found, strict=True):
                if size != sizes.get(slug, 0):
                    for ids in portions(set_members(self._store, keys.group(slug)), ARTICLES_PER_CHECK):
                        self._store.run("repair/group", [keys.group(slug)], [keys.prefix, slug, *ids])
        for member in sorted(contents.inboxes):
            carry_out(check_inbox(self._store, keys, member, "repair"))
        with self._store.commands() as client:
            client.unlink(*map(keys.top, TOP_PERIODS.values()))

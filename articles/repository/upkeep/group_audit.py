"""The audit of groups: the articles that they hold, and their rankings."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.repository.lists.reading import split_groups
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_READ, KEYS_PER_SCAN, read_ahead
from articles.repository.store.connection import Store, Value
from articles.repository.store.findings import Finding, attempt, attempt_each, findings_from
from articles.repository.store.keys import Keys
from articles.repository.store.scan import batches, filled, portions, ranked_members, set_members

_SETS_PER_SCRIPT = 3000  # groups that one script looks into: some milliseconds of the store's time
_FEW = 500  # maximum number of doubtful groups for which articles are searched; if there are more, all are checked
_GROUPS_PER_SCRIPT = 500
_IDS_PER_READ = 3000  # ids of groups' articles that one script reads: some milliseconds of the store's time
_ONE = 1 << 96
"""What a member adds to a set's mark, besides the hash of its id: 64 bits, which differ in each process."""

_TOO_MANY = -1


def mark_of(ids: Collection[str]) -> int:
    """Return the mark of a set: equal for equal sets, and for others by a chance of 1 in 2⁶⁴ only."""
    return len(ids) * _ONE + sum(map(hash, ids))


def size_of(mark: int) -> int:
    """Return the number of members that a mark stands for."""
    return (mark + _ONE // 2) // _ONE


class GroupMarks:
    """The groups of one shard, by what its articles name: a mark for each, and no memory for articles."""

    def __init__(self) -> None:
        self._marks: defaultdict[str, int] = defaultdict(int)

    def add(self, article_id: str, slugs: Iterable[str]) -> None:
        mark, marks = _ONE + hash(article_id), self._marks
        for slug in slugs:
            marks[slug] += mark

    def list_doubtful(self, store: Store, keys: Keys, slugs: Iterable[str]) -> Iterator[str]:
        """Yield, of these groups and those noted, all that do not hold exactly the articles noted.

        One round trip for 500 groups or 3,000 articles; more for groups of very many.
        """

        def read(portion: list[str]) -> tuple[list[str], list[Any]]:
            return portion, store.run("audit/read_groups", list(map(keys.group, portion)), [KEYS_PER_SCAN])

        named = sorted({*slugs, *self._marks})
        parts = filled(named, lambda slug: size_of(self._marks.get(slug, 0)), _IDS_PER_READ)
        short = (portion for part in parts for portion in portions(part, _GROUPS_PER_SCRIPT))
        for portion, flat in read_ahead(read, short):
            for slug, size, ids in zip(portion, flat[::2], flat[1::2], strict=True):
                members = set(set_members(store, keys.group(slug))) if size == _TOO_MANY else ids
                if mark_of(members) != self._marks.get(slug, 0):
                    yield slug


class GroupAudit:
    """The audit of one shard's groups. Read-only."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self._store = store
        self._keys = keys
        self._marks = GroupMarks()
        self._doubtful: list[str] | None = None
        """Groups that differ from what articles name; None if they could not be compared."""

    def note(self, article_id: str, groups: str | None) -> None:
        """Note the groups that a listed article names, comma-separated."""
        self._marks.add(article_id, set(split_groups(groups or "")))

    def run(self, slugs: Collection[str], ids: Iterable[ArticleId]) -> Iterator[Finding]:
        """Yield what is wrong with the groups, by what the articles noted name.

        `slugs`: those that have keys; `ids`: the articles that may be in them. Only if a group differs from what
        articles name, both are read again, and each article with its places at one moment. In batches.
        """
        yield from attempt(self._keys.group(""), self._check_groups(slugs))
        if self._doubtful != []:
            is_few = self._doubtful is not None and len(self._doubtful) <= _FEW
            wanted = ",".join(self._doubtful or ()) if is_few else "*"
            for batch in batches(ids, ARTICLES_PER_CHECK):
                yield from attempt_each(self._keys.article, batch, partial(self._check_places, wanted))

    def _check_groups(self, slugs: Collection[str]) -> Iterator[Finding]:
        """Check the groups that may differ from the articles that name them, or that have rankings."""
        keys = self._keys
        doubtful = set(self._marks.list_doubtful(self._store, keys, slugs))
        self._doubtful = sorted(doubtful)
        for batch in portions(sorted({*slugs, *doubtful}), KEYS_PER_READ):
            with self._store.pipeline() as pipe:
                for slug in batch:
                    pipe.hexists(self._store.shards.directory.groups, slug)
                    pipe.exists(*(keys.group_order(order, slug) for order in Order))
                replies = pipe.execute()
            for slug, is_known, ranked in zip(batch, replies[::2], replies[1::2], strict=True):
                if slug in doubtful or ranked or not is_known:
                    yield from attempt(keys.group(slug), self._check_group(slug))

    def _check_group(self, slug: str) -> Iterator[Finding]:
        """Yield what is wrong with a group, and with its rankings. In batches."""
        store, keys = self._store, self._keys
        orders = [keys.group_order(order, slug) for order in Order]
        with store.pipeline() as pipe:
            pipe.hexists(store.shards.directory.groups, slug)
            pipe.exists(keys.group(slug))
            is_known, is_there = pipe.execute()
        if is_there and not is_known:
            yield Finding(keys.group(slug), "holds articles, but there is no such group")
        members = chain(set_members(store, keys.group(slug)), *(ranked_members(store, name) for name in orders))
        seen, problems = set[str](), set[str]()
        for batch in chain([[]], portions(members, ARTICLES_PER_CHECK)):
            fresh = [article_id for article_id in dict.fromkeys(batch) if article_id not in seen]
            seen.update(fresh)
            problems.update(store.run("audit/group", [keys.group(slug)], [keys.prefix, slug, *fresh]))
        yield from (Finding(keys.group(slug), problem) for problem in sorted(problems))

    def _check_places(self, wanted: str, batch: list[str]) -> Iterator[Finding]:
        """Yield the wanted groups that these articles are not in, or, once removed, still are in."""
        arguments: list[Value] = [self._keys.prefix, wanted, _SETS_PER_SCRIPT]
        while batch:
            articles = [self._keys.article(int(article_id)) for article_id in batch]
            checked, flat = self._store.run("audit/places", articles, arguments)
            yield from findings_from(self._keys.article, flat)
            batch = batch[checked:]

"""The audit of the sets that articles are in: those of their words, and of their groups."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.repository.lists.reading import split_groups
from articles.repository.search.index import LISTED, Finding, Index, Indexed
from articles.repository.search.word_sets import SetMarks, WordSets
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_READ, KEYS_PER_SCAN
from articles.repository.store.connection import Store, Value
from articles.repository.store.key_table import WORD
from articles.repository.store.keys import Keys
from articles.repository.store.scan import batches, portions
from articles.repository.upkeep.attempts import attempt
from articles.repository.upkeep.readable import check_readable_keys

_SETS_PER_SCRIPT = 3000
"""Sets that one script looks into: some milliseconds of the store's time."""

_FEW = 500
"""Maximum number of doubtful sets for which articles are searched; if there are more, all sets are checked."""

Attempt = Callable[[list[str], Callable[[list[str]], Iterable[Finding]]], Iterator[Finding]]
"""Yields the findings of a step on some articles, even if it fails."""


class PlaceAudit:
    """The audit of the words and the groups of one shard's articles. Read-only."""

    def __init__(
        self,
        store: Store,
        keys: Keys,
        attempt_on: Attempt,
        check_group: Callable[[Store, Keys, str], Iterator[Finding]],
    ) -> None:
        self._store = store
        self._check_group = check_group
        self._keys = keys
        self._attempt_on = attempt_on
        self._index = Index(store)
        self._word_sets = WordSets(store)
        self._words, self._groups = SetMarks(), SetMarks(of_groups=True)
        self._doubtful_words: list[str] | None = None
        self._doubtful_groups: list[str] | None = None
        """Words and groups whose sets differ from what articles name; None if they could not be compared."""

    def check_articles(self, articles: dict[str, Indexed]) -> Iterator[Finding]:
        """Yield those of these articles that name other words than those of their facts; note what they name."""
        for article_id, article in articles.items():
            if article.state == LISTED:
                self._words.add(article_id, (article.words or "").split())
                self._groups.add(article_id, set(split_groups(article.groups or "")))
        yield from self._attempt_on(
            list(articles),
            lambda ids: self._index.check_articles(self._keys, {one: articles[one] for one in ids}),
        )

    def check_sets(
        self, words: Collection[str], slugs: Collection[str], ids: Iterable[ArticleId]
    ) -> Iterator[Finding]:
        """Yield what is wrong with the sets of words and groups, and with the lexicon, by what the articles name.

        `words` and `slugs`: those that have keys, or are in the lexicon; `ids`: the articles that may be in them.
        Only if a set differs from what articles name, both are read again, and each article with its places at
        one moment. In batches.
        """
        yield from attempt(self._keys.lexicon, self._check_words(words))
        yield from attempt(self._keys.group(""), self._check_groups(slugs))
        if self._doubtful_words != [] or self._doubtful_groups != []:
            places = _wanted(self._doubtful_words, " "), _wanted(self._doubtful_groups, ",")
            for batch in batches(ids, ARTICLES_PER_CHECK):
                yield from self._attempt_on(batch, partial(self._check_places, places))

    def _check_words(self, words: Collection[str]) -> Iterator[Finding]:
        """Check the lexicon, and the words whose sets may differ from the articles that name them."""
        doubtful = set(self._words.list_doubtful(self._store, self._keys, words))
        self._doubtful_words = sorted(doubtful)
        named = self._words.names
        for portion in portions({*words, *named}, KEYS_PER_SCAN):
            with self._store.commands() as client:
                known = client.zmscore(self._keys.lexicon, portion)
            pairs = zip(portion, known, strict=True)
            doubtful.update(word for word, place in pairs if (place is not None) != (word in named))
        listed = sorted(doubtful)
        yield from check_readable_keys(self._store, ((self._keys.word(word), WORD) for word in listed))
        yield from self._word_sets.check_words(self._keys, listed)

    def _check_groups(self, slugs: Collection[str]) -> Iterator[Finding]:
        """Check the groups whose sets may differ from the articles that name them, or that have rankings."""
        keys = self._keys
        doubtful = set(self._groups.list_doubtful(self._store, keys, slugs))
        self._doubtful_groups = sorted(doubtful)
        for batch in portions(sorted({*slugs, *doubtful}), KEYS_PER_READ):
            with self._store.pipeline() as pipe:
                for slug in batch:
                    pipe.hexists(self._store.shards.directory.groups, slug)
                    pipe.exists(*(keys.group_order(order, slug) for order in Order))
                replies = pipe.execute(raise_on_error=False)
            for slug, is_known, ranked in zip(batch, replies[::2], replies[1::2], strict=True):
                if slug in doubtful or ranked != 0 or is_known is not True:
                    yield from attempt(keys.group(slug), self._check_group(self._store, keys, slug))

    def _check_places(self, wanted: tuple[str, str], batch: list[str]) -> Iterator[Finding]:
        """Yield the doubtful sets that these articles are not in, or, once removed, still are in."""
        arguments: list[Value] = [self._keys.prefix, *wanted, _SETS_PER_SCRIPT]
        while batch:
            articles = [self._keys.article(int(article_id)) for article_id in batch]
            checked, flat = self._store.run("audit/places", articles, arguments)
            for article_id, problem in zip(flat[::2], flat[1::2], strict=True):
                yield Finding(self._keys.article(int(article_id)), problem)
            batch = batch[checked:]


def _wanted(names: list[str] | None, separator: str) -> str:
    """Return the names as an argument of the script."""
    return "*" if names is None or len(names) > _FEW else separator.join(names)

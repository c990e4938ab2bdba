"""The sets of articles, or of comments, under words: checks and repairs them, for the audit and the repair.

And the marks by which the audit compares them, and those of groups, with what articles name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from articles.repository.search.index import Finding
from articles.repository.search.memberships import Memberships
from articles.repository.store.ahead import read_ahead
from articles.repository.store.batches import KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, ranked_members, set_members

_IDS_PER_SCRIPT = 500
"""Ids under words, and words, that one script audits or repairs: it compares each with its article or comment."""

_IDS_PER_READ = 3000
"""Ids under words that one script reads: some milliseconds of the store's time."""

_ONE = 1 << 96
"""What a member adds to a set's mark, besides the hash of its id: 64 bits, which differ in each process."""

_TOO_MANY = -2


def mark_of(ids: Collection[str]) -> int:
    """Return the mark of a set: equal for equal sets, and for others by a chance of 1 in 2⁶⁴ only."""
    return len(ids) * _ONE + sum(map(hash, ids))


def size_of(mark: int) -> int:
    """Return the number of members that a mark stands for."""
    return (mark + _ONE // 2) // _ONE


class WordSets:
    """The words of articles, or of comments."""

    def __init__(self, store: Store, *, of_comments: bool = False) -> None:
        self._store = store
        self._kind = "comment" if of_comments else "article"

    def key(self, keys: Keys, word: str) -> str:
        """Return the key of a word's set."""
        return keys.comment_word(word) if self._kind == "comment" else keys.word(word)

    def _lexicon(self, keys: Keys) -> str:
        return keys.comment_lexicon if self._kind == "comment" else keys.lexicon

    def list_doubtful(self, keys: Keys, indexed_words: Iterable[str], memberships: Memberships) -> Iterator[str]:
        """Yield, of these words and those in the lexicon, all but those that hold exactly the counted articles."""
        for portion in portions(self._with_lexicon(keys, indexed_words), _IDS_PER_SCRIPT):
            for word, size, is_known in self._count(keys, portion):
                if size != memberships.words[word] or is_known != (size > 0):
                    yield word

    def check_words(self, keys: Keys, words: Sequence[str]) -> Iterator[Finding]:
        """Yield words with articles that do not belong there, and errors of the lexicon. In batches."""
        for arguments in self._portions(keys, words):
            flat = self._store.run("audit/words", [self._lexicon(keys)], [keys.prefix, self._kind, *arguments])
            for word, problem in zip(flat[::2], flat[1::2], strict=True):
                yield Finding(self.key(keys, word), problem)

    def repair_words(self, keys: Keys, words: Sequence[str]) -> None:
        """Remove articles that do not belong there from these words, and correct the lexicon. In batches."""
        for arguments in self._portions(keys, words):
            self._store.run("repair/words", [self._lexicon(keys)], [keys.prefix, self._kind, *arguments])

    def _with_lexicon(self, keys: Keys, indexed_words: Iterable[str]) -> list[str]:
        return sorted({*indexed_words, *ranked_members(self._store, self._lexicon(keys))})

    def _count(self, keys: Keys, words: Sequence[str]) -> Iterator[tuple[str, int, bool]]:
        """Yield each word, its number of articles (-1 for a key of another type), and if the lexicon holds it."""
        flat = self._store.run("search/count", [self._lexicon(keys)], [keys.prefix, self._kind, *words])
        yield from zip(words, flat[::2], map(bool, flat[1::2]), strict=True)

    def _portions(self, keys: Keys, words: Sequence[str]) -> Iterator[list[str | int]]:
        """Yield arguments of the scripts: words with up to 500 ids in total, or a part of the ids of one word."""
        batch, ids = list[str](), 0
        for portion in portions(words, _IDS_PER_SCRIPT):
            for word, size, _ in self._count(keys, portion):
                if size > _IDS_PER_SCRIPT:
                    yield from self._parts(keys, word)
                    continue
                if batch and (ids + size > _IDS_PER_SCRIPT or len(batch) >= _IDS_PER_SCRIPT):
                    yield [len(batch), *batch]
                    batch, ids = [], 0
                batch.append(word)
                ids += size
        if batch:
            yield [len(batch), *batch]

    def _parts(self, keys: Keys, word: str) -> Iterator[list[str | int]]:
        for ids in portions(set_members(self._store, self.key(keys, word)), _IDS_PER_SCRIPT):
            yield [1, word, *ids]


class SetMarks:
    """The sets of words, or of groups, of one shard, by what its articles name: a mark for each set.

    Takes memory for each set, and none for articles.
    """

    def __init__(self, *, of_groups: bool = False) -> None:
        self._of_groups = of_groups
        self._marks: defaultdict[str, int] = defaultdict(int)

    def add(self, article_id: str, names: Iterable[str]) -> None:
        """Note what an article names."""
        mark, marks = _ONE + hash(article_id), self._marks
        for name in names:
            marks[name] += mark

    @property
    def names(self) -> Collection[str]:
        """Return what the articles noted name."""
        return self._marks.keys()

    def list_doubtful(self, store: Store, keys: Keys, names: Iterable[str]) -> Iterator[str]:
        """Yield, of these sets and those noted, all that do not hold exactly the articles noted.

        One round trip for 500 sets or 3,000 articles; more for sets of very many.
        """
        key = keys.group if self._of_groups else keys.word

        def read(portion: list[str]) -> tuple[list[str], list[Any]]:
            return portion, store.run("search/read_sets", list(map(key, portion)), [KEYS_PER_SCAN])

        for portion, flat in read_ahead(read, self._portions({*names, *self._marks})):
            for name, size, ids in zip(portion, flat[::2], flat[1::2], strict=True):
                members = set(set_members(store, key(name))) if size == _TOO_MANY else ids
                if size == -1 or mark_of(members) != self._marks.get(name, 0):
                    yield name

    def _portions(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield the names in order, in lists so short that one script can read all noted articles of each."""
        portion, ids = list[str](), 0
        for name in sorted(names):
            size = size_of(self._marks.get(name, 0))
            if portion and (len(portion) == _IDS_PER_SCRIPT or ids + size > _IDS_PER_READ):
                yield portion
                portion, ids = [], 0
            portion.append(name)
            ids += size
        if portion:
            yield portion

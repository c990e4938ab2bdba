"""The sets of articles, or of comments, under words: checks and repairs them, for the audit and the repair."""

from collections.abc import Iterable, Iterator, Sequence

from articles.repository.search.index import Finding
from articles.repository.search.memberships import Memberships
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, ranked_members, set_members

_IDS_PER_SCRIPT = 500
"""Ids under words, and words, that one script audits or repairs: it compares each with its article or comment."""


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

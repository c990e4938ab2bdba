"""The words by which search finds a comment, or an article: those of its title, its link's host and its poster.

A word is lower-case text without spaces, colons and commas. English is stemmed. Text written without spaces
(Chinese, Japanese, Korean, Thai …) is split into pairs of neighbouring characters, and the last character of a run
alone. So every character begins a word, and a search for one character is a search for a beginning.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from itertools import chain
from typing import NamedTuple, TypeVar

from Stemmer import Stemmer

from articles.text.links import host_of

T = TypeVar("T")

WORDS_VERSION = 2
"""Increase it with every change of this module's results: housekeeping then reindexes existing stores."""

LONGEST_WORD = 40  # characters; longer ones are cut, in texts and in queries alike
MOST_OF_TITLE, MOST_OF_HOST, MOST_OF_POSTER = 100, 12, 8  # words

MOST_OF_COMMENT = 200
"""Maximum number of distinct words of a comment: each is a set to write while the store serves no other client."""

_MOST_FOLDED = 8_000
"""Characters of a comment that are read unless it is in ASCII: some letters take 3 µs each. Text that people write
has 200 distinct words in a third of them."""

_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e4\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    r"\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bcd\u0c00-\u0c56\u0c81-\u0cd6"
    r"\u0d00-\u0d4d\u0d82-\u0ddf\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
    r"\u302a-\u302f\u3099\u309a"
)
"""Accents and vowel signs, which belong to the letter before them."""

_NO_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3041-\u309a\u309d-\u309f\u30a1-\u30fa"
    r"\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U00020000-\U0003fffd"
)
"""Characters of scripts that are written without spaces or with few."""

_CHAR = rf"(?:[^\W_]|[{_MARKS}\u200c\u200d])"
_RUN = re.compile(rf"{_CHAR}+(?:[.'’]{_CHAR}+)*(?:\+\+|#)?")
_ASCII_RUN = re.compile(r"[A-Za-z0-9]++(?:[.'][A-Za-z0-9]++)*+(?:\+\+|#)?")
_SEGMENT = re.compile(rf"[{_NO_SPACES}]+|[^{_NO_SPACES}.]+")
_UNSPACED = re.compile(rf"[{_NO_SPACES}]")
_ENGLISH = re.compile("[a-z']{3,}")
_SCHEME = re.compile(r"\bhttps?://(?:www\.)?", re.IGNORECASE)
"""The beginning of a link in a text, which a query with the link lacks."""

# Accents, vowel points of Arabic and Hebrew, and joiners: most readers do not type them.
_IGNORED = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u200c\u200d]"
)

_SHORTEST_STEM = 3  # letters


def kept_if_short(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorate a function so that the results for the last `most` texts are kept, except for long texts.

    Ordinary words are short. Long ones would fill the memory: the pairs of 20,000 characters take 2 MB.
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        kept = lru_cache(most)(function)

        @wraps(function)
        def result_of(text: str) -> T:
            return (kept if len(text) <= LONGEST_WORD else function)(text)

        return result_of

    return decorate


_local = threading.local()  # stemmers have state, so each thread has its own


class Piece(NamedTuple):
    """A part of a run, from `start` to `end`: `unspaced` text is split into pairs, any other is one word."""

    text: str
    start: int
    end: int
    unspaced: bool


def runs(text: str) -> Iterator[re.Match[str]]:
    """Find runs of letters and digits, with the signs that join them: `Node.js`, `don't`, `C++`, `数据库`."""
    return _runs_of(text).finditer(text)


def _runs_of(text: str) -> re.Pattern[str]:
    return _ASCII_RUN if text.isascii() else _RUN


@kept_if_short(1 << 16)
def fold(text: str) -> str:
    """Return the text for comparison: compatibility forms, case and accents do not matter."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _IGNORED.sub("", plain)).replace("’", "'")


@kept_if_short(1 << 16)
def stem(word: str) -> str:
    """Return the stem of a folded English word, or any other word, without apostrophes and cut to LONGEST_WORD.

    Words of up to three letters are not stemmed, and no stem is shorter: `ios` and `aws` would lose a letter.
    """
    if _ENGLISH.fullmatch(word):
        plain = word.removesuffix("'s")
        stemmed = _stemmed(plain) if len(plain) > _SHORTEST_STEM else plain
        word = stemmed if len(stemmed) >= _SHORTEST_STEM else plain
    return word.replace("'", "")[:LONGEST_WORD]


def _stemmed(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer("english", 0)  # `stem` keeps results itself
    return str(stemmer.stemWord(word))


def pieces(run: str) -> list[Piece]:
    """Split a folded run into its pieces, in order."""
    segments = _SEGMENT.finditer(run)
    return [Piece(part[0], part.start(), part.end(), bool(_UNSPACED.match(part[0]))) for part in segments]


def whole_word(run: str, parts: list[Piece]) -> str:
    """Return a folded run with dots as one word: `node.js`, `example.org`; "" for any other run."""
    dotted = len(parts) > 1 and "." in run and not any(part.unspaced for part in parts)
    return run.replace("'", "")[:LONGEST_WORD] if dotted else ""


class _WordsOfRuns(dict[str, tuple[str, ...]]):
    """The words of each run, kept if it is short: `[run]` returns them. Its hits cost half of an `lru_cache`'s.

    Emptied when it is full: frequent words soon return.
    """

    _MOST = 1 << 16

    def __missing__(self, run: str) -> tuple[str, ...]:
        words = _words_of_run(run)
        if len(run) <= LONGEST_WORD:
            if len(self) >= self._MOST:
                self.clear()
            self[run] = words
        return words


_words_of_runs = _WordsOfRuns()


def _words_of_run(run: str) -> tuple[str, ...]:
    if run.isascii() and run.isalnum():
        return (stem(run.lower()),)  # most runs: the same as below, in a third of the time
    folded = fold(run)
    parts = pieces(folded)
    words: list[str] = []
    for text, _, _, unspaced in parts:
        words += [text[at : at + 2] for at in range(len(text))] if unspaced else [stem(text)]
    if whole := whole_word(folded, parts):
        words.append(whole)
    return tuple(word for word in words if word and is_plain(word))


def is_plain(word: str) -> bool:
    """Return whether the word fits into a key and a list of words; compatibility forms may contain anything."""
    return not any(char.isspace() or char in ":,{}" for char in word)


def _words(text: str, most: int) -> list[str]:
    """Return the first distinct words of a text; some may be there twice if it has no more than `most`."""
    words = list(chain.from_iterable(map(_words_of_runs.__getitem__, _runs_of(text).findall(text))))
    return words if len(words) <= most else list(dict.fromkeys(words))[:most]


@lru_cache(maxsize=1 << 15)
def _host_words(host: str) -> tuple[str, ...]:
    """Return all labels but the last, and the endings: `blog`, `example`, `blog.example.org`, `example.org`."""
    spelled = fold(".".join(map(_unicode_label, host.split(".")))) if "xn--" in host else fold(host)
    words: list[str] = []
    for name in dict.fromkeys((host, spelled)):
        labels = name.split(".")
        words += [word for label in labels[:-1] for word in _words(label, 4)]
        words += [".".join(labels[at:])[:LONGEST_WORD] for at in range(min(4, len(labels) - 1))]
    return tuple(word for word in dict.fromkeys(words) if is_plain(word))[:MOST_OF_HOST]


def _unicode_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode().decode("punycode")
    except ValueError:
        return label


def words_of(title: str, link: str, poster_name: str) -> str:
    """Return the distinct words of an article, at most 120, with a space before and after each."""
    try:
        host = host_of(link)
    except ValueError:
        host = ""
    words = [*_words(title, MOST_OF_TITLE), *_host_words(host), *_words(poster_name, MOST_OF_POSTER)]
    return f" {' '.join(dict.fromkeys(words))} "


def words_of_comment(text: str) -> str:
    """Return the first distinct words of a comment, with a space before and after each."""
    words = _words(_SCHEME.sub(" ", text if text.isascii() else text[:_MOST_FOLDED]), MOST_OF_COMMENT)
    return f" {' '.join(dict.fromkeys(words))} "

"""Tokens: what a text is indexed by, what a query asks for, and what is marked in a result.

A token is lower-case text without spaces, in the order of the text. Text written without spaces (Chinese,
Japanese, Korean, Thai …) is split into pairs of neighbouring characters, and the last character of a run alone. A
stem is what the forms of a word in one language share; `fr:` and the like precede those not in English.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, wraps
from itertools import chain
from typing import NamedTuple, TypeVar

from Stemmer import Stemmer

LONGEST_TOKEN = 40  # characters; longer ones are cut, in texts and in queries alike

_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e4\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    r"\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bcd\u0c00-\u0c56\u0c81-\u0cd6"
    r"\u0d00-\u0d4d\u0d82-\u0ddf\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
    r"\u302a-\u302f\u3099\u309a"
)
"""Accents and vowel signs, which belong to the letter before them."""

NO_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3041-\u309a\u309d-\u309f\u30a1-\u30fa"
    r"\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U00020000-\U0003fffd"
)
"""Characters of scripts that are written without spaces or with few."""

_CHAR = rf"(?:[^\W_]|[{_MARKS}\u200c\u200d])"
_RUN = re.compile(rf"(?:(?<![\w.])\.(?=[A-Za-z]))?{_CHAR}+(?:[.'’]{_CHAR}+)*(?:\+\+|#)?")
_ASCII_RUN = re.compile(r"(?:(?<![A-Za-z0-9_.])\.(?=[A-Za-z]))?[A-Za-z0-9]++(?:[.'][A-Za-z0-9]++)*+(?:\+\+|#)?")
_SEGMENT = re.compile(rf"[{NO_SPACES}]+|[^{NO_SPACES}.]+")
_UNSPACED = re.compile(rf"[{NO_SPACES}]")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_WORD = re.compile("[a-z]{4,}")
_SCHEME = re.compile(r"\bhttps?://(?:www\.)?", re.IGNORECASE)

_ELISION = re.compile(
    "(?:[ldjmtscn]|qu|jusqu|lorsqu|puisqu|quoiqu|un|quest|quell|bell|sant|(?:d|n|s|c)?[aeou]ll)'(?=[^']{2})"
)
"""What French and Italian put before a word that begins with a vowel."""

_ENGLISH_ENDING = re.compile("'(?:s|t|d|m|ll|re|ve)$")

# Accents, vowel points of Arabic and Hebrew, and joiners: most readers do not type them.
_IGNORED = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u200c\u200d]"
)

_PLAIN_LETTERS = str.maketrans("øłđðħıŋ’", "olddhin'") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
"""Letters that Unicode does not decompose, as they are typed without them."""


T = TypeVar("T")


class _Kept(dict[str, T]):
    """The results of a function for short texts: `[text]` returns them. Its hits cost half of an `lru_cache`'s.

    Emptied when it is full: frequent words soon return. Long texts would fill the memory: the pairs of 20,000
    characters take 2 MB.
    """

    def __init__(self, function: Callable[[str], T], most: int = 1 << 16, longest: int = LONGEST_TOKEN) -> None:
        self._function, self._most, self._longest = function, most, longest

    def __missing__(self, text: str) -> T:
        result = self._function(text)
        if len(text) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[text] = result
        return result


def kept_if_short(most: int, longest: int = LONGEST_TOKEN) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorate a function so that the results for `most` texts are kept, except for long texts."""
    return lambda function: wraps(function)(partial(_Kept.__getitem__, _Kept(function, most, longest)))


class Piece(NamedTuple):
    """A part of a run, from `start` to `end`: `unspaced` text is split into pairs, any other is one token."""

    text: str
    start: int
    end: int
    unspaced: bool


def runs(text: str) -> Iterator[re.Match[str]]:
    """Find runs of letters and digits, with the signs that join them: `Node.js`, `don't`, `C++`, `.NET`."""
    return _pattern_of(text).finditer(text)


def _pattern_of(text: str) -> re.Pattern[str]:
    return _ASCII_RUN if text.isascii() else _RUN


@kept_if_short(1 << 16)
def fold(text: str) -> str:
    """Return the text for comparison: compatibility forms, case and accents do not matter."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _IGNORED.sub("", plain)).translate(_PLAIN_LETTERS)


def pieces(run: str) -> list[Piece]:
    """Split a folded run into its pieces, in order."""
    return [
        Piece(part[0], part.start(), part.end(), bool(_UNSPACED.match(part[0]))) for part in _SEGMENT.finditer(run)
    ]


def bare(word: str) -> str:
    """Return a folded word without elided articles, the English genitive and apostrophes, cut if too long."""
    if "'" in word:
        word = word.removesuffix("'s") if _ENGLISH_ENDING.search(word) else _ELISION.sub("", word, count=1)
    return word.replace("'", "")[:LONGEST_TOKEN]


def whole_of(run: str) -> str:
    """Return a folded run with dots as one token: `node.js`, `1.2.3` also for `v1.2.3`; "" for any other run."""
    if "." not in run or _UNSPACED.search(run):
        return ""
    version = _VERSION.fullmatch(run)
    return (version[1] if version else run.replace("'", ""))[:LONGEST_TOKEN]


def _tokens_of_run(run: str) -> tuple[str, ...]:
    if run.isascii() and run.isalnum():
        return (run.lower()[:LONGEST_TOKEN],)
    folded = fold(run)
    tokens: list[str] = []
    if whole := whole_of(folded):
        tokens.append(whole)
        if _VERSION.fullmatch(folded):
            parts = whole.split(".")
            return (whole, *(".".join(parts[:n]) for n in range(2, len(parts))))
        if not whole.startswith(".") and (last := whole.rpartition(".")[2]).isalpha():
            tokens.append(f".{last}")
    for text, _, _, unspaced in pieces(folded):
        tokens += [text[at : at + 2] for at in range(len(text))] if unspaced else [bare(text)]
    return tuple(token for token in tokens if token and not any(map(str.isspace, token)))


_tokens_of_runs = _Kept(_tokens_of_run)


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text, in order. A whole dotted word comes before its parts."""
    plain = _SCHEME.sub(" ", text) if "://" in text else text
    return list(chain.from_iterable(map(_tokens_of_runs.__getitem__, _pattern_of(plain).findall(plain))))


def is_single_sign(token: str) -> bool:
    """Return whether a token is one character of a script without spaces: the last of a run."""
    return len(token) == 1 and bool(_UNSPACED.match(token))


def joined(tokens: Iterable[str]) -> str:
    """Return tokens in a row as readers write them: pairs of characters overlap, between words are spaces."""
    text = ""
    for token in tokens:
        is_pair = len(token) == 2 and bool(_UNSPACED.match(token))
        text += token[1] if is_pair and text.endswith(token[0]) else f" {token}" if text else token
    return text


def phrase_of(text: str) -> list[str]:
    """Return the tokens that follow each other in every text with this one: of a dotted word, that alone."""
    found = _pattern_of(text).findall(text)
    if len(found) == 1 and (whole := whole_of(fold(found[0]))):
        return [whole]
    tokens = [token for run in found for token in _tokens_of_runs[run]]
    if len(tokens) > 1 and is_single_sign(tokens[-1]):
        tokens.pop()  # in a longer run, the next character would follow
    return tokens


_FUNCTION_WORDS = {
    "german": "der die das und ist nicht ein eine mit von fur auf zu im den dem wie wird uber sich auch bei aus",
    "french": "le la les des est et une dans pour pas sur au aux du que qui avec ce cette par plus comment vous",
    "spanish": "el los las una es y con para por del que como mas se su al lo sobre cuando esta",
    "italian": "il lo gli della delle dei che di e per con una non come sono piu nel nella alla anche",
    "portuguese": "o os as um uma em para com nao que do da dos das por mais como ao seu sua",
    "dutch": "het een van en voor niet met op zijn aan dat hoe naar ook worden deze",
    "swedish": "och att det som en ett pa ar av med inte till om hur den har",
}
_CODES = {"german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl"}
_CODES |= {"swedish": "sv", "russian": "ru"}
_LANGUAGES_OF = dict[str, list[str]]()
for _language, _words in _FUNCTION_WORDS.items():
    for _one in _words.split():
        _LANGUAGES_OF.setdefault(_one, []).append(_language)
_FOREIGN = frozenset(_LANGUAGES_OF)
_ENGLISH = "the of and to in a is for on that with how why are you it an from by your what i my"
for _one in _ENGLISH.split():
    _LANGUAGES_OF.setdefault(_one, []).append("english")
_CYRILLIC = re.compile("[а-яё]{4,}")


def language_of(tokens: Collection[str]) -> str:
    """Return the language of a text by its function words: two or more, and more than of any other; else English.

    Cyrillic text counts as Russian. A guess: it decides only how words are stemmed.
    """
    if sum(map(_FOREIGN.__contains__, tokens)) < 2:
        return "english"
    known = filter(None, map(_LANGUAGES_OF.get, tokens))
    counts = Counter(chain.from_iterable(known))
    best = max(counts, key=counts.__getitem__, default="english")
    return best if counts[best] > max(1, counts["english"]) else "english"


_local = threading.local()  # stemmers have state, so each thread has its own


def _stemmer(language: str) -> Callable[[str], str]:
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer(language, 0).stemWord  # `stem` keeps results itself
    return stemmers[language]  # type: ignore[no-any-return]


def stem(token: str, language: str = "english") -> str:
    """Return the stem of a token in a language; the token itself if it is short or no word of letters.

    Words of up to three letters are not stemmed, and no stem is shorter: `ios` and `aws` would lose a letter.
    """
    return _stems[language][token]


def _stem(language: str, token: str) -> str:
    if _CYRILLIC.fullmatch(token):
        language = "russian"
    elif not _WORD.fullmatch(token):
        return token
    stemmed = _stemmer(language)(token)
    if len(stemmed) < 3:
        return token
    return stemmed if language == "english" else f"{_CODES[language]}:{stemmed}"


_stems = {language: _Kept(partial(_stem, language)) for language in ("english", *_FUNCTION_WORDS)}


def stems_in(language: str) -> Mapping[str, str]:
    """Return the stems of all tokens in a language, as `stem` does."""
    return _stems[language]


def stems_of(token: str) -> tuple[str, ...]:
    """Return the stems of a token in every language."""
    return tuple(dict.fromkeys(stem(token, language) for language in ("english", *_FUNCTION_WORDS)))


@kept_if_short(1 << 15, 100)
def words_of_host(host: str) -> tuple[str, ...]:
    """Return the labels of a host but the last, also as they are displayed: `blog`, `example`."""
    spelled = ".".join(map(_unicode_label, host.split(".")))
    return tuple(
        dict.fromkeys(
            token for name in (host, spelled) for label in name.split(".")[:-1] for token in tokens_of(label)
        )
    )


def _unicode_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode().decode("punycode")
    except ValueError:
        return label

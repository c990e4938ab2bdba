"""The index: its fields, how articles and comments are entered, and where it is kept."""

import fcntl
import json
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from math import log10
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from uuid import uuid4
from zlib import crc32

import tantivy
from tantivy import Document, Query

from accounts.names import canonical
from articles.domain.articles import Article
from articles.domain.comments import Comment
from articles.domain.explanation import BASE_OF_PRIOR
from articles.text.lines import InvalidInput
from articles.text.links import hosts_of, link_digest
from articles.text.searching import language_of, stems_in, tokens_of, words_of_host

FORMAT = "4"  # increase it with every change of what is indexed: existing indexes are then built again

ARTICLES, COMMENTS = "a", "c"

_HEAP = 15_000_000  # bytes of memory for the writer: the least that it takes

_HEAP_OF_BUILD = 60_000_000

_DIGITS_OF_LINK = 10
"""40 bits: one of a million articles has another link with the same number once in a million pages."""

_STATE = 0  # key of the document that holds the state; articles and comments have positive ids
_CHUNK = 1 << 20

_COMPARED = 200  # words of a text by which its language is guessed

_YEAR, _FIRST_YEAR = 31_557_600, 2005

SCHEMA = (
    tantivy.SchemaBuilder()
    .add_unsigned_field("key", indexed=True, fast=True)
    .add_bytes_field("state", stored=True)
    .add_text_field("title", tokenizer_name="whitespace", index_option="position")
    .add_text_field("title_stems", tokenizer_name="whitespace", index_option="basic")
    .add_text_field("text", tokenizer_name="whitespace", index_option="position")
    .add_text_field("text_stems", tokenizer_name="whitespace", index_option="freq")
    .add_text_field("names", tokenizer_name="whitespace", index_option="basic")
    .add_unsigned_field("time", fast=True)
    .add_unsigned_field("score", fast=True)
    .add_unsigned_field("rank", fast=True)
    .add_integer_field("points", fast=True)
    .add_unsigned_field("prior", fast=True)
    .add_unsigned_field("mark", fast=True)
    .add_unsigned_field("link", indexed=True, fast=True)
    .build()
)
"""Each text field costs a byte for every document, so `names` has all that is matched as a whole.

In it are words of hosts and posters, as they are; and names, each after a sign that no word begins with.
"""

NAME_SIGNS = {"host": "/", "author": "@", "group": "#"}

NO_ARTICLE, COMMENT = "~", "~c"  # in `names`: marks what is not an article, and of this the comments


@dataclass
class State:
    """What an index contains. `copy`: of which store; `weight`: of a vote, in seconds; `reached`: the last article
    entered while it is built, None when it is complete; `moments`: up to which each shard's changes are in it;
    `begun_at`: when its first article was entered, in Unix seconds.
    """

    copy: str
    weight: float
    reached: int | None = 0
    moments: dict[str, float] = field(default_factory=dict)
    begun_at: float = 0.0
    format: str = field(default_factory=lambda: FORMAT)


@contextmanager
def without_panics() -> Iterator[None]:
    """Raise ValueError for a panic of Tantivy, as on damaged files, whose class is no Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ValueError(str(error)) from error
        raise


def key_of(number: int, kind: str) -> int:
    """Return the key of an article's or a comment's document."""
    return number * 2 + (kind == COMMENTS)


def id_of(key: int) -> int:
    """Return the article or comment of a document."""
    return key // 2


_ID_BITS = 10
_ANY_ID = (1 << _ID_BITS) - 1


def ordered(value: float, number: int = _ANY_ID) -> int:
    """Return a number that orders by a value, to a thousandth, then by the last bits of the id."""
    return (min(max(0, round(value * 1000)), (1 << 53) - 1) << _ID_BITS) | (number & _ANY_ID)


def value_of(order: int) -> float:
    """Return the value in what `ordered` returned."""
    return (order >> _ID_BITS) / 1000


_LEAST_RANKED = 1_000_000  # ranked points below zero that `rank` tells apart


def ranked_points_in(rank: int) -> int:
    """Return the points that rank an article, as its field `rank` has them."""
    return (rank >> _ID_BITS) - _LEAST_RANKED


def prior_of(points: int, posted_at: float) -> int:
    """Return what raises an article's relevance apart from its words: that is multiplied by log2(2 + prior).

    14, and 20 · log10(1 + points), and 2 for each year after 2005. From 4.0 for an old article without points to
    6.9 for a recent one with 1,000.
    """
    of_age = max(0, round(2 * (posted_at / _YEAR + 1970 - _FIRST_YEAR)))
    return BASE_OF_PRIOR + prior_of_points(points) + of_age


def prior_of_points(points: int) -> int:
    """Return what points add to the prior."""
    return round(20 * log10(1 + max(0, points)))


def mark_of_article(article: Article) -> int:
    """Return a number that differs, but by a rare chance, when the article's words or groups do."""
    facts = "\0".join((article.title, article.link, article.poster_name, str(article.edited_at)))
    return crc32(facts.encode()) & 0xFFFF0000 | groups_mark(article.groups)


def link_number(link: str) -> int:
    """Return a number that is equal for clean links to the same page: part of their digest."""
    return int(link_digest(link)[:_DIGITS_OF_LINK], 16)


def groups_mark(groups: Iterable[str]) -> int:
    """Return the part of the mark that is about the groups."""
    return crc32(",".join(groups).encode()) & 0xFFFF


def is_in_groups(mark: int | None, groups: Iterable[str]) -> bool:
    """Return whether an entry with this mark, if there is one, has an article in these groups."""
    return mark is not None and mark & 0xFFFF == groups_mark(groups)


def column(searcher: tantivy.Searcher, name: str, places: list[tantivy.DocAddress]) -> list[int]:
    """Return the values of a numeric field of these documents."""
    return [int(value or 0) for value in searcher.fast_field_values(name, places)]


def places_of(searcher: tantivy.Searcher, kind: str, ids: Iterable[int]) -> dict[int, tantivy.DocAddress]:
    """Return the documents of these articles or comments, as far as they are in the index."""
    found = dict[int, tantivy.DocAddress]()
    for number in ids:
        hits = searcher.search(Query.term_query(SCHEMA, "key", key_of(number, kind)), 1, count=False).hits
        if hits:
            found[number] = hits[0][1]
    return found


def column_of(searcher: tantivy.Searcher, name: str, kind: str, ids: Iterable[int]) -> dict[int, int]:
    """Return the values of a numeric field of these articles or comments, as far as they are in the index."""
    places = places_of(searcher, kind, ids)
    return dict(zip(places, column(searcher, name, [*places.values()]), strict=True))


def mark_of_comment(comment: Comment) -> int:
    """Return a number that differs, but by a rare chance, when another text of the comment is indexed."""
    return crc32(f"{comment.author_name}\0{comment.text}".encode())


def named(kind: str, name: str) -> str:
    """Return the token in `names` of a host, an author (canonical) or a group."""
    return NAME_SIGNS[kind] + "_".join(name.split())


@lru_cache(1 << 14)
def _names_of_hosts(hosts: tuple[str, ...]) -> str:
    words = words_of_host(hosts[0].partition("/")[0]) if hosts else ()
    return " ".join((*words, *(named("host", host) for host in hosts)))


@lru_cache(1 << 14)
def _names_of_author(name: str) -> str:
    return " ".join((*tokens_of(name), named("author", canonical(name)))) if name else ""


_FENCE = re.compile(r"^[ >]*(?:```|~~~).*$", re.MULTILINE)
"""Where code begins or ends in a text: the language that it may name is not shown."""


def _add_words(document: Document, name: str, text: str) -> None:
    tokens = tokens_of(_FENCE.sub("", text))
    stems = stems_in(language_of(tokens[:_COMPARED]))
    document.add_text(name, " ".join(tokens))
    if changed := [stemmed for token in tokens if (stemmed := stems[token]) != token]:
        document.add_text(f"{name}_stems", " ".join(changed))


def document_of_article(article: Article, weight: float) -> Document:
    """Return an article as the index contains it."""
    document, number, posted_at, ranked = Document(), article.id, article.posted_at, article.ranked_points
    _add_words(document, "title", article.title)
    if article.text:
        _add_words(document, "text", article.text)
    groups = [named("group", slug) for slug in article.groups]
    names = (_names_of_hosts(hosts_of(article.link)), _names_of_author(article.poster_name), *groups)
    document.add_text("names", " ".join(names))
    document.add_unsigned("key", key_of(number, ARTICLES))
    document.add_unsigned("time", ordered(posted_at, number))
    document.add_unsigned("score", ordered(posted_at + weight * ranked, number))
    document.add_unsigned("rank", ordered((ranked + _LEAST_RANKED) / 1000, number))
    document.add_integer("points", article.points)
    document.add_unsigned("prior", prior_of(ranked, posted_at))
    document.add_unsigned("mark", mark_of_article(article))
    with suppress(InvalidInput):  # a damaged link is none
        document.add_unsigned("link", link_number(article.link))
    return document


def document_of_comment(comment: Comment, groups: Iterable[str]) -> Document:
    """Return a comment, on an article in these groups, as the index contains it."""
    document = Document()
    _add_words(document, "text", comment.text)
    names = (
        NO_ARTICLE,
        COMMENT,
        _names_of_author(comment.author_name),
        *(named("group", slug) for slug in groups),
    )
    document.add_text("names", " ".join(names))
    document.add_unsigned("key", key_of(comment.id, COMMENTS))
    document.add_unsigned("time", ordered(comment.posted_at, comment.id))
    document.add_integer("points", comment.points)
    document.add_unsigned("prior", prior_of(comment.points, comment.posted_at))
    document.add_unsigned("mark", mark_of_comment(comment))
    return document


class Writer:
    """Writes one index. What it enters is seen after `commit`, all at once, together with the state."""

    def __init__(self, index: tantivy.Index, *, builds: bool = False) -> None:
        self._index = index
        self._writer = index.writer(_HEAP_OF_BUILD if builds else _HEAP, 1)
        self._writer.garbage_collect_files()  # else what a failed commit left is in the way of the next one
        self.is_filling = False  # whether nothing that is entered can be in the index already, but the state

    def enter(self, documents: Iterable[tuple[int, Document | None]]) -> None:
        """Replace the documents with these keys; remove those for which there is None.

        By query: to `delete_documents_by_term`, an unsigned number of Tantivy 0.27's binding is none.
        """
        for key, document in documents:
            if not self.is_filling or key == _STATE:
                self._writer.delete_documents_by_query(Query.term_query(SCHEMA, "key", key))
            if document:
                self._writer.add_document(document)

    def commit(self, state: State) -> None:
        """Make the changes visible, and lasting. Raises OSError or ValueError, as on a full disk."""
        document = Document()
        document.add_unsigned("key", _STATE)
        document.add_text("names", NO_ARTICLE)
        document.add_bytes("state", json.dumps(asdict(state)).encode())
        self.enter([(_STATE, document)])
        self._writer.commit()

    def searcher(self) -> tantivy.Searcher:
        """Return a view of what is committed by now; that of `Index.searcher` may be a moment older."""
        self._index.reload()
        return self._index.searcher()

    def close(self) -> None:
        """Release the index for another writer."""
        with suppress(Exception), without_panics():
            self._writer.wait_merging_threads()


def read_state(searcher: tantivy.Searcher) -> State | None:
    """Return the state of an index; None if it has none, or is of another format."""
    hits = searcher.search(Query.term_query(SCHEMA, "key", _STATE), 1).hits
    if not hits:
        return None
    try:
        state = State(**json.loads(bytes(searcher.doc(hits[0][1])["state"][0])))
    except (LookupError, TypeError, ValueError):
        return None
    return state if state.format == FORMAT else None


def _in_memory() -> tantivy.Index:
    index = tantivy.Index(SCHEMA)
    index.config_reader("manual", 1)  # else a thread that reloads it, too, may show an earlier commit again
    return index


class Index:
    """An index in the memory of this process."""

    def __init__(self) -> None:
        self._index = _in_memory()

    def opened(self) -> tantivy.Index:
        """Return what gives views of the last commit. Raises OSError or ValueError without an index."""
        return self._index

    def writer(self, *, is_new: bool = False) -> Writer:
        """Return the writer of the index, or of a new one, which is searched from its first commit on."""
        if is_new:
            self._index = _in_memory()
        return Writer(self._index)

    def publish(self) -> None:
        """Let searches use what the writer has committed."""
        self._index.reload()

    def release(self) -> None:
        """Let another process write. What was written, but not published, is deleted."""

    def doubt(self) -> bool:
        """Let the process that writes check the index, since it cannot be read. Return whether this is news."""
        return True

    def is_lost(self) -> bool:
        """Return whether searches do not use what is written, or doubt it: then it has to be opened again."""
        return False

    def fault(self) -> str:
        """Return why nothing can be written now, as far as the system says it; "" if something can."""
        return ""


class IndexFolder(Index):
    """The indexes in a folder: one is written by one process and searched by all, others are left from before."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._current = folder / "current"
        self._doubted = folder / "doubted"
        self._writing = ""
        self._opened: tuple[str, tantivy.Index] | None = None
        self._opening = threading.Lock()
        self._claimed: IO[bytes] | None = None

    def opened(self) -> tantivy.Index:
        name = self._current.read_text("ascii")
        opened = self._opened
        if opened is None or opened[0] != name:
            with self._opening:
                with without_panics():
                    index = tantivy.Index.open(str(self._folder / name))
                    index.config_reader("commit", 1)
                opened = self._opened = (name, index)
        return opened[1]

    def writer(self, *, is_new: bool = False) -> Writer:
        self._claim()
        if is_new:
            self._delete_others(self._published())  # as of a build that was killed
            self._writing = uuid4().hex
            (self._folder / self._writing).mkdir(mode=0o700, parents=True)
            index = tantivy.Index(SCHEMA, path=str(self._folder / self._writing))
        else:
            self._writing = self._current.read_text("ascii")
            _check_files(self._folder / self._writing)
            self._doubted.unlink(missing_ok=True)
            index = tantivy.Index.open(str(self._folder / self._writing))
        return Writer(index, builds=is_new)

    def publish(self) -> None:
        if self._published() == self._writing:
            return
        following = self._folder / "following"
        following.write_text(self._writing, "ascii")
        following.replace(self._current)
        self._doubted.unlink(missing_ok=True)
        self._delete_others(self._writing)

    def doubt(self) -> bool:
        try:
            self._doubted.touch(exist_ok=False)
        except OSError:
            return False
        return True

    def is_lost(self) -> bool:
        is_whole = self._published() == self._writing and (self._folder / self._writing / "meta.json").exists()
        return not is_whole or self._doubted.exists()

    def fault(self) -> str:
        try:
            with TemporaryFile(dir=self._folder) as file:
                file.write(bytes(_CHUNK))
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def _published(self) -> str:
        """Return the name of the index that searches use; "" without one."""
        try:
            return self._current.read_text("ascii")
        except (OSError, ValueError):
            return ""

    def _claim(self) -> None:
        """Become the one process that writes. Raises BlockingIOError if another does."""
        if self._claimed is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (self._folder / "writing").open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise
            self._claimed = file

    def release(self) -> None:
        if self._claimed:
            if self._writing and self._published() != self._writing:
                shutil.rmtree(self._folder / self._writing, ignore_errors=True)
            self._claimed.close()
        self._claimed = None

    def _delete_others(self, kept: str) -> None:
        for path in self._folder.iterdir():
            if path.is_dir() and path.name != kept:
                shutil.rmtree(path, ignore_errors=True)


def _check_files(folder: Path) -> None:
    """Compare the files of the last commit with their checksums. Raises OSError or ValueError for a damaged one.

    Tantivy checks only that they have one: its number is in JSON near the end of each file.
    """
    segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    for segment in segments:
        name, deletes = segment["segment_id"].replace("-", ""), segment["deletes"]
        of_deletes = f"{name}.{deletes['opstamp']}.del" if deletes else ""
        for path in folder.glob(f"{name}.*"):
            if path.suffix != ".del" or path.name == of_deletes:
                _check_file(path)


def _check_file(path: Path) -> None:
    with path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        left, found = size - 8 - length, 0
        if left >= 0:
            file.seek(left)
            footer = file.read(length)
            file.seek(0)
            while chunk := file.read(min(left, _CHUNK)):
                found, left = crc32(chunk, found), left - len(chunk)
            if json.loads(footer)["crc"] == found:
                return
    raise ValueError(f"the file {path.name} is damaged")

"""Follows the store: builds the index, and enters what changes."""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import article_of
from articles.domain.errors import StoreDamaged, StoreError
from articles.repository import ChangesLostError, Repository, portions, read_ahead
from articles.repository.finding import index as indexing

EVERY = 0.5  # seconds between two looks at the changes

_AFTER_FAILURE = 15.0
_OLDEST = 7 * 86400.0
"""Seconds after which an index is built again: until then its files may have words of what was removed."""

_PER_READ = 500
_PER_COMMIT = 20_000
_REPORTED_EVERY = 5.0

_PLACE = re.compile(' at path ".*?"')  # in an error of Tantivy: another one each time

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Follower:
    """Keeps an index equal to a store. For one thread."""

    def __init__(self, open_repository: Callable[[], Repository], index: indexing.Index) -> None:
        self._open_repository = open_repository
        self._index = index
        self._writer: indexing.Writer | None = None
        self._state = indexing.State("", 0.0)
        self._seen = dict[tuple[int, bool], float]()  # the changes read last, by id and kind: some are read again
        self._failures = set[str]()  # the reasons that are logged since it was written last

    def keep(self, stopping: threading.Event) -> None:
        """Follow until `stopping`. Failures are logged, once each, and what failed is tried again."""
        while not stopping.is_set():
            pause = EVERY
            try:
                self.catch_up(stopping.is_set)
                if self._failures:
                    self._failures.clear()
                    _log.info("the search index is written again")
            except (StoreError, BlockingIOError):
                self.close()  # others report it; or another process writes, until it ends
            except Exception as error:
                self._report(error)
                self.close()
                pause = _AFTER_FAILURE
            stopping.wait(pause)
        self.close()

    def _report(self, error: Exception) -> None:
        """Log why the index cannot be written, each reason once."""
        reason = self._index.fault() or _PLACE.sub("", str(error))
        if reason not in self._failures:
            self._failures.add(reason)
            _log.warning("the search index cannot be written, and is tried again: %s", reason)

    @indexing.without_panics()
    def catch_up(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Enter what has changed; build the index if it is missing, damaged, of another copy or outdated."""
        repository = self._open_repository()
        if self._writer and self._index.is_lost():
            self.close()
        if self._writer is None:
            repository.changes.get_copy()  # no file is opened while the store does not answer
            self._open()
        is_new = time.time() - self._state.begun_at > _OLDEST
        if not is_new and self._state.reached is None and self._writer:
            with suppress(ChangesLostError):
                self._follow(repository, self._writer)
                return
            is_new = True
        copy, weight = repository.changes.get_copy(), repository.changes.get_weight()
        is_new |= (self._state.copy, self._state.weight) != (copy, weight)
        self._build(repository, indexing.State(copy, weight, begun_at=time.time()), is_stopped, is_new=is_new)

    def close(self) -> None:
        """Release the index."""
        if self._writer:
            self._writer.close()
        self._writer, self._state = None, indexing.State("", 0.0)
        self._index.release()

    def _open(self) -> None:
        """Open the existing index, if it can be read."""
        try:
            with indexing.without_panics():
                writer = self._index.writer()
        except BlockingIOError:
            raise
        except (LookupError, OSError, TypeError, ValueError):
            return
        state = indexing.read_state(writer.searcher())
        if state:
            self._writer, self._state = writer, state
        else:
            writer.close()

    def _follow(self, repository: Repository, writer: indexing.Writer) -> None:
        found = repository.changes.read_since(self._state.moments, self._state.copy, self._state.weight)
        fresh = [one for changes in found.values() for one in changes if self._seen.get(one[:2]) != one.at]
        if not fresh:
            return
        for batch in portions([one.id for one in fresh if not one.is_comment], _PER_READ):
            before = indexing.column_of(writer.searcher(), "mark", indexing.ARTICLES, batch)
            listed = {one.id: one for one in _undamaged(repository.changes.read_articles, batch)}
            _enter(writer, batch, listed.values(), self._state.weight)
            regrouped = [
                one.id for one in listed.values() if not indexing.is_in_groups(before.get(one.id), one.groups)
            ]
            gone = [number for number in before if number not in listed]
            _enter_comments_on(repository, writer, [*regrouped, *gone], listed)
        for batch in portions([one.id for one in fresh if one.is_comment], _PER_READ):
            _enter_comments(repository, writer, batch, {})
        for prefix, changes in found.items():
            if changes:
                self._state.moments[prefix] = max(self._state.moments[prefix], changes[-1].at)
        writer.commit(self._state)
        self._index.publish()
        self._seen = {one[:2]: one.at for changes in found.values() for one in changes}

    def _build(
        self, repository: Repository, state: indexing.State, is_stopped: Callable[[], bool], *, is_new: bool
    ) -> None:
        """Build the index from all articles and comments; continue where the last attempt stopped."""
        if is_new or self._writer is None:
            state.moments = repository.changes.get_moments()
            if self._writer:
                self._writer.close()
            self._writer = self._index.writer(is_new=True)
            self._writer.is_filling = True
            self._state, self._seen = state, {}
        writer, state = self._writer, self._state

        def read(ids: list[ArticleId]) -> tuple[list[ArticleId], list[Article]]:
            return ids, _undamaged(repository.changes.read_articles, ids)

        is_shown, reported, began = self._has_none(), time.monotonic(), time.monotonic()
        last, reached, entered = repository.changes.get_last_id(), state.reached or 0, 0
        if is_shown:
            writer.commit(state)
            self._index.publish()
        for ids, articles in read_ahead(read, portions(range(reached + 1, last + 1), _PER_READ)):
            if is_stopped():
                break
            _enter(writer, ids, articles, state.weight)
            listed = {one.id: one for one in articles if one.comments}
            _enter_comments_on(repository, writer, [*listed], listed)
            reached, entered = ids[-1], entered + len(ids)
            if entered >= _PER_COMMIT and is_shown:
                state.reached, entered = reached, 0
                writer.commit(state)
            if time.monotonic() - reported >= _REPORTED_EVERY:
                reported = time.monotonic()
                _log.info("the search index is being built: %s of %s articles", f"{reached:,}", f"{last:,}")
        writer.is_filling = False
        state.reached = None if reached >= last else reached
        writer.commit(state)
        if state.reached is None or is_shown:
            self._index.publish()
        if state.reached is None and last:
            _log.info("the search index is complete, after %.1f s", time.monotonic() - began)

    def _has_none(self) -> bool:
        """Return whether searches have no complete index of this store to use meanwhile."""
        try:
            state = indexing.read_state(self._index.opened().searcher())
        except (OSError, ValueError):
            return True
        return state is None or state.reached is not None or state.copy != self._state.copy


def _enter(writer: indexing.Writer, ids: Iterable[ArticleId], articles: Iterable[Article], weight: float) -> None:
    documents = {article.id: indexing.document_of_article(article, weight) for article in articles}
    writer.enter((indexing.key_of(number, indexing.ARTICLES), documents.get(number)) for number in ids)


def _undamaged(read: Callable[[list[int]], list[T]], ids: list[int]) -> list[T]:
    """Return what can be read; what the audit reports as damaged is left out."""
    try:
        return read(ids) if ids else []
    except StoreDamaged:
        half = len(ids) // 2
        return [*_undamaged(read, ids[:half]), *_undamaged(read, ids[half:])] if half else []


def _enter_comments_on(
    repository: Repository, writer: indexing.Writer, ids: list[ArticleId], listed: Mapping[ArticleId, Article]
) -> None:
    groups = {article.id: article.groups for article in listed.values()}
    comments = _undamaged(repository.changes.list_comments_on, ids)
    for batch in portions(comments, _PER_READ):
        _enter_comments(repository, writer, batch, groups)


def _enter_comments(
    repository: Repository, writer: indexing.Writer, ids: list[int], groups: Mapping[ArticleId, tuple[str, ...]]
) -> None:
    if missing := sorted({article_of(number) for number in ids} - groups.keys()):
        groups = {**groups} | {one.id: one.groups for one in _undamaged(repository.changes.read_articles, missing)}
    documents = {
        one.id: indexing.document_of_comment(one, groups[one.article])
        for one in _undamaged(repository.changes.read_comments, ids)
        if one.article in groups
    }
    writer.enter((indexing.key_of(number, indexing.COMMENTS), documents.get(number)) for number in ids)

"""The index of the words of comments, for audit, repair, and stores indexed by another version of the site.

Scripts that post, edit, delete, remove and restore a comment maintain it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentId, root_of
from articles.repository.search.index import Finding, by_words
from articles.repository.search.memberships import Memberships
from articles.repository.search.word_sets import WordSets
from articles.repository.store.batches import ARTICLES_PER_CHECK, TEXTS_PER_READ
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions
from articles.repository.store.values import count_from
from articles.searching import words_of_comment


class _Indexed(NamedTuple):
    """What a comment is indexed by, the words that it names, and why it is not shown; None for what it lacks."""

    text: str | None
    words: str | None
    removed: str | None

    def has_its_words(self) -> bool:
        """Return whether it names the words of its text, or has none."""
        return self.text is None or self.words == words_of_comment(self.text)


class CommentIndex:
    """The index of a store's comments."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sets = WordSets(store, of_comments=True)

    def update_on(self, articles: Iterable[ArticleId]) -> None:
        """Index the comments on these articles. Idempotent. One round trip, some more for each batch."""
        for keys, ids in self._store.shards.split(articles).items():
            with self._store.pipeline() as pipe:
                for article_id in ids:
                    pipe.hget(keys.article(article_id), "comment_ids")
                last = map(count_from, pipe.execute())
            roots = zip(map(root_of, ids), last, strict=True)
            comments = chain.from_iterable(range(root + 1, root + 1 + number) for root, number in roots)
            for batch in portions(comments, ARTICLES_PER_CHECK):
                self.update(keys, batch)

    def update(self, keys: Keys, ids: Sequence[CommentId], memberships: Memberships | None = None) -> None:
        """Index those of these comments that are shown by their current texts; `memberships` counts their words.

        Idempotent. Two round trips for each batch of `TEXTS_PER_READ`.
        """
        for batch in portions(ids, TEXTS_PER_READ):
            comments = self._read(keys, batch)
            words = {one: words_of_comment(comment.text or "") for one, comment in comments.items()}
            rows = [
                (str(one), "" if comment.words == words[one] else comment.text or "", words[one])
                for one, comment in comments.items()
                if comment.text is not None
            ]
            self._store.run_many(
                [
                    Call("search/index_comments", (keys.comment_lexicon,), (keys.prefix, *chain(*part)))
                    for part in by_words(rows)
                ]
            )
            if memberships is not None:
                memberships.add((words[int(one)], "") for one, *_ in rows if comments[int(one)].removed is None)

    def leave(self, keys: Keys, former: Mapping[CommentId, str]) -> None:
        """Remove comments from those of their former words that they no longer name. Idempotent."""
        words = {comment_id: text.split() for comment_id, text in former.items()}
        self._store.run_many(
            [
                Call("repair/words", (keys.comment_lexicon,), (keys.prefix, "comment", len(had), *had, comment_id))
                for comment_id, had in words.items()
            ]
        )

    def check(
        self, keys: Keys, batch: Sequence[str], wrong: Container[str], memberships: Memberships
    ) -> Iterator[Finding]:
        """Yield comments whose words differ from their texts. One round trip for each `TEXTS_PER_READ`.

        Counts the memberships of those that are not `wrong`, by the names of their keys: they are in every set
        that they name.
        """
        for part in portions(map(int, batch), TEXTS_PER_READ):
            named = list[tuple[str, str]]()
            for comment_id, comment in self._read(keys, part).items():
                if not comment.has_its_words():
                    yield Finding(keys.comment(comment_id), "is not indexed by the words of its text")
                if comment.removed is None and keys.comment(comment_id) not in wrong:
                    named.append((comment.words or "", ""))
            memberships.add(named)

    def list_doubtful(self, keys: Keys, words: Iterable[str], memberships: Memberships) -> list[str]:
        """Return, of these words and those in the lexicon, those that do not hold exactly the counted comments."""
        return list(self._sets.list_doubtful(keys, words, memberships))

    def check_words(self, keys: Keys, words: Sequence[str]) -> Iterator[Finding]:
        """Yield words with comments that do not belong there, and errors of the lexicon. In batches."""
        return self._sets.check_words(keys, words)

    def repair_words(self, keys: Keys, words: Sequence[str]) -> None:
        """Remove comments that do not belong there from these words, and correct the lexicon. In batches."""
        self._sets.repair_words(keys, words)

    def _read(self, keys: Keys, ids: Sequence[CommentId]) -> dict[CommentId, _Indexed]:
        """Return what these comments are indexed by. One round trip."""
        with self._store.pipeline() as pipe:
            for comment_id in ids:
                pipe.hmget(keys.comment(comment_id), "text", "words", "removed")
            replies = pipe.execute()
        return {one: _Indexed(*reply) for one, reply in zip(ids, replies, strict=True)}

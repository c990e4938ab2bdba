"""Suggestions of another title or other groups: supported by members, decided by posters and moderators."""

from collections.abc import Collection, Iterator

from articles.domain.articles import Article, ArticleId
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.repository.groups import Groups
from articles.repository.lists.reading import read_articles, split_groups
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.connection import OfStore, Store, Value, exact_time
from articles.repository.store.keys import BY_NAME, Keys
from articles.repository.store.scan import portions, ranked_members
from extras.suggestions.suggestions import (
    MOST_SUGGESTIONS,
    SUGGESTION_SECONDS,
    Suggestion,
    SuggestionKind,
    open_suggestions,
    suggestion_id,
)

_SUGGESTED = BY_NAME["suggested:<user>"]

_ARTICLES_PER_STEP = 50


def _suggested(keys: Keys, member: UserId) -> str:
    return keys.prefix + _SUGGESTED.of(member)


class Suggestions(OfStore):
    """The suggestions of a store. Those of an article are in its hash."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._groups = Groups(store)

    def list_open(self, article: Article) -> list[Suggestion]:
        """Return the open suggestions for an article that was read with its HTML. No round trip."""
        field = dict(article.extras).get("suggestions")
        return list(open_suggestions(field, article.title, article.groups, self._store.now()))

    def support(
        self,
        article_id: ArticleId,
        member: UserId,
        kind: SuggestionKind,
        to: str,
        *,
        quorum: int,
        closed: Collection[str] = (),
        brought: Collection[str] = (),
        fixed: Collection[str] = (),
    ) -> bool:
        """Suggest a title, or existing groups, or support that; return whether `quorum` supporters applied it.

        Supporters alone neither change whether it is in `closed` groups, nor whether it is in one that is `fixed`,
        nor take it out of all its groups; those do not count into which supporters `brought` it.

        One round trip, and one or more if groups were changed. Idempotent. Raises ArticleNotFound, ArticleRemoved,
        AccountDeleted, OwnArticle, SuggestionClosed, SuggestionUnchanged, SuggestionsFull.
        """
        with self._store.retracting([article_id]):
            limits = closed, brought, fixed
            is_applied = self._support(
                article_id, member, suggestion_id(kind, to), kind.value, to, quorum, *limits
            )
            if is_applied and kind is SuggestionKind.GROUPS:
                self._groups.follow_merges(split_groups(to))
        return is_applied

    def take_back(self, article_id: ArticleId, member: UserId, suggestion: str) -> None:
        """End support. One round trip. Idempotent. Raises ArticleNotFound, ArticleRemoved, AccountDeleted."""
        self._support(article_id, member, suggestion, "", "", 0)

    def _support(
        self,
        article_id: ArticleId,
        member: UserId,
        suggestion: str,
        kind: str,
        to: str,
        quorum: int,
        *limits: Collection[str],
    ) -> bool:
        store, keys = self._store, self._store.shards.of(article_id)
        (is_applied,) = store.change(
            "suggestions/support", article_id,
            [keys.article(article_id), _suggested(keys, member)],
            [
                article_id, member, suggestion, kind, to, exact_time(store.now()), SUGGESTION_SECONDS,
                quorum, MOST_SUGGESTIONS, store.rules.hot_size, keys.prefix,
                *(",".join(sorted(one)) for one in limits),
            ],
        )  # fmt: skip
        return bool(is_applied)

    def decide(self, article_id: ArticleId, actor: Actor, suggestion: Suggestion, *, accepted: bool) -> None:
        """Apply or decline it. Some round trips. Raises ArticleNotFound, ArticleRemoved, SuggestionNotFound."""
        store, keys = self._store, self._store.shards.of(article_id)
        with store.retracting([article_id] if accepted else []):
            store.change(
                "suggestions/decide", article_id,
                [keys.article(article_id)],
                [
                    article_id, suggestion.id, actor.name, int(accepted), exact_time(store.now()),
                    SUGGESTION_SECONDS, store.rules.hot_size, keys.prefix,
                ],
            )  # fmt: skip
            if accepted:
                self._groups.follow_merges(suggestion.groups)

    def withdraw(self, member: UserId) -> None:
        """Take back all support of a member. One round trip for each batch of each shard."""
        for keys in self._store.shards.all:
            count = _ARTICLES_PER_STEP
            while count == _ARTICLES_PER_STEP:
                given: list[Value] = [member, _ARTICLES_PER_STEP, keys.prefix]
                (count,) = self._store.run("suggestions/withdraw", [_suggested(keys, member)], given)

    def iterate_by(self, member: UserId) -> Iterator[tuple[ArticleId, Suggestion]]:
        """Yield the open suggestions that a member supports. Two round trips for each batch of each shard."""
        for keys in self._store.shards.all:
            for batch in portions(ranked_members(self._store, _suggested(keys, member)), ARTICLES_PER_READ):
                for article in read_articles(self._store, list(map(int, batch)), None, with_html=True):
                    yield from ((article.id, one) for one in self.list_open(article) if member in one.by)

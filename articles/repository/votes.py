"""Members' choices on articles."""

from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.members import UserId
from articles.repository.limits import cast
from articles.repository.store.connection import OfStore, exact_time


class Votes(OfStore):
    """The votes of a store."""

    def cast(self, article_id: ArticleId, user: UserId, choice: Choice, network: str = "") -> Tally:
        """Set a member's choice on an article; return the resulting counts. One round trip.

        `network` is the digest of a new account's network, in which voting rings are looked for; "" for others.
        Idempotent, because the choice is a target state: a client may retry after a lost reply. Raises
        ArticleNotFound, ArticleRemoved, VotingClosed, AccountDeleted, LimitReached.
        """
        store, keys = self._store, self._store.shards.of(article_id)
        given = (article_id, user, choice.value, exact_time(store.now()), store.rules.voters_grace, keys.prefix)
        ring = keys.ring(article_id, network) if network else ""
        return cast(store, "votes/cast", article_id, [keys.article(article_id)], given, ring)

"""Members' choices on articles."""

from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.members import UserId
from articles.repository.store.connection import Store, exact_time


class Votes:
    """The votes of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def cast(self, article_id: ArticleId, user: UserId, choice: Choice) -> Tally:
        """Set one user's choice and return the counts it led to. One round trip.

        The choice is a target state: repeating it changes nothing, so that a lost answer may be asked for
        again. Raises ArticleNotFound, ArticleRemoved, VotingClosed.
        """
        store, keys = self._store, self._store.shards.of(article_id)
        votes, opposes, now_chosen = store.change(
            "votes/cast",
            article_id,
            [keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)],
            [
                article_id,
                user,
                choice.value,
                exact_time(store.now()),
                store.rules.voters_grace,
                keys.prefix,
            ],
        )
        return Tally(int(votes), int(opposes), Choice(now_chosen))

"""Members' choices on articles."""

from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.errors import LimitReached
from articles.domain.limits import VOTES
from articles.domain.members import UserId
from articles.repository.limits import vote_arguments
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
        given = [keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)]
        if network:
            given.append(keys.ring(article_id, network))
        status, *reply = store.ask(
            "votes/cast",
            article_id,
            given,
            [
                article_id,
                user,
                choice.value,
                exact_time(store.now()),
                store.rules.voters_grace,
                keys.prefix,
                *vote_arguments(store),
                *((store.rules.ring_accounts, store.rules.ring_window) if network else ()),
            ],
            handled=("limited",),
        )
        if status == "limited":
            raise LimitReached(VOTES, int(reply[0]))
        votes, opposes, current_choice, ring_accounts = reply
        return Tally(int(votes), int(opposes), Choice(current_choice), int(ring_accounts))

"""Members' choices on articles, and what a vote on anything is."""

from collections.abc import Sequence

from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.errors import LimitReached
from articles.domain.limits import VOTES
from articles.domain.members import UserId
from articles.repository.store.connection import OfStore, Store, Value, exact_time


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


def cast(store: Store, script: str, subject: int, keys: Sequence[str], args: Sequence[Value], ring: str) -> Tally:
    """Run the script of a vote, which takes a use of the limit; return the resulting counts. One round trip.

    `ring`: key of the new accounts of the member's network; "" for other accounts. Raises LimitReached, and the
    errors of the script.
    """
    rules, rate = store.rules, store.rules.limits.get(VOTES)
    limit = (rate.refill_ms, rate.capacity_ms) if rate else (0, 0)
    of_ring = (rules.ring_accounts, rules.ring_window) if ring else ()
    given = [*keys, ring] if ring else keys
    status, *reply = store.ask(script, subject, given, [*args, *limit, *of_ring], handled=("limited",))
    if status == "limited":
        raise LimitReached(VOTES, int(reply[0]))
    votes, opposes, choice, ring_accounts = reply
    return Tally(int(votes), int(opposes), Choice(choice), int(ring_accounts))

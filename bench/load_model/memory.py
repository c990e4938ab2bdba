"""What an article that is read and a vote add to the store."""

from dataclasses import dataclass

from articles.domain.articles import Choice
from articles.domain.readership import Visit
from bench.lib.stores import passing_store
from bench.site.content import add_articles, used_memory

_ARTICLES, _READ, _VISITORS = 1000, 500, 5
_VOTED, _VOTERS = 200, 40


@dataclass(frozen=True, slots=True)
class Extra:
    """Bytes of the store for an article that was read, its visitors included, and for a vote on an open one."""

    read: float
    vote: float


def measure() -> Extra:
    with passing_store() as repository:
        add_articles(repository, _ARTICLES)
        newest = range(_ARTICLES, 0, -1)
        start, now = used_memory(repository), repository.store.now()
        for article in newest[:_READ]:
            repository.pageviews.record_many([(article, Visit(f"{n:016x}"), now) for n in range(_VISITORS)])
        read = used_memory(repository)
        for member in range(1, _VOTERS + 1):
            for article in newest[:_VOTED]:
                repository.votes.cast(article, 10_000 + member, Choice.VOTE)
        voted = used_memory(repository)
    return Extra((read - start) / _READ, (voted - read) / (_VOTED * _VOTERS))

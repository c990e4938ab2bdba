"""A simulation: of a thousand ordinary articles none is flagged for a voting ring.

The assumptions, each less favourable than an ordinary site:

- 980 articles receive 5 to 60 votes within a day, most of them in its first hours; 20 are popular, with 300 votes
  within one hour.
- Of the votes, 8 % come from accounts that joined within a day; on five of the popular articles, which attract
  readers from elsewhere, 25 %.
- For each five accounts that vote on an article, one more votes on a comment on it only.
- Of these accounts, 40 % vote from mobile carriers, whose gateways are 40 wide networks in all, and 10 % from five
  large campuses, one network each; the others are spread over 20,000 networks of homes and offices.
"""

import random

import pytest

from articles.domain.articles import Choice
from articles.repository import Repository
from tests.clock import Clock
from tests.factories import comment_on, post, vote_from

ARTICLES, POPULAR, SHARED_WIDELY = 1000, 20, 5
ON_COMMENTS = 1 / 6
HOUR, DAY = 3600, 86400
SEED = 20_260_101


def network(chance: random.Random) -> str:
    """Return the network of a new account."""
    kind = chance.random()
    if kind < 0.4:
        return f"{chance.randrange(40):016x}"
    return f"{100 + chance.randrange(5) if kind < 0.5 else 1000 + chance.randrange(20_000):016x}"


def votes_of_new_accounts(chance: random.Random, number: int) -> list[tuple[float, int]]:
    """Return when new accounts vote on article `number`, in seconds after its posting."""
    if number < POPULAR:
        share, times = 0.25 if number < SHARED_WIDELY else 0.08, [chance.uniform(0, HOUR) for _ in range(300)]
    else:
        share, times = 0.08, [chance.betavariate(1, 4) * DAY for _ in range(chance.randrange(5, 61))]
    new = [(at, number) for at in times if chance.random() < share]
    return new + [(chance.uniform(at, at + HOUR / 4), number) for at, _ in new if chance.random() < 0.2]


def simulate(repository: Repository, clock: Clock) -> tuple[list[int], int]:
    """Let the new accounts vote in the order of time; return the articles and the number of votes."""
    chance, began = random.Random(SEED), clock()
    ids = [post(repository, number) for number in range(ARTICLES)]
    comments = [comment_on(repository, article, "Agreed") for article in ids]
    votes = sorted(vote for number in range(ARTICLES) for vote in votes_of_new_accounts(chance, number))
    for member, (at, number) in enumerate(votes, start=10_000):
        clock.now = began + at
        choice = Choice.VOTE if chance.random() < 0.9 else Choice.OPPOSE
        if chance.random() < ON_COMMENTS:
            repository.comments.cast(comments[number], member, choice, network(chance))
        else:
            repository.votes.cast(ids[number], member, choice, network(chance))
    return ids, len(votes)


@pytest.mark.deep
def test_of_a_thousand_ordinary_articles_none_is_flagged(repository, clock):
    ids, votes = simulate(repository, clock)

    assert votes > 2500
    assert repository.voting_rings.count() == 0
    vote_from(repository, ids[0], 99_999, 10)
    assert repository.voting_rings.count() == 1, "a ring among them is"

"""Voting blocs: accounts that make the same choice on many more articles than chance explains. Pure.

The method is that of statistically validated networks (Tumminello et al., 2011, PLoS ONE 6(3), e17994): accounts
and articles form a bipartite network, and two accounts are joined if they share more articles than a random
choice gives, at a level that is corrected for the number of pairs (Bonferroni). Here the voters of each article
are drawn in proportion to their activity, on the whole site or within a topic, whichever explains more: members
who like the same group make the same choices without any arrangement.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p

from articles.domain.articles import ArticleId
from articles.domain.members import UserId

MOST_VOTERS = 100
"""Members with the same choice from which an article is left out: it says little about any two of them."""

FEWEST_ALIKE = 5
"""Minimum number of articles on which two accounts made the same choice."""

FEWEST_MEMBERS = 3
"""Minimum number of accounts in a bloc."""

MOST_PAIRS = 20_000_000
"""Maximum number of pairs of members to count, articles with the fewest voters first: some seconds."""

ERROR = 0.01
"""Probability that chance joins any two accounts of a site without blocs."""

_SMALL_TOPIC = 50
"""Minimum number of ballots of a topic: in a smaller one, a bloc would be most of the voters."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """The members who made the same choice on an article. `topic`: its first group, "" without one."""

    article: ArticleId
    topic: str
    members: Sequence[UserId]


@dataclass(frozen=True, slots=True)
class VotingBloc:
    """Accounts, each of which made the same choice as another on more articles than chance explains."""

    members: tuple[UserId, ...]
    articles: tuple[ArticleId, ...]
    """Those on which at least FEWEST_MEMBERS of them made the same choice, most members first."""

    alike: float
    """Number of articles on which two joined accounts made the same choice, on average."""

    expected: float
    """The number that chance alone would give."""


_BallotsOf = dict[UserId, list[int]]
"""The numbers of the ballots of each active member."""

_Pairs = dict[tuple[UserId, UserId], tuple[int, float]]
"""Joined accounts, the lower id first: on how many articles they agree, and would by chance."""


class _Crowd:
    """How active the accounts are, on the whole site and by topic."""

    def __init__(self, ballots: Sequence[Ballot]) -> None:
        counts = Counter(ballot.topic for ballot in ballots)
        self._topics = [ballot.topic if counts[ballot.topic] >= _SMALL_TOPIC else "" for ballot in ballots]
        sizes, squares = Counter[str | None](), Counter[str | None]()
        self.choices = defaultdict[UserId, Counter[str | None]](Counter)
        """The number of an account's choices by topic; under None, of all."""

        for ballot, topic in zip(ballots, self._topics, strict=True):
            for key in (None, topic):
                sizes[key] += len(ballot.members)
                squares[key] += len(ballot.members) ** 2
                for member in ballot.members:
                    self.choices[member][key] += 1
        self._rates = {key: squares[key] / sizes[key] ** 2 for key in sizes}

    def expected(self, one: UserId, other: UserId) -> float:
        """Return on how many articles two accounts make the same choice by chance: the sum of products of shares.

        A ballot of n members has an account with the probability n · its choices / all choices.
        """
        first, second = self.choices[one], self.choices[other]
        by_topic = fsum(first[key] * second[key] * self._rates[key] for key in first if key is not None)
        return max(first[None] * second[None] * self._rates[None], by_topic)


def find_blocs(ballots: Iterable[Ballot]) -> list[VotingBloc]:
    """Return the voting blocs among these ballots, the largest first."""
    counted = list(_bounded(ballots))
    crowd = _Crowd(counted)
    active = {member for member, counts in crowd.choices.items() if counts[None] >= FEWEST_ALIKE}
    voters = [sorted(active.intersection(ballot.members)) for ballot in counted]
    ballots_of = defaultdict[UserId, list[int]](list)
    for n, members in enumerate(voters):
        for member in members:
            ballots_of[member].append(n)
    joined = _joined(crowd, voters, ballots_of)
    neighbours = defaultdict[UserId, set[UserId]](set)
    for one, other in joined:
        neighbours[one].add(other)
        neighbours[other].add(one)
    blocs = [
        VotingBloc(found, _shared(found, counted, ballots_of), *_alike(found, neighbours, joined))
        for found in _components(neighbours)
        if len(found) >= FEWEST_MEMBERS
    ]
    return sorted(blocs, key=lambda bloc: (-len(bloc.members), bloc.members))


def _bounded(ballots: Iterable[Ballot]) -> Iterator[Ballot]:
    """Yield the ballots that are counted."""
    pairs = 0
    for ballot in sorted(ballots, key=lambda one: len(one.members)):
        pairs += len(ballot.members) ** 2 // 2
        if len(ballot.members) > MOST_VOTERS or pairs > MOST_PAIRS:
            return
        if len(ballot.members) > 1:
            yield ballot


def _joined(crowd: _Crowd, voters: Sequence[Sequence[UserId]], ballots_of: _BallotsOf) -> _Pairs:
    """Return the pairs that agree more often than chance explains."""
    level = ERROR / max(1, len(ballots_of) * (len(ballots_of) - 1) / 2)
    joined: _Pairs = {}
    for one, numbers in ballots_of.items():
        alike = Counter[UserId]()
        for n in numbers:
            alike.update(voters[n][bisect_right(voters[n], one) :])
        for other, count in alike.items():
            if count < FEWEST_ALIKE:
                continue
            expected, most = crowd.expected(one, other), min(len(numbers), len(ballots_of[other]))
            if binomial_tail(count, most, expected / most) < level:
                joined[one, other] = count, expected
    return joined


def _components(neighbours: dict[UserId, set[UserId]]) -> Iterator[tuple[UserId, ...]]:
    """Yield the connected components of a graph."""
    seen = set[UserId]()
    for start in neighbours:
        if start in seen:
            continue
        found, border = {start}, [start]
        while border:
            following = neighbours[border.pop()] - found
            found |= following
            border += following
        seen |= found
        yield tuple(sorted(found))


def _shared(members: Sequence[UserId], ballots: Sequence[Ballot], ballots_of: _BallotsOf) -> tuple[ArticleId, ...]:
    """Return the articles on which at least FEWEST_MEMBERS of these members agree, most of them first."""
    counts = Counter(n for member in members for n in ballots_of[member])
    shared = sorted(
        ((count, ballots[n].article) for n, count in counts.items() if count >= FEWEST_MEMBERS), reverse=True
    )
    return tuple(dict.fromkeys(article for _, article in shared))


def _alike(
    members: Sequence[UserId], neighbours: dict[UserId, set[UserId]], joined: _Pairs
) -> tuple[float, float]:
    """Return on how many articles two of them that are joined agree, and would by chance, on average."""
    pairs = [joined[one, other] for one in members for other in neighbours[one] if one < other]
    return fsum(count for count, _ in pairs) / len(pairs), fsum(expected for _, expected in pairs) / len(pairs)


def binomial_tail(least: int, trials: int, chance: float) -> float:
    """Return the probability of at least `least` successes; 1 if that is no more than the average."""
    if least <= trials * chance:
        return 1.0
    if least > trials or chance <= 0:
        return 0.0
    choose = lgamma(trials + 1) - lgamma(least + 1) - lgamma(trials - least + 1)
    term = exp(choose + least * log(chance) + (trials - least) * log1p(-chance))
    total = term
    for n in range(least, trials):
        term *= (trials - n) / (n + 1) * chance / (1 - chance)
        if total + term == total:  # so are all further ones, which are smaller
            break
        total += term
    return min(1.0, total)

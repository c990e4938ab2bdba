"""Voting blocs: accounts that make the same choice on many more articles or comments than chance explains. Pure.

The method is that of statistically validated networks (Tumminello et al., 2011, PLoS ONE 6(3), e17994): accounts
and articles form a bipartite network, and two accounts are joined if they share more articles than a random
choice gives, at a level that is corrected for the number of pairs (Bonferroni). Here the voters of each article
are drawn in proportion to their activity, on the whole site or within a topic, whichever explains more: members
who like the same group make the same choices without any arrangement.

Readers of one discussion vote on many of its comments, so two tests look at each pair, at half the error each.
The first counts an article with all its comments as one agreement. The second counts comments, and each discussion
is a topic of its own: it finds accounts that agree on nearly all comments they choose on, in few discussions.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.members import UserId

MOST_VOTERS = 100
"""Members with the same choice from which an article is left out: it says little about any two of them."""

FEWEST_ALIKE = 5
"""Minimum number of articles on which two accounts made the same choice."""

FEWEST_COMMENTS_ALIKE = 10
"""Minimum number of comments on which two accounts made the same choice, for the test of comments."""

_SHARE_ALIKE = 0.8
"""Minimum share of them in the comments on which the less active one made a choice."""

FEWEST_MEMBERS = 3
"""Minimum number of accounts in a bloc."""

MOST_PAIRS = 20_000_000
"""Maximum number of pairs of members to count, articles with the fewest voters first: some seconds."""

MOST_PAIRS_ON_COMMENTS = 5_000_000
"""The same for comments."""

ERROR = 0.01
"""Probability that chance joins any two accounts of a site without blocs."""

_SMALL_TOPIC = 50
"""Minimum number of ballots of a topic: in a smaller one, a bloc would be most of the voters."""


class Ballot(NamedTuple):
    """The members who made the same choice on an article, or on a comment on it.

    `topic`: the first group of the article, "" without one.
    """

    article: ArticleId
    topic: str
    members: Sequence[UserId]
    is_on_comment: bool = False


class Alike(NamedTuple):
    """On how many articles, or comments, two accounts made the same choice; and would by chance alone."""

    number: float
    expected: float


@dataclass(frozen=True, slots=True)
class VotingBloc:
    """Accounts, each of which agrees with another on more articles or comments than chance explains."""

    members: tuple[UserId, ...]
    articles: tuple[ArticleId, ...]
    """Those on which, or on whose comments, at least FEWEST_MEMBERS of them agree, most members first."""

    alike: Alike | None
    """Averages of those that articles join, with their comments; None if they join no two."""

    alike_on_comments: Alike | None
    """Averages of those that comments join; None if they join no two."""


_Pairs = dict[tuple[UserId, UserId], Alike]
"""Joined accounts, the lower id first."""


class _Crowd:
    """How active the accounts are, on the whole site and by topic."""

    def __init__(self, ballots: Iterable[tuple[str, Sequence[UserId]]], small_topic: int = _SMALL_TOPIC) -> None:
        """`ballots`: the topic and the members of each."""
        given = list(ballots)
        counts = Counter(topic for topic, _ in given)
        sizes, squares = Counter[str | None](), Counter[str | None]()
        self.choices = defaultdict[UserId, Counter[str | None]](Counter)
        """The number of an account's choices by topic; under None, of all."""

        for topic, members in given:
            for key in (None, topic if counts[topic] >= small_topic else ""):
                sizes[key] += len(members)
                squares[key] += len(members) ** 2
                for member in members:
                    self.choices[member][key] += 1
        self._rates = {key: squares[key] / sizes[key] ** 2 for key in sizes}

    def number_of(self, member: UserId) -> int:
        """Return the number of an account's choices."""
        return self.choices[member][None] if member in self.choices else 0

    def expected(self, one: UserId, other: UserId) -> float:
        """Return on how many ballots two accounts make the same choice by chance: the sum of products of shares.

        A ballot of n members has an account with the probability n · its choices / all choices.
        """
        if one not in self.choices or other not in self.choices:
            return 0.0
        first, second = self.choices[one], self.choices[other]
        by_topic = fsum(first[key] * second[key] * self._rates[key] for key in first if key is not None)
        return max(first[None] * second[None] * self._rates[None], by_topic)


class _Ballots:
    """The ballots that are counted, those on articles first, and the accounts that are active on them."""

    def __init__(self, ballots: Iterable[Ballot]) -> None:
        given = list(ballots)
        self.on_articles = list(_bounded((one for one in given if not one.is_on_comment), MOST_PAIRS))
        on_comments = list(_bounded((one for one in given if one.is_on_comment), MOST_PAIRS_ON_COMMENTS))
        self.all = self.on_articles + on_comments
        self.articles = _Crowd((one.topic, one.members) for one in self.on_articles)
        self.discussions = _Crowd(_discussions(on_comments))
        self.comments = _Crowd(((str(one.article), one.members) for one in on_comments), small_topic=1)
        active = {
            member
            for member in self.articles.choices.keys() | self.comments.choices.keys()
            if self.articles.number_of(member) + self.comments.number_of(member) >= FEWEST_ALIKE
        }
        self.voters = [sorted(active.intersection(ballot.members)) for ballot in self.all]
        self.of = defaultdict[UserId, list[int]](list)
        """The numbers of the ballots of each active account."""

        for n, members in enumerate(self.voters):
            for member in members:
                self.of[member].append(n)

    def expected(self, one: UserId, other: UserId) -> float:
        """Return on how many articles, or comments on them, two accounts make the same choice by chance, at most.

        Of a discussion, that is on how many both make any choice.
        """
        return self.articles.expected(one, other) + self.discussions.expected(one, other)


def _discussions(ballots: Iterable[Ballot]) -> Iterator[tuple[str, Sequence[UserId]]]:
    """Yield the topic of each discussion, and the members who made a choice in it."""
    topics, members = dict[ArticleId, str](), defaultdict[ArticleId, set[UserId]](set)
    for ballot in ballots:
        topics[ballot.article] = ballot.topic
        members[ballot.article].update(ballot.members)
    for article, topic in topics.items():
        yield topic, tuple(members[article])


def find_blocs(ballots: Iterable[Ballot]) -> list[VotingBloc]:
    """Return the voting blocs among these ballots, the largest first."""
    counted = _Ballots(ballots)
    by_articles, by_comments = _joined(counted)
    neighbours = defaultdict[UserId, set[UserId]](set)
    for one, other in by_articles.keys() | by_comments.keys():
        neighbours[one].add(other)
        neighbours[other].add(one)
    blocs = [
        VotingBloc(
            found,
            _shared(found, counted),
            _averages(found, neighbours, by_articles),
            _averages(found, neighbours, by_comments),
        )
        for found in _components(neighbours)
        if len(found) >= FEWEST_MEMBERS
    ]
    return sorted(blocs, key=lambda bloc: (-len(bloc.members), bloc.members))


def _bounded(ballots: Iterable[Ballot], most_pairs: int) -> Iterator[Ballot]:
    """Yield the ballots that are counted."""
    pairs = 0
    for ballot in sorted(ballots, key=lambda one: len(one.members)):
        pairs += len(ballot.members) ** 2 // 2
        if len(ballot.members) > MOST_VOTERS or pairs > most_pairs:
            return
        if len(ballot.members) > 1:
            yield ballot


def _joined(counted: _Ballots) -> tuple[_Pairs, _Pairs]:
    """Return the pairs that agree more often than chance explains: by articles, and by comments."""
    level = ERROR / 2 / max(1, len(counted.of) * (len(counted.of) - 1) / 2)
    first_on_comment = len(counted.on_articles)
    articles_of = {one: len({counted.all[n].article for n in numbers}) for one, numbers in counted.of.items()}
    by_articles, by_comments = _Pairs(), _Pairs()
    for one, numbers in counted.of.items():
        alike, on_comments = Counter[UserId](), Counter[UserId]()
        agreeing = defaultdict[ArticleId, set[UserId]](set)  # on an article or on its comments
        is_mixed = numbers[-1] >= first_on_comment
        for n in numbers:
            others = counted.voters[n][bisect_right(counted.voters[n], one) :]
            if n >= first_on_comment:
                on_comments.update(others)
            if is_mixed:
                agreeing[counted.all[n].article].update(others)
            else:
                alike.update(others)
        for accounts in agreeing.values():
            alike.update(accounts)
        for other, count in alike.items():
            if count >= FEWEST_ALIKE:
                most, expected = min(articles_of[one], articles_of[other]), counted.expected(one, other)
                if binomial_tail(count, most, expected / most) < level:
                    by_articles[one, other] = Alike(count, expected)
        for other, count in on_comments.items():
            most = min(counted.comments.number_of(one), counted.comments.number_of(other))
            if count >= FEWEST_COMMENTS_ALIKE and count >= _SHARE_ALIKE * most:
                expected = counted.comments.expected(one, other)
                if binomial_tail(count, most, expected / most) < level:
                    by_comments[one, other] = Alike(count, expected)
    return by_articles, by_comments


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


def _shared(members: Sequence[UserId], counted: _Ballots) -> tuple[ArticleId, ...]:
    """Return the articles on which, or on whose comments, FEWEST_MEMBERS of these agree, most of them first."""
    counts = Counter(n for member in members for n in counted.of[member])
    shared = sorted(
        ((count, counted.all[n].article) for n, count in counts.items() if count >= FEWEST_MEMBERS), reverse=True
    )
    return tuple(dict.fromkeys(article for _, article in shared))


def _averages(members: Sequence[UserId], neighbours: dict[UserId, set[UserId]], joined: _Pairs) -> Alike | None:
    """Return how often two of these members that are joined agree, and would by chance, on average."""
    pairs = [joined[one, other] for one in members for other in neighbours[one] if (one, other) in joined]
    if not pairs:
        return None
    return Alike(*(fsum(numbers) / len(pairs) for numbers in zip(*pairs, strict=True)))


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

"""The requests of each kind, and those of a day with their times."""

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle
from urllib.parse import quote_plus

from bench.load_model.day import Day, zipf
from bench.load_model.mix import REPLAYED
from bench.site.cases import TOKEN, of_member, request
from bench.site.content import GROUPS, WORDS, Content

READ = 1000
"""The newest articles, which are read."""

_SHARES = list(accumulate(REPLAYED.values()))


@dataclass(frozen=True, slots=True)
class Sent:
    """A request. `due`: seconds after the beginning."""

    due: float
    kind: str
    content: bytes


class Traffic:
    """Makes requests of every kind for a filled site. No vote is the same as one before, and no post."""

    def __init__(self, content: Content, day: Day, seed: str, read: int = READ) -> None:
        self._content, self._chance, self._seed = content, random.Random(seed), seed
        read = min(read, content.articles)
        self._newest = range(content.articles, content.articles - read, -1)
        self._weights = list(accumulate(zipf(read, day.exponent)))
        self._votes = self._first_votes()
        self._posted = 0
        self._makers: dict[str, Callable[[], bytes]] = {
            "front page": lambda: request("/"),
            "newest": lambda: request("/newest/"),
            "group page": lambda: request(f"/groups/group-{self._chance.randrange(GROUPS)}/"),
            "article page": lambda: request(f"/articles/{self._article()}/", self._visitor()),
            "feed": lambda: request("/feeds/front.atom"),
            "search": lambda: request(f"/search/?q={quote_plus(' '.join(self._chance.sample(WORDS[:20], 2)))}"),
            "front page, member": lambda: request("/", self._member()),
            "article page, member": lambda: request(f"/articles/{self._article()}/", self._member()),
            "view": self._view,
            "vote": lambda: next(self._votes),
            "post": self._post,
        }

    def make(self, kind: str) -> bytes:
        return self._makers[kind]()

    def alone(self, kind: str, rate: float, seconds: float) -> list[Sent]:
        """Return requests of one kind, about this many a second."""
        return [Sent(due, kind, self.make(kind)) for due in self._arrivals(rate, seconds)]

    def day(self, hours: Sequence[float], requests: int, seconds: float) -> Iterator[Sent]:
        """Yield about this many requests, spread over the seconds as over the hours of the day."""
        length = seconds / len(hours)
        for hour, share in enumerate(hours):
            for due in self._arrivals(share * requests / length, length):
                yield self.any_kind(hour * length + due)

    def any_kind(self, due: float = 0.0) -> Sent:
        """Return a request of a kind that is drawn by its share."""
        (kind,) = self._chance.choices(list(REPLAYED), cum_weights=_SHARES)
        return Sent(due, kind, self.make(kind))

    def _arrivals(self, rate: float, seconds: float) -> Iterator[float]:
        """Yield the times of independent readers: a Poisson process."""
        due = self._chance.expovariate(rate) if rate else math.inf
        while due < seconds:
            yield due
            due += self._chance.expovariate(rate)

    def _article(self) -> int:
        (article,) = self._chance.choices(self._newest, cum_weights=self._weights)
        return article

    def _visitor(self) -> str:
        return self._chance.choice(self._content.visitors)

    def _member(self) -> str:
        return of_member(self._chance.choice(self._content.sessions))

    def _first_votes(self) -> Iterator[bytes]:
        """Yield the first vote of each member on each open article, more of them on those that are read more.

        A seed names half of the pairs, so that the votes of two seeds differ. After them, choices are reversed.
        """
        articles, half = self._content.open_articles, "day" in self._seed
        weights, cast = list(accumulate(zipf(len(articles), 0.5))), set[tuple[int, str]]()
        sessions = self._content.sessions[half::2]
        for choice in cycle(("vote", "oppose")):
            cast.clear()
            while len(cast) < 0.9 * len(articles) * len(sessions):
                (article,) = self._chance.choices(articles, cum_weights=weights)
                session = self._chance.choice(sessions)
                if (article, session) not in cast:
                    cast.add((article, session))
                    body = f"choice={choice}&next=/&csrfmiddlewaretoken={TOKEN}"
                    yield request(f"/articles/{article}/vote/", of_member(session), body)

    def _post(self) -> bytes:
        self._posted += 1
        name = quote_plus(f"https://posted.example/{self._seed}/{self._posted}")
        title = quote_plus(" ".join(self._chance.choices(WORDS, k=8)))
        return request(
            "/post/", self._member(), f"title={title}&link={name}&groups=group-1&csrfmiddlewaretoken={TOKEN}"
        )

    def _view(self) -> bytes:
        body = json.dumps({"articleId": self._article(), "visitorId": f"reader-{self._chance.randrange(10**6)}"})
        as_form = request("/api/views", self._visitor(), body)
        return as_form.replace(b"application/x-www-form-urlencoded", b"application/json")

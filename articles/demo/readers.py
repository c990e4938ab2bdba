"""Views of the demo's articles by readers, who prefer appealing articles, and by bots."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from articles.domain.articles import Article
from articles.domain.readership import Suspicion, Visit
from articles.repository import Repository

_SEED = 21
_READERS = 700
_MOST_READERS = 60  # of an article with the highest appeal
_MATURING = 5 * 3600  # seconds until 63 % (1 - 1/e) of an article's readers have come
_RETURNING = 0.3  # share of the readers
_PAUSE = 1800  # seconds; longer than any throttle, so that every view counts
_BOTS = ("search", "search", "search", "preview", "feed")
_MOST_BOTS = 9


@dataclass(frozen=True, slots=True)
class Readership:
    """All views of the article with this link, or else title, with their times: counted and suspect ones."""

    article: str
    counted: list[tuple[Visit, float]]
    suspect: list[tuple[Visit, float]]


def draw_views(articles: Sequence[tuple[str, float, float]], until: float) -> list[Readership]:
    """Draw the views of articles, given by link or else title, appeal (0 to 1) and posting time. Deterministic."""
    rng = Random(_SEED)  # nosec B311 # noqa: S311 - no secret depends on it
    readers = [f"{rng.getrandbits(64):016x}" for _ in range(_READERS)]
    bots = [f"{rng.getrandbits(64):016x}" for _ in _BOTS]
    return [
        Readership(
            link,
            sorted(_reads(rng, readers, appeal, posted_at, until), key=lambda view: view[1]),
            list(_bot_views(rng, bots, appeal, posted_at, until)),
        )
        for link, appeal, posted_at in articles
    ]


def _reads(
    rng: Random, readers: Sequence[str], appeal: float, posted_at: float, until: float
) -> Iterator[tuple[Visit, float]]:
    age = until - posted_at
    come = 1 - exp(-age / _MATURING)
    for reader in rng.sample(readers, round(_MOST_READERS * appeal * come * rng.uniform(0.7, 1.0)) + 1):
        at = posted_at - _MATURING * log(1 - come * rng.random())
        again = at + _PAUSE + rng.expovariate(1 / _MATURING)
        yield Visit(reader), round(min(at, until), 3)
        if rng.random() < _RETURNING and again < until:
            yield Visit(reader), round(again, 3)


def _bot_views(
    rng: Random, bots: Sequence[str], appeal: float, posted_at: float, until: float
) -> Iterator[tuple[Visit, float]]:
    for _ in range(rng.randint(1, 1 + round(_MOST_BOTS * appeal))):
        kind = rng.randrange(len(bots))
        suspicion = Suspicion.PREFETCH if _BOTS[kind] == "preview" else Suspicion.BOT
        yield Visit(bots[kind], suspicion=suspicion), round(rng.uniform(posted_at, until), 3)


def record_missing(repository: Repository, drawn: Iterable[Readership]) -> int:
    """Record the views that are missing in the store. Return how many views of all articles count.

    Views of an article are always recorded in the same order and each of them counts, so an interrupted run
    resumes from the article's own counts.
    """
    articles = {article.link or article.title: article for article in repository.imports.iterate()}
    views = [
        (articles[readership.article].id, visit, at)
        for readership in drawn
        if readership.article in articles
        for visit, at in _missing(repository, articles[readership.article], readership)
    ]
    repository.pageviews.record_many(views)
    repository.hot.rescore()
    return sum(article.pv for article in repository.imports.iterate())


def _missing(repository: Repository, article: Article, drawn: Readership) -> list[tuple[Visit, float]]:
    suspects = sum(repository.pageviews.get_suspects(article.id).values())
    return drawn.counted[article.pv :] + drawn.suspect[suspects:]

"""Explain the rank of an article."""

from dataclasses import asdict
from typing import Literal

from django.http import HttpRequest
from ninja import Query
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from articles.api import schemas
from articles.api.protocol.operations import ArticleNumber, failing, router
from articles.domain import explanation
from articles.text.searching import MOST_CHARACTERS, read_query
from articles.web.limits import take
from articles.web.wiring import finder, repository

_DECAY_STEP_HOURS = 6  # time between two values of the decay


class Neighbour(schemas.Model):
    """An article next to another one in a list."""

    id: int
    title: str
    value: float = Field(description="Its score; on the hot list its hotness.")
    apart: float = Field(description="Difference between the two values.")
    worth: int = Field(examples=[3])
    """Votes that would close the gap; on the hot list, views of the explained article by new visitors."""


class Place(BaseModel):
    """A rank in a list, and the articles next to it."""

    rank: int = Field(description="Counted from 1.", examples=[4])
    of: int = Field(description="Number of articles in the list.", examples=[1234])
    above: Neighbour | None
    below: Neighbour | None


class GroupPlace(BaseModel):
    """A rank in a group's list by score."""

    group: str = Field(examples=["python"])
    title: str = Field(examples=["Python"])
    rank: int = Field(description="Counted from 1.", examples=[4])
    of: int = Field(description="Number of articles in the list.", examples=[1234])


class ScoreParts(BaseModel):
    """The sum the front page is ordered by: time + seconds_per_point × ranked_points = score."""

    time: float = Field(description="When it was posted, in Unix seconds.")
    votes: int
    opposes: int
    left_out_votes: int = Field(description="Votes for it that are excluded from ranking.")
    left_out_opposes: int = Field(description="Votes against it that are excluded from ranking.")
    waiting: int = Field(description="How many of these wait until their members are no longer new.")
    ranked_points: int = Field(description=schemas.RANKED_POINTS)
    seconds_per_point: float = Field(description="How far one point moves an article.", examples=[432.0])
    score: float = Field(description="The value that orders the front page, in Unix seconds.")


class HotnessParts(BaseModel):
    __doc__ = (
        "The fraction the hot list is ordered by: (alpha × pv + beta × uv) ÷ (hours + base) ^ gamma = hotness."
    )

    pv: int = Field(description="Page views that count.")
    uv: int = Field(description="Unique visitors, estimated to within about 2.5 percent.")
    alpha: float = Field(description="Weight of a view.", examples=[1.0])
    beta: float = Field(description="Weight of a visitor.", examples=[1.2])
    readers: float = Field(description="alpha × pv + beta × uv.")
    hours: float = Field(description="Age of the article when the hot list was scored.")
    base: float = Field(description="Hours added to the age.", examples=[2.0])
    gamma: float = Field(description="How steeply hotness falls.", examples=[1.5])
    denominator: float = Field(description="(hours + base) ^ gamma.")
    hotness: float = Field(description="The value that orders the hot list.")
    refreshed_at: float = Field(description="The moment for which all hotness is computed, in Unix seconds.")


class NextVote(BaseModel):
    """What one more vote would do."""

    seconds: float = Field(description="How far it would move the article.", examples=[432.0])
    rank: int = Field(description="Its rank on the front page then.", examples=[3])
    gained: int = Field(description="Number of places gained.", examples=[1])


class FutureHotness(BaseModel):
    """An article's hotness after some hours without new views."""

    hours: int
    hotness: float


class Sample(BaseModel):
    """Ranks of an article at one moment."""

    time: float = Field(description="The moment, in Unix seconds.")
    rank: int | None = Field(description="Rank on the front page; null if not among the first hundred.")
    ranked_points: int = Field(description=schemas.RANKED_POINTS)
    hot_rank: int | None = Field(description="Rank on the hot list; null if not among the first hundred.")


class Match(BaseModel):
    """A match of a term of a search."""

    term: str = Field(description="The term, as the search understands it.", examples=["redis"])
    where: explanation.Where = Field(
        description="`names`: the link's host, or the poster; `filter`: such as `author:`."
    )
    how: explanation.How = Field(description="The word itself, its stem, or a word that begins so.")
    value: float = Field(description="What the match counts: BM25, times the weight of the place.")


class Relevance(schemas.Model):
    """Why an article is where it is among search results by relevance."""

    status: Literal["found", "no-match", "behind", "building"]
    """`no-match`: the article does not match; `behind`: the search index does not have its last change yet;
    `building`: the index is being built, and does not have the article yet. Then there are no matches, and the
    other numbers are 0."""

    matches: list[Match]
    matched: float = Field(description="The sum of the matches.")
    ranked_points: int
    """Votes for minus votes against, without those excluded from ranking, as the search index has them."""

    prior: int = Field(description="What points and age add: relevance = matched · log₂(2 + prior).")
    relevance: float = Field(description="Results with more come first.")

    @classmethod
    def of(cls, source: explanation.Relevance | explanation.Unfound) -> "Relevance":
        if isinstance(source, explanation.Unfound):
            return cls(status=source.value, matches=[], matched=0, ranked_points=0, prior=0, relevance=0)
        matches = [Match(**match._asdict()) for match in source.matches]
        return schemas.made(
            cls, source, status="found", matches=matches, ranked_points=source.points, relevance=source.value
        )


class ExplanationQuery(schemas.Model):
    """A search to explain, if any."""

    q: str | SkipJsonSchema[None] = Field(None, max_length=MOST_CHARACTERS, examples=["python news"])
    """The terms of a search, as in a search of articles: the response then says how relevant the article is to it.
    Counts as a search."""


class Explanation(BaseModel):
    """Why an article ranks where it does."""

    id: int
    front_page: Place
    groups: list[GroupPlace]
    hot_list: Place | None = Field(description="Null if it is not on the hot list.")
    score: ScoreParts
    hotness: HotnessParts
    one_more_vote: NextVote | None = Field(description="Null once voting is closed.")
    closes_at: float = Field(description="When voting closes, in Unix seconds.")
    decay: list[FutureHotness] = Field(description="Its hotness over the next three days without new views.")
    history: list[Sample] = Field(
        description="One entry every ten minutes over the last seven days, while it was among the first hundred."
    )
    search: Relevance | None = Field(description="Null without a search.")

    @classmethod
    def of(cls, source: explanation.Explanation, search: Relevance | None) -> "Explanation":
        parts, weights = source.score, ("alpha", "beta", "base", "gamma")
        score = schemas.made(
            ScoreParts,
            parts,
            time=parts.posted_at,
            left_out_votes=parts.left_out.votes,
            left_out_opposes=parts.left_out.opposes,
            ranked_points=parts.points,
            score=parts.value,
        )
        weighed = {name: getattr(source.hotness.parameters, name) for name in weights}
        hotness = schemas.made(HotnessParts, source.hotness, hotness=source.hotness.value, **weighed)
        return cls(
            search=search,
            id=source.article_id,
            front_page=_place(source.front),
            groups=[GroupPlace(group=p.slug, title=p.title, rank=p.rank, of=p.of) for p in source.groups],
            hot_list=None if source.hot is None else _place(source.hot),
            score=score,
            hotness=hotness,
            one_more_vote=None if source.next_vote is None else NextVote(**asdict(source.next_vote)),
            closes_at=source.closes_at,
            decay=[
                FutureHotness(hours=hours, hotness=source.hotness.after(hours))
                for hours in range(0, explanation.DECAY_HOURS + 1, _DECAY_STEP_HOURS)
            ],
            history=[
                Sample(time=sample.at, rank=sample.rank, ranked_points=sample.points, hot_rank=sample.hot_rank)
                for sample in source.history
            ],
        )


def _place(place: explanation.Place) -> Place:
    return Place(**asdict(place))


@router.get("articles/{article_id:article_id}/ranking", response=failing(409))
def explain_ranking(
    request: HttpRequest, article_id: ArticleNumber, query: Query[ExplanationQuery]
) -> Explanation:
    """Why an article ranks where it does.

    Its ranks, how they are calculated, its neighbours, the effect of one more vote, and its history: the numbers
    on the article's page, all from the same moment. Not available for removed articles.
    """
    if query.q:
        take(request, "search")
    repo = repository()
    article = repo.articles.get(article_id)
    found = finder().explain(repo, read_query(query.q), article) if query.q else None
    return Explanation.of(repo.explanations.get(article), Relevance.of(found) if found else None)

"""Models of request and response bodies. Their descriptions are shown, translated, in the documentation.

These are plain pydantic models: ninja's own accept the body `"text"` as an object and read its methods as fields.
"""

import re
from typing import Annotated, Any

from django.utils.translation import gettext_noop
from pydantic import BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from articles.domain import articles, lists
from articles.domain.articles import Choice
from articles.domain.lists import Order, Span
from articles.text.slugs import SLUGS_PER_REQUEST

_NUMBER = re.compile("[1-9][0-9]{0,99}")


def _plain_number(raw: object) -> object:
    """Return a number of a query. Raises ValueError for one with a sign, a blank or a leading zero."""
    if isinstance(raw, str) and not _NUMBER.fullmatch(raw):
        raise ValueError(raw)
    return raw


PlainNumber = Annotated[int, BeforeValidator(_plain_number)]
Slugs = Annotated[list[str], Field(max_length=SLUGS_PER_REQUEST, examples=[["python"]])]


class ListQuery(BaseModel):
    __doc__ = gettext_noop("Which page of which list.")

    order: Order = Field(
        Order.SCORE,
        description=gettext_noop(
            "What the list is ordered by: score is the front page's order, time is newest first, hot is by "
            "readership of late, points is most points first, of equal ones the newest."
        ),
        examples=["points"],
    )
    range: Span = Field(
        Span.ALL,
        description=gettext_noop(
            "How far back a list of the site by points goes, by when its articles were posted. Other lists have "
            "no range."
        ),
        examples=["week"],
    )
    group: str | SkipJsonSchema[None] = Field(
        None,
        description=gettext_noop(
            "Name of a group, to list its articles only; or of up to ten with a plus or a space between them, for "
            "what is in any of them. Empty for the whole site. Of several groups, the numbers of articles and "
            "of pages are the most there can be."
        ),
    )
    page: PlainNumber = Field(
        1,
        ge=1,
        description=gettext_noop("Page, counted from 1. Lists can be paged through up to 10,000 articles."),
        examples=[2],
    )


class Article(BaseModel):
    __doc__ = gettext_noop("A posted title and link.")

    id: int
    title: str
    link: str | None = Field(description=gettext_noop("Null once the article is removed."))
    poster: str = Field(
        description=gettext_noop(
            "Name of the member who posted it; empty if unknown, or if the account is deleted."
        )
    )
    time: float = Field(description=gettext_noop("When it was posted, in Unix seconds."))
    votes: int
    opposes: int
    points: int = Field(description=gettext_noop("Votes less opposes."))
    score: float = Field(description=gettext_noop("What the front page is ordered by, in Unix seconds."))
    groups: list[str]
    choice: Choice = Field(description=gettext_noop("Your own; none for readers without account."))
    closes_at: float = Field(description=gettext_noop("Until when votes count, in Unix seconds."))
    removed: str | None = Field(description=gettext_noop("Why a moderator removed it; null while it is listed."))
    saved: bool = Field(description=gettext_noop("Whether you saved it; false for readers without account."))
    edited_at: float | None = Field(
        description=gettext_noop("When title or link were last changed, in Unix seconds; null if never.")
    )
    pv: int = Field(description=gettext_noop("Page views that count."))
    uv: int = Field(description=gettext_noop("Unique visitors, estimated to within 2.5 percent or so."))

    @classmethod
    def of(cls, article: articles.Article) -> "Article":
        return cls(**fields_of(article))


class PostedArticle(Article):
    __doc__ = gettext_noop("An article, and whether it was there before.")

    existing: bool = Field(
        description=gettext_noop("Whether the link was posted before, so that nothing was added.")
    )

    @classmethod
    def from_post(cls, article: articles.Article, *, existing: bool) -> "PostedArticle":
        return cls(existing=existing, **fields_of(article))


class ArticlePage(BaseModel):
    __doc__ = gettext_noop("One page of a list.")

    articles: list[Article]
    page: int
    pages: int
    total: int = Field(description=gettext_noop("Articles on all pages."))

    @classmethod
    def of(cls, page: lists.ArticlePage) -> "ArticlePage":
        articles = [Article.of(article) for article in page.articles]
        return cls(articles=articles, page=page.number, pages=page.pages, total=page.total)


class NewArticle(BaseModel):
    __doc__ = gettext_noop("An article to post.")

    title: str = Field(description=gettext_noop("At most 300 characters."), examples=["An example"])
    link: str = Field(
        description=gettext_noop("An address with http or https."), examples=["https://example.org/"]
    )
    groups: Slugs = Field([], description=gettext_noop("Names of existing groups, at most five."))


class Ballot(BaseModel):
    __doc__ = gettext_noop("A choice on an article.")

    choice: Choice = Field(description=gettext_noop("None takes your choice back."), examples=["vote"])


class Tally(BaseModel):
    __doc__ = gettext_noop("An article's counts after a choice.")

    id: int
    votes: int
    opposes: int
    points: int = Field(description=gettext_noop("Votes less opposes."))
    choice: Choice = Field(description=gettext_noop("Your own."))

    @classmethod
    def of(cls, article_id: int, tally: articles.Tally) -> "Tally":
        counts = {"votes": tally.votes, "opposes": tally.opposes, "points": tally.points}
        return cls(id=article_id, choice=tally.choice, **counts)


class Assignment(BaseModel):
    __doc__ = gettext_noop("The groups an article is to be in.")

    groups: Slugs = Field(description=gettext_noop("All groups the article is to be in; it leaves the others."))
    reason: str = Field(
        "",
        description=gettext_noop("For everyone to read in the moderation log."),
        examples=["It is about Python."],
    )


class Assigned(BaseModel):
    __doc__ = gettext_noop("The groups an article is in.")

    id: int
    groups: list[str]


class Error(BaseModel):
    __doc__ = gettext_noop("What went wrong.")

    code: str = Field(description=gettext_noop("Stable, for programs."))
    message: str = Field(description=gettext_noop("One sentence in your language, for people."))
    moved_to: str | SkipJsonSchema[None] = Field(
        None, description=gettext_noop("Only with the code group-moved: the group it was merged into.")
    )
    article_id: int | SkipJsonSchema[None] = Field(
        None, description=gettext_noop("Only with the code duplicate-link: the article that has the link.")
    )


class Failure(BaseModel):
    __doc__ = gettext_noop("Every answer that is not the one asked for.")

    error: Error


def fields_of(article: articles.Article) -> dict[str, Any]:
    """Return the fields of `Article`, by name."""
    removed = article.removed is not None
    return {
        "id": article.id,
        "title": article.title,
        "link": None if removed else article.link,
        "poster": article.poster_name,
        "time": article.posted_at,
        "votes": article.votes,
        "opposes": article.opposes,
        "points": article.points,
        "score": article.score,
        "groups": list(article.groups),
        "choice": article.choice,
        "closes_at": article.closes_at,
        "removed": article.removed,
        "saved": article.saved,
        "edited_at": article.edited_at,
        "pv": article.pv,
        "uv": article.uv,
    }

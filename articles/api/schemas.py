"""Models of request and response bodies. Their descriptions are shown, translated, in the documentation.

These are plain pydantic models: ninja's own accept the body `"text"` as an object and read its methods as fields.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, TypeVar

from ninja import Status
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from articles.domain import articles, lists
from articles.domain.articles import Choice
from articles.domain.errors import HeldForApproval
from articles.domain.lists import HOT_PERIODS, TOP_PERIODS, Order, Period
from articles.text.lines import TITLE_LIMIT
from articles.text.slugs import SLUGS_PER_REQUEST

_NUMBER = re.compile("[1-9][0-9]{0,99}")
_MOMENT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?")


def _plain_number(raw: object) -> object:
    """Return a number of a query. Raises ValueError for one with a sign, a blank or a leading zero."""
    if isinstance(raw, str) and not _NUMBER.fullmatch(raw):
        raise ValueError(raw)
    return raw


def _plain_number_or_zero(raw: object) -> object:
    return raw if raw == "0" else _plain_number(raw)


def _plain_moment(raw: object) -> object:
    if isinstance(raw, str) and not _MOMENT.fullmatch(raw):
        raise PydanticCustomError("float_type", "not a number")
    return raw


Moment = Annotated[float, Field(ge=0, lt=10.0**11), BeforeValidator(_plain_moment)]
"""A moment in a query, in Unix seconds; some 3,000 years at most."""

PlainNumber = Annotated[int, BeforeValidator(_plain_number)]
PlainNumberOrZero = Annotated[int, BeforeValidator(_plain_number_or_zero)]
Slugs = Annotated[list[str], Field(max_length=SLUGS_PER_REQUEST, examples=[["python"]])]
PublicReason = Annotated[
    str, Field(description="Everyone can read it in the moderation log; at most 500 characters.")
]


class Model(BaseModel):
    """A model whose long descriptions are the docstrings of its fields."""

    model_config = ConfigDict(use_attribute_docstrings=True)


After = Annotated[
    Annotated[str, Field(min_length=1)] | SkipJsonSchema[None],
    Field(
        description=(
            "next_after of the previous response. The next entries follow, and none is repeated or skipped, even "
            "if the list changes meanwhile. Cannot be combined with page, start or before."
        )
    ),
]
NextAfter = Annotated[
    str | None, Field(description="The parameter after for the next entries; null after the last.")
]
NumberOfPage = Annotated[int | None, Field(description="Null for a request with after.")]


M = TypeVar("M", bound=BaseModel)


def made(model: type[M], source: object, **other: Any) -> M:
    """Return a model of these values; its other fields are the source's attributes of the same names."""
    same = {name: getattr(source, name) for name in model.model_fields if name not in other}
    return model(**same, **other)


class Continued(Model):
    """A part of a list that goes on."""

    next_after: NextAfter


class NumberedPage(Continued):
    """A page of a list."""

    page: NumberOfPage
    has_next: bool = Field(description="Whether there is a next page. A page can be empty and have a next one.")


class Range(StrEnum):
    """Period of a hot list, by the posting times of its articles."""

    DAY = "24h"
    THREE_DAYS = "72h"
    WEEK = "7d"
    ALL = "all"

    @property
    def period(self) -> Period:
        return HOT_PERIODS[self.value]


class Span(StrEnum):
    """Period of a list by points, by the posting times of its articles."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"

    @property
    def period(self) -> Period:
        return TOP_PERIODS[self.value]


ShowHidden = Annotated[
    Literal["show"] | SkipJsonSchema[None],
    Field(description="“show” to include what you hide.", examples=["show"]),
]

Hidden = Annotated[int, Field(description="Number of entries left out of this page because you hide them.")]


class ListQuery(Model):
    """Which page of which list."""

    order: Order = Field(Order.SCORE, examples=["points"])
    """Order of the list: score is the front page's order, time is newest first, hot is by recent readership,
    points is most ranked_points first, with ties newest first, active is by the last comment, with locked
    discussions last."""

    range: Span = Field(Span.ALL, examples=["week"])
    """Limits a site-wide list by points to articles posted in this period. Other lists have no range."""

    group: str | SkipJsonSchema[None] = None
    """Name of a group, to list only its articles; or up to ten names separated by plus signs or spaces, to list
    the articles in any of them. Empty for the whole site. For several groups, the numbers of articles and pages
    are upper limits."""

    page: PlainNumber = Field(1, ge=1, examples=[2])
    """Page, counted from 1. If the list changes between two requests, articles can be repeated or skipped. Lists
    can be paged through up to 10,000 articles."""

    after: After = None
    hidden: ShowHidden = None

    @property
    def number(self) -> int | None:
        """The page that the response names; None for a request with `after`."""
        return self.page if self.after is None else None


class AfterQuery(Model):
    """Which part of a list."""

    after: After = None


class PageQuery(AfterQuery):
    """Which page of a list."""

    page: PlainNumber = Field(1, ge=1, examples=[1])
    """Page, counted from 1. If the list changes between two requests, entries can be repeated or skipped."""

    @property
    def number(self) -> int | None:
        """The page that the response names; None for a request with `after`."""
        return self.page if self.after is None else None


RANKED_POINTS = (
    "Votes for minus votes against, without those excluded from ranking. Score, order=points and min_points use "
    "these."
)


class Article(Model):
    """A posted title with a link, a text, or both."""

    id: int
    title: str
    link: str | None = Field(description="Null for an article that has only a text, and once it is removed.")
    has_text: bool = Field(description="Whether it has a text; false once it is removed.")
    poster: str = Field(
        description="Name of the member who posted it; empty if unknown, or if the account is deleted."
    )
    time: float = Field(description="When it was posted, in Unix seconds.")
    votes: int
    opposes: int
    points: int = Field(description="Votes for minus votes against.")
    ranked_points: int = Field(description=RANKED_POINTS)
    score: float = Field(description="The value that orders the front page, in Unix seconds.")
    groups: list[str]
    choice: Choice = Field(description="Your own; none for readers without an account.")
    closes_at: float = Field(description="When voting closes, in Unix seconds.")
    removed: str | None = Field(
        description="Why a moderator or its poster removed it, or merged it; null while it is listed."
    )
    merged_into: int | None = Field(
        description="Number of the article into which moderators merged it; null if they did not."
    )
    merged: list[int] = Field(
        description="Numbers of the articles that moderators merged into it. Their comments stay theirs."
    )
    saved: bool = Field(description="Whether you saved it; false for readers without an account.")
    edited_at: float | None = Field(
        description="When the title, link or text was last changed, in Unix seconds; null if never."
    )
    pv: int = Field(description="Page views that count.")
    uv: int = Field(description="Unique visitors, estimated to within about 2.5 percent.")
    comments: int = Field(description="Number of comments, without removed and deleted ones.")
    last_comment_at: float | None = Field(
        description="When the last of these was posted, in Unix seconds; null without one."
    )
    locked: str | None = Field(description="Why a moderator locked its discussion; null if it is not locked.")
    read_at: float | None
    """When you last opened its page or its link, in Unix seconds; null if you have not within a month, if you
    turned this off, and for readers without an account."""

    new_comments: int = Field(description="How many comments have been added since you last opened its page.")

    @classmethod
    def of(cls, article: articles.Article, **more: Any) -> Self:
        """Return an article; `more`: what a subclass adds."""
        return made(
            cls,
            article,
            link=None if article.is_withheld else article.link or None,
            has_text=not article.is_withheld and article.text_bytes > 0,
            poster=article.poster_name,
            time=article.posted_at,
            **more,
        )


class WholeArticle(Article):
    """An article with its text."""

    text: str | None = Field(
        description="In Markdown; null for an article that has only a link, and once it is removed."
    )
    html: str | None = Field(description="The text as safe HTML; null like the text.")

    @classmethod
    def of(cls, article: articles.Article, **more: Any) -> Self:
        is_shown = not article.is_withheld and article.text != ""
        text, html = (article.text, str(article.html)) if is_shown else (None, None)
        return super().of(article, text=text, html=html, **more)


class PostedArticle(WholeArticle):
    """An article, and whether it already existed."""

    existing: bool
    """Whether the link, or the same title and text without a link, had already been posted, so nothing was
    added."""


class ArticlePage(Continued):
    """One page of a list."""

    articles: list[Article]
    page: NumberOfPage
    pages: int
    total: int = Field(
        description="Total number of articles on all pages; an upper limit if you hide hosts or words, or if"
        f" several groups, or what you hide, have more than {lists.MOST_PAGED:,}."
    )
    hidden: Hidden

    @classmethod
    def of(cls, page: lists.ArticlePage, number: int | None, next_after: str | None) -> "ArticlePage":
        articles = [Article.of(article) for article in page.articles]
        return made(cls, page, articles=articles, page=number, next_after=next_after)


class Waiting(BaseModel):
    """What you posted waits for a moderator's approval."""

    held: int = Field(description="Its number among your held posts.")

    @classmethod
    def answer(cls, held: HeldForApproval) -> Any:
        """Return the answer with 202, of an operation that usually answers with something else."""
        return Status(202, cls(held=held.number))


TITLE_HELP = f"At most {TITLE_LIMIT} characters."


class NewArticle(Model):
    """An article to post."""

    title: str = Field(description=TITLE_HELP, examples=["An example"])
    link: str | None = Field(None, examples=["https://example.org/"])
    """An http or https URL; required if there is no text."""

    text: str | None = Field(None, examples=["A *short* summary."])
    """Markdown, at most 20,000 characters; required if there is no link."""

    groups: Slugs = Field([], description="Names of existing groups, at most five.")


class Edit(Model):
    """Changes to an article."""

    title: str | None = Field(
        None, description=f"{TITLE_HELP} If omitted, the title stays the same.", examples=["A better title"]
    )
    link: str | None = None
    """An http or https URL; if omitted, the link stays the same. Empty for none, if there is a text."""

    text: str | None = None
    """Markdown, at most 20,000 characters; if omitted, the text stays the same. Empty for none, if there is a
    link."""

    groups: Slugs | None = None
    """Names of existing groups, at most five; if omitted, the groups stay the same. Posters only."""

    reason: str = Field("", examples=["The title was misleading."])
    """Everyone can read it in the moderation log. Moderators only."""


class NewChoice(BaseModel):
    """A choice on an article or a comment."""

    choice: Choice = Field(description="“none” takes back your choice.", examples=["vote"])


class Tally(BaseModel):
    """The counts of an article or a comment after a choice."""

    id: int
    votes: int
    opposes: int
    points: int = Field(description="Votes for minus votes against.")
    choice: Choice = Field(description="Your own.")

    @classmethod
    def of(cls, article_id: int, tally: articles.Tally) -> "Tally":
        return made(cls, tally, id=article_id)


class Error(BaseModel):
    """What went wrong."""

    code: str = Field(description="A stable code, for programs.")
    message: str = Field(description="A sentence for people, in your language.")
    moved_to: str | SkipJsonSchema[None] = Field(
        None, description="Only with the code group-moved: the group it was merged into."
    )
    article_id: int | SkipJsonSchema[None] = Field(
        None, description="Only with the code duplicate-link: the article that has the link."
    )
    scope: str | SkipJsonSchema[None] = Field(
        None, description="Only with the code missing-scope: what the token does not allow."
    )


class Failure(BaseModel):
    """Every error response."""

    error: Error

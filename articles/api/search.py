"""Search articles and comments."""

from dataclasses import replace
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from articles.api import schemas
from articles.api.comments import Comment
from articles.api.protocol import cursors
from articles.api.protocol.operations import anyone, members, router
from articles.api.protocol.problems import Problem
from articles.api.schemas import PlainNumber
from articles.domain.lists import SearchOrder
from articles.text.links import LINK_LIMIT, clean_link
from articles.text.searching import MOST_CHARACTERS, read_query
from articles.text.slugs import requested_slug
from articles.web import hiding
from articles.web.articles import posted_before
from articles.web.feeds import BadQuery, hidden_in
from articles.web.identity import reader_id
from articles.web.wiring import finder, repository

MOST_OF_LINK = 25  # articles of one link in a response
LAST_PAGE = 100  # highest page number accepted; search results end before it, whatever the page size


class _PageQuery(schemas.PageQuery):
    hidden: schemas.ShowHidden = None
    page: PlainNumber = Field(
        1, ge=1, le=LAST_PAGE, description=schemas.PageQuery.model_fields["page"].description, examples=[1]
    )


class CommentSearchQuery(_PageQuery):
    """Which comments to search for, and which page of the results."""

    q: str = Field(max_length=MOST_CHARACTERS, examples=["python news"])
    """Words in the texts of comments, at most 200 characters, with the same phrases, exclusions and filters as a
    search of articles. A comment must match all of them; the last word can be the beginning of one, unless a space
    follows it."""

    group: str | SkipJsonSchema[None] = Field(None, examples=["python"])
    """Name of a group, to search only comments on its articles."""

    hide: str | SkipJsonSchema[None] = Field(None, examples=["python,redis"])
    """Names of groups, separated by commas, at most 50: comments on their articles are left out. The group being
    searched is not left out."""


class _Results(schemas.NumberedPage):
    """What a page of results says besides the results."""

    total: int = Field(description="Number of results.")
    complete: bool = Field(description="False while the search index is being built: there may be more results.")
    hidden: schemas.Hidden
    doubts: list[str] = Field(examples=[[]])
    """What looked like a filter, but is none: it was searched as words."""


class CommentSearchPage(_Results):
    """One page of comments found by a search."""

    comments: list[Comment] = Field(
        description="Newest first; depth, replies and cut are 0, because they describe threads."
    )


class SearchQuery(_PageQuery):
    """What to search for, and which page of the results."""

    q: str = Field(max_length=MOST_CHARACTERS, examples=["python news"])
    """Words in titles, texts, link hosts, names of posters and groups, at most 200 characters, with the phrases,
    exclusions, alternatives and filters that the search page lists. An article must match all of them; the last
    word can be the beginning of one, unless a space follows it."""

    order: Literal["relevance", "score", "time", "points"] = Field("relevance", examples=["time"])
    """By relevance, as on the front page, newest first, or by ranked_points."""

    group: str | SkipJsonSchema[None] = Field(
        None, description="Name of a group, to search only its articles.", examples=["python"]
    )
    hide: str | SkipJsonSchema[None] = Field(None, examples=["python,redis"])
    """Names of groups to leave out, separated by commas, at most 50. The group being searched is not left out."""


class SearchPage(_Results):
    """One page of search results."""

    articles: list[schemas.Article]


@router.get("search", auth=(*members(limits=("search",)), anyone("search")))
def search(request: HttpRequest, query: Query[SearchQuery]) -> SearchPage:
    """Search.

    Articles whose titles, texts, hosts, posters' names or groups match the query. Words match by their stems,
    Chinese words by any part. Paging ends after 1,000 articles.
    """
    words, order, seen = read_query(query.q), SearchOrder(query.order), cursors.seen_in(request)
    page = finder().get_page(
        repository(), words, order, query.page, reader=reader_id(request), seen=seen, **_groups_of(request, query)
    )
    following = cursors.next_unseen(request, seen, page.ids) if page.has_next else None
    articles = [schemas.Article.of(article) for article in page.articles]
    found = {"articles": articles, "page": query.number, "next_after": following, "doubts": list(words.doubts)}
    return schemas.made(SearchPage, page, **found)


@router.get("search/comments", auth=(*members(limits=("search",)), anyone("search")))
def search_comments(request: HttpRequest, query: Query[CommentSearchQuery]) -> CommentSearchPage:
    """Search in comments.

    Comments that contain all the words, newest first, except removed ones and those on removed articles. Paging
    ends after 1,000 comments.
    """
    words, after = read_query(query.q), cursors.position_in(request)
    page = finder().get_comments(repository(), words, query.page, after=after, **_groups_of(request, query))
    following = cursors.next_after(request, page.last) if page.has_next else None
    comments = [Comment.of(comment) for comment in page.comments]
    found = {"comments": comments, "page": query.number, "next_after": following, "doubts": list(words.doubts)}
    return schemas.made(CommentSearchPage, page, **found)


def _groups_of(request: HttpRequest, query: SearchQuery | CommentSearchQuery) -> dict[str, Any]:
    """Return the group in which to search, and what to leave out. Raises Problem."""
    try:
        named = hidden_in(query.hide or "")
    except BadQuery as bad:
        raise Problem(400, "invalid", str(bad)) from bad
    own = hiding.applied(request).hidden
    slug = requested_slug(query.group) if query.group else None
    hidden = replace(own, groups=(*own.groups, *named))
    return {"slug": slug, "hidden": hidden if slug is None else hidden.showing([slug])}


class LinkQuery(schemas.AfterQuery):
    """A link."""

    link: str = Field(max_length=LINK_LIMIT, examples=["https://example.org/a"])
    """In any spelling: the same page is found."""


class PostedArticles(schemas.Continued):
    """The articles of a link, newest first."""

    articles: list[schemas.Article] = Field(description="The newest, at most 25.")
    total: int = Field(description="How many articles of the link there are in all.")


@router.get("posted-before", auth=(*members(limits=("lookups",)), anyone("lookups")))
def list_posted_before(request: HttpRequest, query: Query[LinkQuery]) -> PostedArticles:
    """The articles of a link.

    Articles with this link, of any age, without removed ones. A new article is found after a moment.
    """
    seen = cursors.seen_in(request)
    found = posted_before(clean_link(query.link), MOST_OF_LINK, reader_id(request), seen)
    return PostedArticles(
        articles=[schemas.Article.of(article) for article in found.articles],
        next_after=cursors.next_unseen(request, seen, found.ids) if found.more else None,
        total=len(seen) + len(found.articles) + found.more,
    )

"""What can be asked for."""

from collections.abc import Collection, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from ninja import P, PathEx, Query, Router, Status

from articles.api import readership, schemas
from articles.api import search as finding
from articles.api.protocol.auth import EVERYONE, MEMBERS, BearerToken, SessionCookie, anyone
from articles.api.protocol.problems import Problem
from articles.domain.errors import PageNotFound
from articles.domain.lists import Order, Span
from articles.feeds.query import BadQuery, hidden_in
from articles.formatting.values import grouped, listed
from articles.readership.archive import record_view
from articles.readership.identity import visit_of
from articles.repository import MOST_GROUPS
from articles.searching import read_query
from articles.text.lines import clean_reason, clean_title
from articles.text.links import clean_link
from articles.text.slugs import clean_slug, slug_asked_for, slugs_asked_for
from articles.web.identity import actor, reader_id
from articles.wiring import repository

LAST_PAGE = 10**9
"""No list is longer; the store could not count further."""

ArticleNumber = PathEx[int, P(description=gettext_noop("The article's number."), ge=1, examples=[42])]

router = Router()


def failing(*statuses: int) -> dict[int, Any]:
    """Answers with these statuses, for the documentation."""
    return dict.fromkeys(statuses, schemas.Failure)


READERS: dict[str, Any] = {"auth": EVERYONE, "openapi_extra": {"security": [{}]}}
_LOCATION = {"Location": {"description": "The article's address in the API.", "schema": {"type": "string"}}}


@router.get(
    "articles",
    summary=gettext_noop("A page of articles"),
    description=gettext_noop("The articles of the site or of some groups, with your own choices."),
    response={200: schemas.ArticlePage} | failing(400, 401, 404, 503),
    **READERS,
)
def list_articles(request: HttpRequest, query: Query[schemas.ListQuery]) -> schemas.ArticlePage:
    if query.page > LAST_PAGE:
        raise PageNotFound(query.page)
    slugs = slugs_asked_for(query.group, at_most=MOST_GROUPS) if query.group else ()
    if query.range is not Span.ALL and (query.order is not Order.POINTS or slugs):
        message = _("“range” counts for order=points alone, and without a group.")
        raise Problem(400, "invalid", message)
    page = repository().listings.page(
        query.order, query.page, slugs=slugs, span=query.range, reader=reader_id(request)
    )
    return schemas.ArticlePage.of(page)


@router.get(
    "hot",
    summary=gettext_noop("The hot list"),
    description=gettext_noop(
        "The articles most read of late, hottest first. All are scored for one moment, which is renewed every "
        "minute or so."
    ),
    response={200: readership.HotList} | failing(400, 401, 503),
    **READERS,
)
def list_hot(request: HttpRequest, query: Query[readership.HotQuery]) -> readership.HotList:
    found = repository()
    since = query.range.since(found.store.now())
    page = found.listings.page(Order.HOT, since=since, size=query.limit, reader=reader_id(request))
    return readership.HotList.of(page)


@router.get(
    "search",
    summary=gettext_noop("Search"),
    description=gettext_noop(
        "Articles that have all the words, in their titles, hosts, posters' names or groups. English words are "
        "found by their stems, Chinese by any part of them. At most 1,000 articles can be paged through."
    ),
    response={200: finding.SearchPage} | failing(400, 401, 404, 503),
    **READERS,
)
def search(request: HttpRequest, query: Query[finding.SearchQuery]) -> finding.SearchPage:
    slug = slug_asked_for(query.group) if query.group else None
    order, reader = Order(query.order), reader_id(request)
    hidden = _hidden_as_asked(query.hide or "")
    page = repository().search.page(
        read_query(query.q), order, query.page, slug=slug, hidden=hidden, reader=reader
    )
    return finding.SearchPage.of(page)


@router.post(
    "views",
    summary=gettext_noop("Count a view"),
    description=gettext_noop(
        "Says that a reader looks at an article. Views of one reader within some minutes count once, and those of "
        "programs not at all. It changes nothing of yours, so no CSRF token is needed."
    ),
    response={200: readership.ViewCount} | failing(400, 401, 404, 413, 415, 503),
    auth=(BearerToken(), anyone),
    openapi_extra={"security": [{SessionCookie.__name__: []}, {}]},
)
def count_view(request: HttpRequest, view: readership.View) -> readership.ViewCount:
    visit = visit_of(request, view.visitor_id or "")
    return readership.ViewCount.of(record_view(repository(), view.article_id, visit))


@router.post(
    "articles",
    summary=gettext_noop("Post an article"),
    description=gettext_noop(
        "Your own vote is its first. A link that was posted recently leads to that article: nothing is added, "
        "and the answer is 200 instead of 201."
    ),
    response={201: schemas.PostedArticle, 200: schemas.PostedArticle} | failing(400, 401, 403, 413, 415, 503),
    auth=MEMBERS,
    openapi_extra={"responses": {201: {"headers": _LOCATION}, 200: {"headers": _LOCATION}}},
)
def post_article(
    request: HttpRequest, response: HttpResponse, article: schemas.NewArticle
) -> Status[schemas.PostedArticle]:
    found, poster = repository(), actor(request)
    title, link = clean_title(article.title), clean_link(article.link)
    groups = _slugs(article.groups)
    check_groups(groups, found.groups.titles(), at_most=found.rules.max_groups_by_poster)
    posted = found.articles.post(poster.id, poster.name, title, link, groups)
    response["Location"] = reverse("api:read_article", args=[posted.id])
    stored = found.articles.get(posted.id, poster.id)
    answer = schemas.PostedArticle.from_post(stored, existing=not posted.is_new)
    return Status(201 if posted.is_new else 200, answer)


@router.put(
    "articles/{article_id:article_id}/vote",
    summary=gettext_noop("Vote, oppose, or take it back"),
    description=gettext_noop("Sets your choice on an article. Repeating it changes nothing."),
    response={200: schemas.Tally} | failing(400, 401, 403, 404, 409, 413, 415, 503),
    auth=MEMBERS,
)
def cast_vote(request: HttpRequest, article_id: ArticleNumber, ballot: schemas.Ballot) -> schemas.Tally:
    return schemas.Tally.of(article_id, repository().votes.cast(article_id, actor(request).id, ballot.choice))


@router.put(
    "articles/{article_id:article_id}/groups",
    summary=gettext_noop("Assign an article to groups"),
    description=gettext_noop(
        "For moderators. Sets all groups of an article in one step. Repeating it changes nothing."
    ),
    response={200: schemas.Assigned} | failing(400, 401, 403, 404, 413, 415, 503),
    auth=MEMBERS,
)
def assign_groups(
    request: HttpRequest, article_id: ArticleNumber, assignment: schemas.Assignment
) -> schemas.Assigned:
    if not request.user.has_perm("articles.assign_groups"):
        raise PermissionDenied
    found, wanted = repository(), _slugs(assignment.groups)
    reason = clean_reason(assignment.reason) if assignment.reason else ""
    known = {*found.groups.titles(), *found.articles.get(article_id).groups}
    check_groups(wanted, known)
    others = known.difference(wanted)  # not only those it is in now: another moderator may be adding one
    groups = found.groups.assign(article_id, wanted, others, actor=actor(request), reason=reason)
    return schemas.Assigned(id=article_id, groups=list(groups))


def _hidden_as_asked(names: str) -> tuple[str, ...]:
    try:
        return hidden_in(names)
    except BadQuery as bad:
        raise Problem(400, "invalid", str(bad)) from bad


def _slugs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(clean_slug, names)))


def check_groups(slugs: Sequence[str], known: Collection[str], at_most: int | None = None) -> None:
    """Raise Problem for groups that are not `known`, or more than `at_most`."""
    if unknown := [slug for slug in slugs if slug not in known]:
        message = _("There is no group named %(names)s.") % {"names": listed(unknown)}
        raise Problem(400, "unknown-group", message)
    if at_most is not None and len(slugs) > at_most:
        raise Problem(400, "too-many-groups", _("Choose at most %(most)s groups.") % {"most": grouped(at_most)})

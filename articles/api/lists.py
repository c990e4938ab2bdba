"""What can be asked for."""

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from ninja import Query

from articles.api import readership, schemas
from articles.api.protocol.operations import LAST_PAGE, READERS, failing, router
from articles.api.protocol.problems import Problem
from articles.domain.errors import PageNotFound
from articles.domain.lists import GROUPS_PER_LIST, Order, Span
from articles.text.slugs import slugs_asked_for
from articles.web.identity import reader_id
from articles.wiring import repository


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
    slugs = slugs_asked_for(query.group, at_most=GROUPS_PER_LIST) if query.group else ()
    if query.range is not Span.ALL and (query.order is not Order.POINTS or slugs):
        message = _("“range” counts for order=points alone, and without a group.")
        raise Problem(400, "invalid", message)
    page = repository().lists.get_page(
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
    page = found.lists.get_page(Order.HOT, since=since, size=query.limit, reader=reader_id(request))
    return readership.HotList.of(page)

"""Comments as Lemmy's: discussions, the newest of the site, writing, voting and flagging."""

from functools import partial
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from pydantic import Field

from accounts.models import POST, VOTE
from articles.api.protocol.problems import Problem
from articles.domain import comments as domain
from articles.text.lines import clean_comment
from articles.web import comments, limits, votes
from articles.web.forms.fields import check_links
from articles.web.identity import reader_id
from articles.web.wiring import repository
from extras.lemmy.articles import Listing, choice_of, moderated_by, report, shown_articles
from extras.lemmy.operations import MOST_LISTED, Json, Limit, Number, Page, operation
from extras.lemmy.shapes import WHOLE_SITE, Shapes, slug_of

ORDERS = {"New": domain.CommentOrder.NEWEST, "Old": domain.CommentOrder.OLDEST}
"""Orders of comments by Lemmy's sorts; all others are as the best first."""

_MOST_PAGES = 20  # pages of a discussion: each has to read those before it

Depth = Annotated[int, Field(ge=0)]


@operation("GET", "comment/list", word="couldnt_get_comments")
def list_comments(
    request: HttpRequest,
    post_id: Number | None = None,
    parent_id: Number | None = None,
    community_id: Number | None = None,
    community_name: str | None = None,
    type_: Listing = "All",
    sort: str = "Hot",
    max_depth: Depth | None = None,
    page: Page = 1,
    limit: Limit = 10,
    saved_only: bool = False,
    liked_only: bool = False,
    disliked_only: bool = False,
) -> Json:
    if saved_only or liked_only or disliked_only:  # the site keeps no such lists of comments
        return {"comments": []}
    if post_id or parent_id:
        size = domain.COMMENTS_PER_PAGE if max_depth else min(limit, domain.COMMENTS_PER_PAGE)
        return {"comments": _thread(request, post_id, parent_id, sort, page, size)}
    slug = slug_of(community_id, community_name) if community_id or community_name else WHOLE_SITE
    slugs = None if slug == WHOLE_SITE else frozenset({slug})
    if slugs is None and type_ in ("Subscribed", "ModeratorView"):
        slugs = Shapes(request).followed if type_ == "Subscribed" else frozenset(moderated_by(request))
    return {"comments": _newest(request, slugs, page, min(limit, MOST_LISTED))}


def _thread(
    request: HttpRequest, post_id: int | None, parent_id: int | None, sort: str, page: int, size: int
) -> list[Json]:
    """Return a page of a discussion, or of the replies to a comment. Each page is a use of the limit for each."""
    if page > _MOST_PAGES:
        return []
    article_id = domain.article_of(parent_id) if parent_id else post_id or 0
    article = repository().articles.get(article_id, reader_id(request))
    limits.take(request, *["api"] * (page - 1))
    comments = repository().comments
    order, reader = ORDERS.get(sort, domain.CommentOrder.BEST), reader_id(request)
    read = (
        partial(comments.get_branch, domain.not_root(parent_id))
        if parent_id
        else partial(comments.get_thread, article_id)
    )
    thread = read(order, reader=reader, part=domain.ThreadPart(0, size))
    for _page in range(1, page):
        if thread.next_start is None:
            return []
        thread = read(order, reader=reader, part=domain.ThreadPart(thread.next_start, size))
    return Shapes(request).thread(thread, article)


def _newest(request: HttpRequest, slugs: frozenset[str] | None, page: int, size: int) -> list[Json]:
    """Return a page of the newest comments of the site, of which a few hundred can be paged through."""
    repo, end = repository(), page * size
    since = repo.store.now() if end <= domain.LEAST_IN_FEED and slugs is None else 0
    newest = repo.comments.list_newest(since=since)
    if slugs is None:
        newest = newest[end - size : end]
    articles = shown_articles([one.article for one in newest], reader_id(request))
    if slugs is not None:
        known = [one for one in newest if one.article in articles]
        newest = [one for one in known if not slugs.isdisjoint(articles[one.article].groups)][end - size : end]
    return Shapes(request).comment_views(newest, articles)


@operation("GET", "comment", word="couldnt_find_comment")
def get_comment(request: HttpRequest, id: Number) -> Json:
    return comment_response(request, id)


def comment_response(request: HttpRequest, comment_id: domain.CommentId) -> Json:
    """Return a comment, with those above it. Two round trips. Raises CommentNotFound, ArticleRemoved."""
    read, part, reader = repository().comments.get_branch, domain.ThreadPart(size=1), reader_id(request)
    branch = read(domain.not_root(comment_id), domain.CommentOrder.OLDEST, reader=reader, part=part)
    (comment, *_replies), path = branch.comments, ".".join(map(str, (0, *branch.ancestors)))
    article = repository().articles.get(comment.article, reader)
    view = Shapes(request, [comment.author]).comment_view(comment, article, path=path)
    return {"comment_view": view, "recipient_ids": []}


@operation("POST", "comment", scope=POST, word="couldnt_create_comment")
def create_comment(request: HttpRequest, content: str, post_id: Number, parent_id: Number | None = None) -> Json:
    posted = comments.post(request, post_id, check_links(clean_comment(content)), parent_id)
    return comment_response(request, posted)


@operation("PUT", "comment", scope=POST, word="couldnt_update_comment")
def edit_comment(request: HttpRequest, comment_id: Number, content: str) -> Json:
    before = repository().comments.get(domain.not_root(comment_id), reader_id(request))
    comments.edit(request, before, check_links(clean_comment(content), current=before.text))
    return comment_response(request, comment_id)


@operation("POST", "comment/delete", scope=POST, word="couldnt_update_comment")
def delete_comment(request: HttpRequest, comment_id: Number, deleted: bool) -> Json:
    if not deleted:
        raise Problem(409, "couldnt_update_comment", _("Deleted comments cannot be restored."))
    view: dict[str, Any] = comment_response(request, comment_id)
    comments.delete(request, comment_id)
    view["comment_view"]["comment"] |= {"content": "", "deleted": True}
    return view


@operation("POST", "comment/like", scope=VOTE, limited=("api",), word="couldnt_like_comment")
def like_comment(request: HttpRequest, comment_id: Number, score: int) -> Json:
    votes.cast_on_comment(request, request.user, domain.not_root(comment_id), choice_of(score))
    return comment_response(request, comment_id)


@operation("PUT", "comment/save", scope=VOTE, word="couldnt_save_comment")
def save_comment(request: HttpRequest, comment_id: Number, save: bool) -> Json:
    if save:
        raise Problem(409, "couldnt_save_comment", _("Only articles can be saved."))
    return comment_response(request, comment_id)


@operation("POST", "comment/report", scope=POST, word="couldnt_create_report")
def report_comment(request: HttpRequest, comment_id: Number, reason: str) -> Json:
    view = comment_response(request, comment_id)["comment_view"]
    original = {"comment_id": comment_id, "original_comment_text": view["comment"]["content"]}
    return {"comment_report_view": report(request, comment_id, reason, view, "comment", original)}

"""Feeds of comments: all new ones, those on an article, and a member's."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.encoding import escape_uri_path
from django.utils.translation import gettext as _, override
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen
from articles.domain.comments import Comment
from articles.domain.errors import ArticleRemoved
from articles.kept_pages import in_turn
from articles.repository import FeedFilter
from articles.views.lists.feeds import feed_of
from articles.web.addresses import moved
from articles.web.feeds import answer, comment_facts_of, comment_item
from articles.web.identity import member_named
from articles.web.wiring import repository


@require_safe
@in_turn
def of_site(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the feed of all new comments."""
    comments = repository().comments.list_newest(since=_since())
    with override(chosen.language):
        return _answer(request, _("New comments"), reverse("articles:active"), comments, kind)


@require_safe
@in_turn
def of_article(request: HttpRequest, article_id: int, kind: str) -> HttpResponse:
    """Return the feed of the comments on an article."""
    repo = repository()
    article = repo.articles.get(article_id)
    if article.is_withheld:
        raise ArticleRemoved(article_id)
    comments = repo.comments.list_newest(since=_since(), article_id=article_id)
    with override(chosen.language):
        title = _("Comments on “%(title)s”") % {"title": article.title}
        return _answer(request, title, reverse("articles:article", args=[article_id]), comments, kind)


@require_safe
@in_turn
def of_author(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """Return the feed of a member's comments."""
    member = member_named(name)
    if member.get_username() != name:
        return moved(reverse("articles:member_comments_feed", args=[member.get_username(), kind]))
    comments = repository().comments.list_newest_by(member.pk, since=_since())
    with override(chosen.language):
        title = _("Comments by %(name)s") % {"name": name}
        return _answer(request, title, reverse("articles:member_comments", args=[name]), comments, kind)


def _since() -> float:
    """Return the moment from which on a feed is complete, in Unix seconds."""
    return repository().feeds.get_since(FeedFilter())


def _answer(request: HttpRequest, title: str, page: str, comments: Sequence[Comment], kind: str) -> HttpResponse:
    """Write the feed, without comments on articles that are removed."""
    repo = repository()
    read = repo.articles.get_many(sorted({comment.article for comment in comments}))
    articles = {article.id: article for article in read if not article.is_withheld}
    shown = [(comment, articles[comment.article]) for comment in comments if comment.article in articles]
    feed = feed_of(request, title, _("What members write about articles."), page, escape_uri_path(request.path))
    items = (comment_item(feed, comment, article) for comment, article in shown)
    return answer(request, feed, comment_facts_of(shown), items, kind, repo.store.now())

"""The page of an article."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.moderators import EDIT_ANY_ARTICLE
from articles.domain.articles import Article
from articles.domain.errors import ArticleRemoved
from articles.domain.readership import ViewCount, Visit
from articles.kept_pages import is_copying
from articles.kept_pages.sharing import COUNTED_APART
from articles.readership.identity import remember
from articles.readership.record import count_view
from articles.views.card import card_of
from articles.views.comments.discussion import discussion_of
from articles.views.ranking.explanation import why
from articles.web.identity import reader_id
from articles.wiring import html_of, repository


@require_safe
def detail(request: HttpRequest, article_id: int) -> HttpResponse:
    repo = repository()
    article = repo.articles.get(article_id, reader_id(request), with_text=True)
    view = _view(request, article)
    if view:
        article = replace(article, pv=view[1].pv, uv=view[1].uv)
    discussion = None
    if article.removed is None:
        discussion = discussion_of(request, article, view[1].visited_at if view else None)
    now = repo.store.now()
    may_withdraw = article.may_be_edited_by(reader_id(request), now, repo.rules.edit_window)
    response = render(
        request,
        "articles/article.html",
        {
            "article": article,
            "is_open": article.is_open(now),
            "may_edit": may_withdraw or request.user.has_perm(EDIT_ANY_ARTICLE),
            "may_withdraw": may_withdraw,
            "card": card_of(request, article),
            "text": html_of(article.text),
            "discussion": discussion,
            "log": repo.moderation_log.get_for_article(article.id) if article.is_logged else None,
        },
    )
    if view:
        remember(request, response, *view)
    return response


@require_safe
def explanation(request: HttpRequest, article_id: int) -> HttpResponse:
    """Return the page that explains the article's rank. Not a view of the article."""
    repo = repository()
    article = repo.articles.get(article_id, reader_id(request))
    if article.removed is not None:
        raise ArticleRemoved(article_id)
    response = render(request, "ranking/explanation.html", {"article": article, "why": why(article)})
    response["X-Robots-Tag"] = "noindex"
    return response


def _view(request: HttpRequest, article: Article) -> tuple[Visit, ViewCount] | None:
    """Count a view of the page. Return None for no view, or if counting fails: the page is served anyway."""
    is_no_view = request.method == "HEAD" or article.removed is not None or is_copying(request)
    if is_no_view or COUNTED_APART in request.META:
        return None
    return count_view(request, article.id, reader_id(request))

"""One article's page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from articles.views.people import reader_id
from articles.wiring import repository


@require_safe
def detail(request: HttpRequest, article_id: int) -> HttpResponse:
    found = repository()
    article = found.articles.get(article_id, reader_id(request))
    now = found.store.now()
    may_edit = request.user.has_perm("articles.edit_any_article") or (
        article.may_be_edited_by(reader_id(request), now, found.rules.edit_window)
    )
    return render(
        request,
        "articles/article.html",
        {"article": article, "is_open": article.is_open(now), "may_edit": may_edit, "rules": found.rules},
    )

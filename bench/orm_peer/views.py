"""The front page, the page of an article without the explanation of its rank, and a vote."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from articles.domain.articles import Choice
from articles.domain.lists import ArticlePage, Order
from articles.formatting.kept import OPEN, drawing_of, filled
from articles.views.articles import Abilities, article_holes, article_shape
from articles.views.lists.list_page import Reader, list_page
from articles.views.lists.rows import draw_rows
from articles.web.addresses import site_address
from articles.web.context import frame_holes, frame_of
from bench.orm_peer import models, reading

SECONDS_PER_POINT = 432.0
PER_PAGE = 25

_COUNT_SECONDS = 10
_DIRECTIONS = {Choice.VOTE: 1, Choice.OPPOSE: -1}


@lru_cache(maxsize=1)
def _count(_moment: int) -> int:
    """Return the number of articles, counted once in _COUNT_SECONDS."""
    return reading.listed.count()


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    now = time.time()
    articles = reading.drawn(reading.listed.order_by("-score", "-id")[:PER_PAGE], request.user)
    page = ArticlePage((), 1, PER_PAGE, _count(int(now // _COUNT_SECONDS)), Order.SCORE)
    is_member = request.user.is_authenticated
    context = {
        "list": list_page(page, Reader(is_member=is_member), next=OPEN["next"]),
        "updated_ago": "",
        "welcome": None,
    }
    holes = {
        "steps": "",
        "hidden": "",
        "rows": draw_rows(articles, is_member=is_member, now=now, first_rank=1),
        "since": int(now // _COUNT_SECONDS * _COUNT_SECONDS),
        "next": "?page=2",
    }
    return _page(request, "lists/list.html", context, holes)


@dataclass
class _Shape:
    """The shape of a page that is not kept."""

    values: dict[str, Any]

    def context(self) -> dict[str, Any]:
        return self.values


def _page(
    request: HttpRequest, template: str, context: dict[str, Any], holes: Mapping[str, object]
) -> HttpResponse:
    shape = _Shape(context | {"frame": frame_of(request)})
    return HttpResponse(filled(drawing_of(template, shape, keep=False), frame_holes(request) | dict(holes)))


@require_safe
def detail(request: HttpRequest, article_id: int) -> HttpResponse:
    row = get_object_or_404(reading.listed, pk=article_id)
    _record_view(row, request)
    (article,) = reading.drawn([row], request.user)
    may = Abilities(article.poster == request.user.pk, *[False] * (len(Abilities._fields) - 1))
    shape = article_shape(article, frame_of(request), may, site_address(request), time.time(), None)
    holes = article_holes(article, shape) | {"ring": "", "history": "", "before": "", "merged": ""}
    return _page(request, "articles/article.html", shape.context(), holes)


def _record_view(row: models.Article, request: HttpRequest) -> None:
    """Count the view, and the visitor if it is the first one."""
    visitor = str(request.user.pk) if request.user.is_authenticated else request.COOKIES.get("visitor", "")
    view = models.View(article=row, visitor=visitor[:64])
    before = models.View.objects.filter(article=row, visitor=view.visitor).exists()
    if not before:
        models.View.objects.bulk_create([view], ignore_conflicts=True)
        row.uv += 1
    row.pv += 1
    models.Article.objects.filter(pk=row.pk).update(pv=F("pv") + 1, uv=F("uv") + (0 if before else 1))


@require_POST
def cast_vote(request: HttpRequest, article_id: int) -> HttpResponse:
    if not request.user.is_authenticated:
        return redirect("/login/")
    with transaction.atomic():
        row = get_object_or_404(models.Article.objects.select_for_update(), pk=article_id, is_removed=False)
        if row.closes_at >= time.time():
            _apply(row, request.user, _DIRECTIONS.get(Choice(request.POST["choice"]), 0))
    return redirect(request.POST.get("next", "/"))


def _apply(row: models.Article, member: Any, direction: int) -> None:
    """Set the member's choice on a locked article, and update its counts."""
    vote = models.Vote.objects.filter(article=row, member=member).first()
    former = vote.direction if vote else 0
    if former == direction:
        return
    if vote:
        models.Vote.objects.filter(pk=vote.pk).update(direction=direction)
    else:
        models.Vote.objects.create(article=row, member=member, direction=direction)
    row.votes += (direction == 1) - (former == 1)
    row.opposes += (direction == -1) - (former == -1)
    row.score = row.posted_at + SECONDS_PER_POINT * (row.votes - row.opposes)
    row.save(update_fields=["votes", "opposes", "score"])

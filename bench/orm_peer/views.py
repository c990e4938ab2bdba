"""The front page and a vote."""

import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from articles.domain.articles import Article, Choice
from articles.domain.lists import ArticlePage, Order
from articles.formatting.kept import OPEN, drawing_of, filled
from articles.views.lists.list_page import ListPage, Reader
from articles.views.lists.rows import draw_rows
from articles.web.context import frame_holes, frame_of
from bench.orm_peer import models

SECONDS_PER_POINT = 432.0
PER_PAGE = 25

_COUNT_SECONDS = 10
_DIRECTIONS = {Choice.VOTE: 1, Choice.OPPOSE: -1}
_CHOICES = {direction: choice for choice, direction in _DIRECTIONS.items()}

listed = models.Article.objects.filter(is_removed=False).select_related("poster").prefetch_related("groups")


@lru_cache(maxsize=1)
def _count(_moment: int) -> int:
    """Return the number of articles, counted once in _COUNT_SECONDS."""
    return listed.count()


def _drawn(rows: Iterable[models.Article], reader: Any) -> tuple[Article, ...]:
    """Return the articles as the site's templates draw them, with a member's choices: one more query."""
    articles, choices = list(rows), dict[int, int]()
    if reader.is_authenticated:
        own = models.Vote.objects.filter(member_id=reader.pk, article__in=[row.pk for row in articles])
        choices = dict(own.values_list("article_id", "direction"))
    return tuple(
        Article(
            id=row.pk,
            title=row.title,
            link=row.link,
            poster=row.poster_id,
            poster_name=row.poster.username,
            posted_at=row.posted_at,
            votes=row.votes,
            opposes=row.opposes,
            score=row.score,
            closes_at=row.closes_at,
            groups=tuple(group.slug for group in row.groups.all()),
            choice=_CHOICES.get(choices.get(row.pk, 0), Choice.NONE),
        )
        for row in articles
    )


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    now = time.time()
    articles = _drawn(listed.order_by("-score", "-id")[:PER_PAGE], request.user)
    page = ArticlePage((), 1, PER_PAGE, _count(int(now // _COUNT_SECONDS)), Order.SCORE)
    is_member = request.user.is_authenticated
    context = {
        "list": ListPage(page, Reader(may_post=is_member), next=OPEN["next"]),
        "updated_ago": "",
        "site": "",
        "welcome": None,
        "frame": frame_of(request),
    }
    holes = {
        "steps": "",
        "address": "/",
        "hidden": "",
        "rows": draw_rows(articles, is_member=is_member, now=now, first_rank=1),
        "since": int(now // _COUNT_SECONDS * _COUNT_SECONDS),
        "next": "?page=2",
    }
    drawing = drawing_of("lists/list.html", context, keep=False)
    return HttpResponse(filled(drawing, frame_holes(request) | holes))


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

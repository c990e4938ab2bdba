"""Articles read with the ORM, as the objects that the site's templates draw."""

from collections.abc import Iterable, Sequence
from typing import Any

from articles.domain.articles import Article, Choice
from bench.orm_peer import models

_CHOICES = {1: Choice.VOTE, -1: Choice.OPPOSE}

listed = models.Article.objects.filter(is_removed=False).select_related("poster").prefetch_related("groups")


def drawn(rows: Iterable[models.Article], reader: Any) -> tuple[Article, ...]:
    """Return articles with the reader's own choices: two more queries for a member."""
    articles = list(rows)
    choices, saved = _own(articles, reader) if reader.is_authenticated else ({}, set())
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
            saved=row.pk in saved,
            pv=row.pv,
            uv=row.uv,
        )
        for row in articles
    )


def _own(articles: Sequence[models.Article], reader: Any) -> tuple[dict[int, int], set[int]]:
    own = {"member_id": reader.pk, "article__in": [row.pk for row in articles]}
    choices = models.Vote.objects.filter(**own).values_list("article_id", "direction")
    return dict(choices), set(models.Saved.objects.filter(**own).values_list("article_id", flat=True))

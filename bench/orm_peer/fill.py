"""Fill the peer's tables with the content of bench/site/content.py: python -m bench.orm_peer.fill ARTICLES"""

import json
import random
import sys
import time
from dataclasses import asdict

from bench.site.content import GROUPS, MEMBERS, READERS, Content, add_members, rows

_BATCH = 2000


def add_articles(articles: int) -> None:
    from bench.orm_peer import models
    from bench.orm_peer.views import SECONDS_PER_POINT

    week, now = 7 * 86400, time.time()
    groups = models.Group.objects.bulk_create(models.Group(slug=f"group-{n}") for n in range(GROUPS))
    for first in range(0, articles, _BATCH):
        batch = models.Article.objects.bulk_create(
            models.Article(
                title=row.title,
                link=row.link,
                poster_id=row.poster,
                posted_at=row.posted_at,
                closes_at=row.posted_at + week,
                votes=row.votes,
                opposes=row.opposes,
                score=row.posted_at + SECONDS_PER_POINT * (row.votes - row.opposes),
            )
            for row in rows(first, min(first + _BATCH, articles), articles, now)
        )
        membership = models.Article.groups.through
        membership.objects.bulk_create(
            membership(article=article, group=groups[n % GROUPS]) for n, article in enumerate(batch, first)
        )


def add_choices(front: list[int]) -> None:
    from bench.orm_peer import models

    picks = {member: random.Random(member).sample(front, 8) for member in range(1, MEMBERS + 1)}
    pairs = [(member, article) for member, articles in picks.items() for article in articles]
    models.Vote.objects.bulk_create(models.Vote(member_id=m, article_id=a, direction=1) for m, a in pairs)


def fill(articles: int) -> Content:
    from django.core.management import call_command
    from django.db import connection

    from bench.orm_peer.views import listed

    call_command("migrate", verbosity=0)
    call_command("migrate", run_syncdb=True, verbosity=0)
    names = [f"member{n + 1}" for n in range(MEMBERS)]
    sessions = add_members(names)
    add_articles(articles)
    by_score = listed.order_by("-score", "-id").values_list("pk", flat=True)
    front = list(by_score[:25])
    add_choices(front)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    newest = listed.order_by("-pk").values_list("pk", flat=True)[:300]
    candidates = [article for article in newest if article not in front]
    return Content(
        articles, sessions, names, [f"visitor=reader{n}" for n in range(READERS)], candidates[:200], 0.0
    )


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(asdict(fill(int(sys.argv[1])))))

"""Fill a new data directory with members and open articles, as a site that has been used for some days has them.

    python -m tests.chaos.prepare DATA_DIR ARTICLES MEMBERS

Writes the number of articles, and the members' ids, API tokens and sessions, to prepared.json in the directory.
The environment is the site's.
"""

import json
import random
import secrets
import sys
import time
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts import member_ids
from accounts.models import Token, User
from accounts.models.tokens import digest_of
from articles.domain.articles import ImportedArticle
from articles.repository import Repository
from articles.web.wiring import patient_repository
from tests.cast import PASSWORD
from voting_site.store_session import opened_store

WORDS = ("redis", "python", "vote", "数据库", "缓存", "ranking", "web", "shard", "list", "group", "cache", "rank")
GROUPS = ("python", "databases", "web", "news")
OLDEST = 5 * 86400.0  # seconds since the first article: all of them stay open for two days
_BATCH = 500
LOGIN = "bob-1"  # the member who has a password


def fill(articles: int, members: int) -> list[dict[str, object]]:
    call_command("migrate", interactive=False, verbosity=0)
    repository = patient_repository()
    for slug in GROUPS:
        repository.groups.create(slug, slug.title())
    people = make_members(members)
    import_articles(repository, articles, [int(str(one["id"])) for one in people])
    repository.fit_weight()
    return people


def make_members(count: int) -> list[dict[str, object]]:
    first = member_ids.reserve(count)
    users = [
        User(pk=pk, username=f"bob-{n}", canonical_name=f"bob-{n}")
        for n, pk in enumerate(range(first, first + count), 1)
    ]
    for user in users:
        user.set_unusable_password()
    users[0].set_password(PASSWORD)
    User.objects.bulk_create(users)
    member_ids.note(first + count - 1)
    tokens = {user.pk: Token.objects.PREFIX + secrets.token_urlsafe(32) for user in users}
    Token.objects.bulk_create(
        Token(user=user, name="chaos", digest=digest_of(tokens[user.pk]), last_used_at=timezone.now())
        for user in users
    )
    sessions: dict[int, str] = {}
    for user in users[:20]:
        browser = Client()
        browser.force_login(user)
        sessions[user.pk] = browser.session.session_key or ""
    return [{"id": user.pk, "token": tokens[user.pk], "session": sessions.get(user.pk, "")} for user in users]


def import_articles(repository: Repository, count: int, posters: list[int]) -> None:
    """Import articles 1 to `count`, and a last one that has closed."""
    chance, now = random.Random(1), time.time()

    def article(number: int) -> ImportedArticle:
        poster = chance.choice(posters)
        return ImportedArticle(
            title=f"{' '.join(chance.choices(WORDS, k=6))} {number}",
            link=f"https://site{number % 997}.example/{number}",
            poster=poster,
            poster_name=f"bob-{posters.index(poster) + 1}",
            posted_at=round(now - OLDEST * (count + 1 - number) / count, 3),
            votes=chance.randint(0, 3),
            opposes=0,
            groups=tuple(chance.sample(GROUPS, chance.randint(0, 2))),
        )

    with repository.imports.lock():
        for start in range(1, count + 1, _BATCH):
            repository.imports.add([article(number) for number in range(start, min(start + _BATCH, count + 1))])
        repository.imports.add([replace(article(count + 1), posted_at=now - 86400, closes_at=now - 3600)])


def main() -> None:
    data_dir, articles, members = sys.argv[1:]
    with opened_store():
        people = fill(int(articles), int(members))
        if settings.STORE_IS_EMBEDDED:
            _rewrite()
    Path(data_dir, "prepared.json").write_text(json.dumps({"members": people, "articles": int(articles)}))


def _rewrite() -> None:
    """Return when the whole store is in its base file."""
    patient_repository().store.client.bgrewriteaof()
    while _is_rewriting():
        time.sleep(0.05)  # a poll


def _is_rewriting() -> bool:
    facts = patient_repository().store.client.info("persistence")
    return bool(facts["aof_rewrite_in_progress"] or facts["aof_rewrite_scheduled"])


if __name__ == "__main__":
    main()

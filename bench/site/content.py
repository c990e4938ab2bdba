"""Fill a new site, and print what the requests need to know of it: python -m bench.site.content ARTICLES

DATA_DIR names the site's directory. The articles differ only by their number: 30 seconds between two of them, 10
groups, titles of 8 words whose frequencies fall as those of a language do. 200 members have sessions; each has
voted on eight articles of the front page and saved three. 1,000 articles have been read.
"""

import json
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from articles.domain.articles import ImportedArticle
    from articles.repository import Repository

MEMBERS, READERS, GROUPS, WORDS_PER_TITLE, READ = 200, 200, 10, 8, 1000
SECONDS_APART = 30.0

_BATCH = 500
_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "vu", "po", "dix", "ne", "gar", "tul", "shi")

WORDS = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]
"""Words of titles, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Content:
    """What requests need to know about a filled site."""

    articles: int
    sessions: list[str]
    names: list[str]
    """Names of the members, in the order of their sessions."""

    visitors: list[str]
    """Cookies of readers without an account who have been here before."""

    open_articles: list[int]
    """Articles that are open to votes, and are not on the front page."""

    memory_per_article: float
    """Bytes of the store."""


def title(n: int) -> str:
    chance = random.Random(n)
    return " ".join(WORDS[min(int(chance.paretovariate(0.6)) - 1, len(WORDS) - 1)] for _ in range(WORDS_PER_TITLE))


def rows(first: int, last: int, articles: int, now: float) -> "list[ImportedArticle]":
    """Return articles `first` to `last` of a site with `articles` of them, the last posted `now`."""
    from articles.domain.articles import ImportedArticle

    return [
        ImportedArticle(
            title=title(n),
            link=f"https://site{n % 997}.example/articles/{n}",
            poster=n % MEMBERS + 1,
            poster_name=f"member{n % MEMBERS + 1}",
            posted_at=now - (articles - n) * SECONDS_APART,
            votes=n % 17 + 1,
            opposes=n % 3,
            groups=(f"group-{n % GROUPS}",),
        )
        for n in range(first, last)
    ]


def add_articles(repository: "Repository", articles: int) -> float:
    """Import the articles; return the store's memory for each, in bytes."""
    before, now = used_memory(repository), time.time()
    steps = range(0, articles, _BATCH)
    for first in tqdm(steps, desc=f"{articles:,} articles", unit_scale=_BATCH, unit="", leave=False):
        repository.imports.add(rows(first, min(first + _BATCH, articles), articles, now))
    return (used_memory(repository) - before) / articles


def used_memory(repository: "Repository") -> int:
    return int(repository.store.client.info("memory")["used_memory"])


def add_members() -> tuple[list[str], list[str]]:
    """Create members who joined a month ago; return their session keys and names."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.utils import timezone

    from accounts.models import User

    joined, names = timezone.now() - timedelta(days=30), [f"member{n + 1}" for n in range(MEMBERS)]
    members = User.objects.bulk_create(
        User(pk=n, username=name, canonical_name=name, date_joined=joined, password="!")
        for n, name in enumerate(names, 1)
    )
    sessions = []
    for user in members:
        session = import_module(settings.SESSION_ENGINE).SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session["renewed"] = int(time.time())
        session.save()
        sessions.append(str(session.session_key))
    return sessions, names


def add_choices(repository: "Repository", front: list[int]) -> None:
    """Let each member vote on eight articles of the front page and save three."""
    from articles.domain.articles import Choice

    def choose(member: int) -> None:
        picks = random.Random(member).sample(front, 11)
        for article in picks[:8]:
            repository.votes.cast(article, member, Choice.VOTE)
        for article in picks[8:]:
            repository.members.save(member, article, wanted=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(choose, range(1, MEMBERS + 1)))


def add_views(repository: "Repository", newest: int) -> None:
    from articles.domain.readership import Visit

    now = time.time()
    read = range(max(1, newest - READ + 1), newest + 1)
    repository.pageviews.record_many(
        [(n, Visit(f"{reader:016x}"), now) for n in read for reader in range(1 + n % 7)],
    )


def visitor_cookies() -> list[str]:
    """Return the cookies of readers who have been here before, as this site sets them."""
    from django.contrib.auth.models import AnonymousUser
    from django.http import HttpResponse
    from django.test import RequestFactory

    from articles.domain.readership import Visit
    from articles.readership.visitors import COOKIE, remember

    cookies = []
    for n in range(READERS):
        request, response = RequestFactory().get("/"), HttpResponse()
        request.user = AnonymousUser()
        remember(request, response, Visit(f"{n + 10**6:016x}"), None)
        cookies.append(f"{COOKIE}={response.cookies[COOKIE].value}")
    return cookies


def fill(articles: int) -> Content:
    from django.core.management import call_command

    from articles.domain.lists import Order
    from articles.wiring import patient_repository

    call_command("migrate", verbosity=0)
    repository = patient_repository()
    repository.prepare()
    memory = add_articles(repository, articles)
    sessions, names = add_members()
    front = [article.id for article in repository.lists.get_page(Order.SCORE, 1).articles]
    add_choices(repository, front)
    add_views(repository, articles)
    candidates = [n for n in range(articles, max(0, articles - 300), -1) if n not in front]
    return Content(articles, sessions, names, visitor_cookies(), candidates[:200], memory)


def main() -> None:
    import django

    django.setup()
    from voting_site.embedded import open_store

    with open_store(Path(os.environ["DATA_DIR"])):
        print(json.dumps(asdict(fill(int(sys.argv[1])))))


if __name__ == "__main__":
    main()

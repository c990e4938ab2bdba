"""Fill a new site, and print what the requests need to know of it: python -m bench.site.content ARTICLES [special]

DATA_DIR names the site's directory. The articles differ only by their number: 30 seconds between two of them, 10
groups, titles of 8 words whose frequencies fall as those of a language do. 200 members have sessions; each has
voted on eight articles of the front page and saved three. 1,000 articles have been read. With "special", there are
also members who have never voted, who have voted on 5,000 articles, and who hide 50 groups and 50 members.
"""

import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

if TYPE_CHECKING:
    from articles.domain.articles import ImportedArticle
    from articles.repository import Repository

MEMBERS, READERS, GROUPS, WORDS_PER_TITLE, READ = 200, 200, 10, 8, 1000
SECONDS_APART = 30.0

_BATCH = 500
_MOST_VOTES, _HIDDEN, _OF_EACH_KIND = 5000, 50, 4
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

    special: Mapping[str, list[str]] = field(default_factory=dict)
    """Sessions of members of several kinds, by what they have done."""


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


def add_members(names: Sequence[str], first: int = 1) -> list[str]:
    """Create members who joined a month ago, with ids from `first` on; return their session keys."""
    from django.utils import timezone

    from accounts.models import User

    joined = timezone.now() - timedelta(days=30)
    members = User.objects.bulk_create(
        User(pk=n, username=name, canonical_name=name, date_joined=joined, password="!")
        for n, name in enumerate(names, first)
    )
    return [new_session(user) for user in members]


def new_session(user: Any) -> str:
    """Return the key of a new session of a member of any Django site."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session["renewed"] = int(time.time())
    session.save()
    return str(session.session_key)


def add_special(repository: "Repository", articles: int) -> dict[str, list[str]]:
    """Add members who have done or hidden much, or nothing; return their sessions by kind."""
    from accounts.models import User
    from accounts.models.blocks import Block
    from articles.domain.articles import Choice

    count = min(_MOST_VOTES, articles)
    kinds, special = ("0 votes", f"{count:,} votes", f"{2 * _HIDDEN} hidden"), dict[str, list[str]]()
    for n, kind in enumerate(kinds):
        names = [f"special{n}-{each}" for each in range(_OF_EACH_KIND)]
        special[kind] = add_members(names, MEMBERS + 1 + n * _OF_EACH_KIND)
    voters, hiders = (User.objects.filter(username__startswith=f"special{n}-") for n in (1, 2))

    def vote(member: int) -> None:
        for article in range(articles - count + 1, articles + 1):
            repository.votes.cast(article, member, Choice.VOTE)

    with ThreadPoolExecutor(_OF_EACH_KIND) as pool:
        list(pool.map(vote, voters.values_list("pk", flat=True)))
    groups = [f"small-{n}" for n in range(_HIDDEN)]
    old = [
        replace(row, groups=(group,))
        for row, group in zip(rows(0, _HIDDEN, articles, time.time()), groups, strict=True)
    ]
    repository.imports.add([replace(row, link=f"{row.link}/again") for row in old])
    hiders.update(hidden_groups=",".join(groups))
    for hider in hiders:
        for other in User.objects.filter(pk__lte=_HIDDEN):
            Block.objects.get_or_create(user=hider, blocked=other)
    return special


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
        [(n, Visit(f"{reader:016x}"), now) for n in read for reader in range(1 + n % 7)]
    )


def visitor_cookies() -> list[str]:
    """Return the cookies of readers who have been here before, as this site sets them."""
    from django.contrib.auth.models import AnonymousUser
    from django.http import HttpResponse
    from django.test import RequestFactory

    from articles.domain.readership import Visit
    from articles.web.readership.record import COOKIE, remember

    cookies = []
    for n in range(READERS):
        request, response = RequestFactory().get("/"), HttpResponse()
        request.user = AnonymousUser()
        remember(request, response, Visit(f"{n + 10**6:016x}"), None)
        cookies.append(f"{COOKIE}={response.cookies[COOKIE].value}")
    return cookies


def fill(articles: int, *, is_special: bool = False) -> Content:
    from django.core.management import call_command

    from articles.domain.lists import Order
    from articles.web.wiring import patient_repository

    call_command("migrate", verbosity=0)
    repository = patient_repository()
    repository.prepare()
    memory = add_articles(repository, articles)
    names = [f"member{n + 1}" for n in range(MEMBERS)]
    sessions = add_members(names)
    front = [article.id for article in repository.lists.get_page(Order.SCORE, 1).articles]
    add_choices(repository, front)
    add_views(repository, articles)
    candidates = [n for n in range(articles, max(0, articles - 300), -1) if n not in front]
    special = add_special(repository, articles) if is_special else {}
    return Content(articles, sessions, names, visitor_cookies(), candidates[:200], memory, special)


def main() -> None:
    import django

    django.setup()
    from voting_site.embedded import open_store

    with open_store(Path(os.environ["DATA_DIR"])):
        print(json.dumps(asdict(fill(int(sys.argv[1]), is_special="special" in sys.argv[2:]))))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Longest command in the store for audit, repair, housekeeping, and every kind of page.

    python -m bench.longest_scripts [--articles N] [--days N] [--shards N] [--only WORD …]

While a command runs, the store serves no other client, so the longest one limits how long a reader may wait.
Uses a temporary store, the embedded server with its real settings: N articles of three years, three in ten in one
group, half of them viewed, 250 of them open with 2,000 voters each, one with N / 10 voters, and 2,000 by one
member, who votes on N / 20 articles if so many are open.

The figures come from the slow log, which measures each command in wall-clock time. On a busy or shared machine,
the longest command is often one that waited for a processor. The second figure is therefore the slowest script by
its 99th percentile of runs above 0.2 ms, or by the median if there are fewer than 100 runs.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

BATCH = 1000
BUSY_MEMBER = 7
FIRST_VOTER = 1_000_000
LOG_ENTRIES = 10_000
OPEN_DAYS = 6.9

PAGES = (
    "/", "/?page=40", "/newest/", "/hot/", "/top/?range=day", "/top/?range=month", "/top/", "/groups/",
    "/groups/everything/", "/groups/everything/?order=hot", "/groups/everything/?order=points",
    "/groups/everything+group-1+group-2/", "/groups/group-3/", "/moderation/", "/moderation/?page=100",
    "/search/?q=article", "/search/?q=article+number+ordinary", "/search/?q=number+7",
    "/search/?q=site5.example", "/users/busy/", "/users/busy/?page=40", "/sitemap.xml",
    "/sitemap-articles-1.xml", "/feeds/front.atom", "/feeds/hot.atom", "/feeds/newest.atom",
    "/feeds/groups/everything.atom", "/api/articles", "/api/hot?range=72h&limit=20",
)  # fmt: skip


def fill(articles: int, days: float) -> list[int]:
    """Import articles of this many days, and add views, votes and a moderation log.

    Return the ids, oldest first.
    """
    from articles.domain.articles import Choice, ImportedArticle
    from articles.domain.moderation_log import Actor
    from articles.domain.readership import Visit
    from articles.web.wiring import patient_repository

    repository, chance = patient_repository(), random.Random(1)
    now, ids = repository.store.now(), list[int]()

    def row(n: int) -> ImportedArticle:
        crowded = articles - 250 <= n
        return ImportedArticle(
            title=f"An article about the number {n}, of an ordinary length",
            link=f"https://site{n % 997}.example/{n}",
            poster=BUSY_MEMBER if n % (articles // 2000 or 1) == 0 else 0,
            poster_name="busy" if n % (articles // 2000 or 1) == 0 else "",
            posted_at=now - days * 86400 * (1 - n / articles),
            votes=2000 if crowded else min(200, int(chance.paretovariate(1.1))),
            opposes=n % 3,
            groups=("everything",) if n % 10 < 3 else (f"group-{n % 50}",),
        )

    for at in tqdm(range(0, articles, BATCH), desc="articles", leave=False):
        ids += [i for i in repository.imports.add([row(n) for n in range(at, min(at + BATCH, articles))]) if i]
    viewed = ids[::2]
    for at in tqdm(range(0, len(viewed), BATCH), desc="views", leave=False):
        repository.pageviews.record_many([(i, Visit(f"{i:016x}"), now) for i in viewed[at : at + BATCH]])
    actor = Actor(3, "carol")
    for n in tqdm(range(LOG_ENTRIES), desc="log", leave=False):
        repository.groups.assign(
            ids[n % min(len(ids), 2000)], [f"group-{n % 49}"], actor=actor, reason="It belongs there"
        )
    opened = ids[-min(articles // 20, int(articles * OPEN_DAYS / days)) :]
    with ThreadPoolExecutor(8) as pool:
        casts = (
            [(article_id, BUSY_MEMBER) for article_id in opened],
            [(ids[-1], FIRST_VOTER + n) for n in range(articles // 10)],
        )
        for cast in casts:
            voting = pool.map(lambda vote: repository.votes.cast(*vote, Choice.VOTE), cast)
            list(tqdm(voting, desc="votes", total=len(cast), leave=False))
    return ids


class Longest:
    """Run operations and print the longest command of each."""

    def __init__(self, only: Sequence[str]) -> None:
        from articles.web.wiring import patient_repository

        self._client = patient_repository().store.client
        self._only = only
        self._client.config_set("slowlog-log-slower-than", 200)
        self._client.config_set("slowlog-max-len", 20_000)

    def measure(self, name: str, operation: Callable[[], object]) -> None:
        """Run the operation. Print its time in seconds, and the longest command in milliseconds."""
        from articles.repository.inspection.server import slow_command

        if self._only and not any(word in name for word in self._only):
            return
        self._client.execute_command("SLOWLOG", "RESET")
        began = time.perf_counter()
        try:
            operation()
        except Exception as error:
            print(f"| {name} | – | failed: {str(error)[:80]} | |", flush=True)
            time.sleep(20)  # the failed command may still be running
            return
        took = time.perf_counter() - began
        entries = self._client.execute_command("SLOWLOG", "GET", 20_000, NEVER_DECODE=[])
        times: dict[str, list[float]] = {}
        for command in map(slow_command, entries):
            words = command.command.split()
            kind = words[1] if words[0].startswith("EVAL") else words[0]
            if kind != "SLOWLOG":
                times.setdefault(kind, []).append(command.seconds * 1000)
        longest = {kind: max(durations) for kind, durations in times.items()}
        typical = {kind: _typical(durations) for kind, durations in times.items()}
        print(f"| {name} | {_highest(longest)} | {_highest(typical)} | {took:.2f} |", flush=True)


def _highest(figures: dict[str, float]) -> str:
    kind = max(figures, key=lambda kind: figures[kind], default="")
    return f"{kind} {figures[kind]:.1f}" if kind else "below 0.2"


def _typical(times: list[float]) -> float:
    """Return the 99th percentile in milliseconds, or the median of fewer than 100 runs."""
    return statistics.quantiles(times, n=100)[98] if len(times) >= 100 else statistics.median(times)


def measure(ids: list[int], only: Sequence[str]) -> None:
    from django.test import Client

    from accounts.models import User
    from articles.domain.articles import Choice
    from articles.domain.moderation_log import Actor
    from articles.web.wiring import patient_repository

    repository, browser = patient_repository(), Client(HTTP_HOST="localhost")
    longest = Longest(only)
    print("| operation | longest command, ms | slowest script, p99, ms | whole operation, s |")
    print("| --- | ---: | ---: | ---: |")
    longest.measure("audit", lambda: list(repository.audit.run()))
    for path in PAGES:
        longest.measure(path, lambda path=path: _open(browser, path))
    longest.measure("an article", lambda: _open(browser, f"/articles/{ids[-1]}/"))
    longest.measure("the explanation of its rank", lambda: _open(browser, f"/articles/{ids[-1]}/why/"))
    longest.measure("a vote on it", lambda: repository.votes.cast(ids[-1], 3, Choice.VOTE))
    member = Client(HTTP_HOST="localhost")
    member.force_login(User.objects.get(pk=BUSY_MEMBER))
    for path in ("/", "/mine/voted/", "/mine/voted/?page=1000", f"/articles/{ids[-1]}/"):
        longest.measure(f"{path} of the busy member", lambda path=path: _open(member, path))
    longest.measure("all articles read", lambda: sum(1 for _ in repository.imports.iterate(with_texts=True)))
    longest.measure("hot list rescored", repository.hot.rescore)
    longest.measure("repair", repository.repair.run)
    longest.measure("hot list rescored after repair", repository.hot.rescore)
    longest.measure("audit after repair", lambda: list(repository.audit.run()))
    longest.measure("ranks sampled", repository.history.record)
    actor = Actor(3, "carol")
    longest.measure("a group merged", lambda: repository.groups.merge("group-7", "group-8", actor, "The same"))
    longest.measure(
        "the large group merged", lambda: repository.groups.merge("everything", "group-8", actor, "The same")
    )
    longest.measure("a member deleted", lambda: _delete_member(repository))


def _open(browser: object, path: str) -> None:
    status = browser.get(path).status_code  # type: ignore[attr-defined]
    if status != 200:
        print(f"| {path} | – | answered {status} | |")


def _delete_member(repository: object) -> None:
    progress = ""
    while progress := repository.account_deletion.advance(BUSY_MEMBER, "busy", progress, lambda: False):  # type: ignore[attr-defined]
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=300_000)
    parser.add_argument("--days", type=float, default=3 * 365)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="operations whose names contain one of these words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "bench.lib.settings", "LOG_LEVEL": "ERROR"}
        os.environ |= {"STORE_SHARDS": str(options.shards), "STORE_TIMEOUT_MS": "10000"}
        import django

        django.setup()
        from django.core.management import call_command

        from accounts.models import User
        from voting_site.embedded import open_store
        from voting_site.serving.static_files import gather

        with open_store(Path(folder)):
            gather()
            call_command("migrate", verbosity=0)
            User.objects.create(pk=BUSY_MEMBER, username="busy", canonical_name="busy")
            measure(fill(options.articles, options.days), options.only)


if __name__ == "__main__":
    main()

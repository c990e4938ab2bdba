"""What the page of an article costs, by the number of its comments.

    python -m bench.discussions.pages [--comments N …]

In process, for a member, with a temporary store: processor time of the site, round trips and commands of the
store, bytes of the page, and memory of the store for each comment. Prints the minimum of several runs, because the
machine may be busy.
"""

import argparse
import gzip
import os
import random
import tempfile
import time
from pathlib import Path

from articles.repository import Repository
from bench.lib.stores import empty_store
from bench.site.usage import store_counters

REPEATS = 15
AUTHORS = 500
_WORDS = ("article", "votes", "store", "reader", "page", "group", "rank", "reply", "thread", "points", "member")


def discuss(repository: Repository, number: int, comments: int) -> int:
    """Post an article and its comments, a third of them replies, 40 words each; return the article's id."""
    chance, ids = random.Random(number), list[int]()
    article = repository.articles.post(1, "member1", f"Article {number}", f"https://example.org/{number}").id
    for n in range(comments):
        parent = chance.choice(ids) if ids and n % 3 == 0 else None
        author = n % AUTHORS + 1
        text = " ".join(chance.choices(_WORDS, k=40))
        ids.append(repository.comments.post(article, author, f"member{author}", text, parent=parent))
    return article


def measure(repository: Repository, sizes: list[int]) -> None:
    from django.test import Client

    from accounts.models import User

    member = User.objects.create_user("reader")
    browser = Client(HTTP_HOST="localhost", HTTP_USER_AGENT="Mozilla/5.0 Firefox/140.0")
    browser.force_login(member)
    client, row = repository.store.client, "| {:,} | {:.1f} | {:.1f} | {} | {} | {:,} | {:,} | {} |"
    print(
        "| comments | first time, CPU ms | again, CPU ms | round trips | commands | bytes | packed | "
        "bytes of the store for a comment |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    discuss(repository, 0, 1)
    browser.get("/articles/1/")
    for number, comments in enumerate(sizes, start=1):
        before = store_counters(client).memory_bytes
        article = discuss(repository, number, comments)
        memory = (store_counters(client).memory_bytes - before) // comments if comments else "–"
        times, used = list[float](), []
        for _ in range(REPEATS):
            counted, began = store_counters(client), time.process_time()
            response = browser.get(f"/articles/{article}/")
            times.append(1000 * (time.process_time() - began))
            after = store_counters(client)
            used.append((after.round_trips - counted.round_trips, after.commands - counted.commands))
            assert response.status_code == 200
        size, packed = len(response.content), len(gzip.compress(response.content, 6))
        print(row.format(comments, times[0], min(times[1:]), *min(used[1:]), size, packed, memory))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comments", type=int, nargs="+", default=[0, 100, 1000, 10_000])
    sizes = parser.parse_args().comments
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "voting_site.settings",
            "DATA_DIR": folder,
            "RATE_LIMITS": "off",
            "LOG_LEVEL": "ERROR",
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        with empty_store(Path(folder)):
            from articles.wiring import repository

            measure(repository(), sizes)


if __name__ == "__main__":
    main()

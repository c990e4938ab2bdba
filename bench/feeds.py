#!/usr/bin/env python3
"""Time of feeds and of a part of the sitemap, from reading the store to writing the XML.

    python -m bench.feeds [--articles N] [--a-day N]

Uses a temporary store, the embedded server with its real settings. Prints the fastest of several runs, in
milliseconds, because the machine may be busy.
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tqdm import tqdm

from articles.domain.articles import Article, ImportedArticle
from articles.domain.lists import Order
from articles.repository import FeedFilter, Repository
from articles.searching import Hiding
from bench.lib.stores import empty_store

REPEATS = 15


def fill(repository: Repository, articles: int, a_day: int) -> None:
    """Import articles posted at a steady rate until now, in 50 groups, by 1,000 posters."""
    chance, now = random.Random(1), repository.store.now()
    for at in tqdm(range(0, articles, 1000), desc="articles", leave=False):
        repository.imports.add(
            [
                ImportedArticle(
                    title=f"Article {n}",
                    link=f"https://site{n % 997}.example/{n}",
                    poster=n % 1000 + 1,
                    poster_name=f"member{n % 1000 + 1}",
                    posted_at=now - 86400 / a_day * (articles - n),
                    votes=int(chance.paretovariate(1.1)),
                    opposes=0,
                    groups=(f"group-{n % 50}",),
                )
                for n in range(at, min(at + 1000, articles))
            ]
        )


def milliseconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return 1000 * min(times)


def measure(repository: Repository) -> None:
    from articles.feeds import Feed, article_item, written

    site = "https://news.example.org"
    about = Feed("Newest", "Articles", site, f"{site}/newest/", "/feeds/newest.atom", "News", "en", "")

    def write(articles: Iterable[Article]) -> bytes:
        return written(about, (article_item(about, article) for article in articles), "atom")

    feeds, three_hidden = repository.feeds, FeedFilter(None, Hiding(("group-1", "group-2", "group-3")))
    print("| feed | articles | read, ms | written as Atom, ms | bytes |\n| --- | --- | --- | --- | --- |")
    for name, read in (
        ("newest", lambda: feeds.list_in(Order.TIME, FeedFilter())),
        ("newest, 10 points", lambda: feeds.list_in(Order.TIME, FeedFilter(10))),
        ("newest, 100 points", lambda: feeds.list_in(Order.TIME, FeedFilter(100))),
        ("newest, 3 groups hidden", lambda: feeds.list_in(Order.TIME, three_hidden)),
        ("front", lambda: feeds.list_in(Order.SCORE, FeedFilter())),
        ("a group", lambda: feeds.list_groups(["group-7"], FeedFilter())[1]),
        ("a poster", lambda: feeds.list_posted(7, FeedFilter())),
    ):
        articles = read()
        raw = write(articles)
        reading = milliseconds(read)
        writing = milliseconds(lambda articles=articles: write(articles))
        print(f"| {name} | {len(articles):,} | {reading:.1f} | {writing:.1f} | {len(raw):,} |")
    took = milliseconds(lambda: repository.standings.list_for(range(1, 10_001)))
    print(f"\nA part of the sitemap, 10,000 ids: {took:.1f} ms.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=300_000)
    parser.add_argument("--a-day", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "voting_site.settings", "DATA_DIR": folder, "LIMITS": "off"}
        import django

        django.setup()
        with empty_store(Path(folder)) as repository:
            fill(repository, arguments.articles, arguments.a_day)
            measure(repository)


if __name__ == "__main__":
    main()

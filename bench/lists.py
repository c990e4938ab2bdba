#!/usr/bin/env python3
"""Cost of lists (front page, unseen articles, hidden groups, several groups, most points of a month) and a vote.

    python -m bench.lists [--articles N] [--shards N …]

Uses a temporary store, the embedded server with its real settings; a third of the articles are of the last month.
Columns as in bench.hot_list: the server's time, and the caller's waiting time without that of a PING.
"""

import argparse
import random

from tqdm import tqdm

from articles.domain.articles import Choice, ImportedArticle
from articles.domain.lists import Order, Period
from articles.repository import Repository
from bench.hot_list import measured
from bench.lib.stores import passing_store


def fill(repository: Repository, articles: int) -> list[int]:
    """Import articles of three months, each in up to three of 50 groups. Return their ids."""
    chance, now, ids = random.Random(1), repository.store.now(), list[int]()
    for at in tqdm(range(0, articles, 1000), desc="articles", leave=False):
        rows = [
            ImportedArticle(
                title=f"Article {n}",
                link=f"https://site{n % 997}.example/{n}",
                poster=0,
                poster_name="",
                posted_at=now - 90 * 86400 * (1 - n / articles),
                votes=min(200, int(chance.paretovariate(1.1))),
                opposes=0,
                groups=tuple({f"group-{chance.randrange(50)}" for _ in range(3)}),
            )
            for n in range(at, min(at + 1000, articles))
        ]
        ids += [i for i in repository.imports.add(rows) if i]
    return ids


def measure(repository: Repository, articles: int) -> None:
    ids = fill(repository, articles)
    lists, client = repository.lists, repository.store.client
    print(f"\n{articles:,} articles, shards: {repository.store.shards.count}")
    print("| operation | store, ms | best | answer, ms | best |\n| --- | ---: | ---: | ---: | ---: |")

    def rebuild_top(_: int) -> None:
        client.delete(*(keys.top(Period.MONTH) for keys in repository.store.shards.all))
        lists.get_page(Order.POINTS, period=Period.MONTH)

    front: list[int] = []
    for number in range(1, 41):
        front += [article.id for article in lists.get_page(Order.SCORE, number).articles]
    one, both, ten = ("group-1",), ("group-1", "group-2"), tuple(f"group-{n}" for n in range(10))
    measured(repository, "front page", lambda _: lists.get_page(Order.SCORE, reader=1), 300)
    measured(repository, "1 group hidden", lambda _: lists.get_page(Order.SCORE, reader=1, hidden=one), 300)
    measured(repository, "10 groups hidden", lambda _: lists.get_page(Order.SCORE, reader=1, hidden=ten), 300)
    measured(repository, "page 2, after 25 shown", lambda _: lists.get_page(Order.SCORE, 2, shown=front[:25]), 300)
    measured(repository, "page 41, after 1,000 shown", lambda _: lists.get_page(Order.SCORE, 41, shown=front), 300)
    measured(repository, "2 groups", lambda _: lists.get_page(Order.SCORE, slugs=both, reader=1), 300)
    measured(repository, "10 groups", lambda _: lists.get_page(Order.SCORE, slugs=ten, reader=1), 300)
    measured(repository, "top of the month, rebuilt", rebuild_top, 30)
    measured(
        repository, "top of the month, cached", lambda _: lists.get_page(Order.POINTS, period=Period.MONTH), 300
    )
    newest, votes = ids[-100:], repository.votes
    measured(repository, "a vote", lambda n: votes.cast(newest[n % 100], 7 + n, Choice.VOTE), 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    for shards in options.shards:
        with passing_store(shards) as repository:
            measure(repository, options.articles)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Cost of the hot list in the store: rescoring, recording a view, its pages, changing the weight of a vote.

    python -m bench.hot_list [--articles N] [--listed N] [--shards N …]

Uses a temporary store, the embedded server with its real settings. "store" is the server's time for the commands
of one operation (INFO commandstats): of its scripts if it has any, otherwise of all commands. "answer" is the
caller's waiting time without that of a PING, and includes the client's work. Both as the median and the best of
all runs.
"""

import argparse
import random
import time
from collections.abc import Callable
from statistics import median

import redis
from tqdm import tqdm

from articles.domain.articles import ImportedArticle
from articles.domain.lists import Order
from articles.domain.moderation.log import OPERATOR
from articles.domain.ranking import Parameters
from articles.domain.readership import Visit
from articles.repository import Repository
from articles.repository.store.batches import ARTICLES_PER_STEP
from articles.repository.store.connection import Store
from bench.lib.stores import passing_store

SCRIPTS = ("cmdstat_eval", "cmdstat_evalsha")


def fill(repository: Repository, articles: int, listed: int) -> list[int]:
    """Import articles of the last weeks, and record views of `listed` of them. Return the ids of those."""
    chance, now = random.Random(1), repository.store.now()
    ids: list[int] = []
    for at in tqdm(range(0, articles, 1000), desc="articles", leave=False):
        rows = [
            ImportedArticle(
                title=f"Article {n}",
                link=f"https://site{n % 997}.example/{n}",
                poster=0,
                poster_name="",
                posted_at=now - 8 * 86400 - 60 * (articles - n),
                votes=int(chance.paretovariate(1.1)),
                opposes=0,
                groups=(f"group-{n % 50}",),
            )
            for n in range(at, min(at + 1000, articles))
        ]
        ids += [i for i in repository.imports.add(rows) if i]
    viewed = chance.sample(ids, listed)
    for at in tqdm(range(0, listed, 100), desc="views", leave=False):
        views = [(i, visit(chance.randrange(10**9)), now) for i in viewed[at : at + 100] for _ in range(20)]
        repository.pageviews.record_many(views)
    repository.hot.rescore()
    return viewed


def visit(number: int) -> Visit:
    return Visit(f"{number:016x}", f"{number:016x}")


def server_seconds(client: redis.Redis) -> float:
    """Return the time since the statistics were reset: of scripts with their commands, or else of all commands."""
    stats = client.info("commandstats")
    scripts = sum(stats[name]["usec"] for name in SCRIPTS if name in stats)
    excluded = {"evalsha", "eval", "multi", "exec", "info", "config|resetstat"}
    single = sum(facts["usec"] for name, facts in stats.items() if name.removeprefix("cmdstat_") not in excluded)
    return (scripts or single) / 1e6


def measured(repository: Repository, name: str, job: Callable[[int], object], times: int) -> None:
    client, waited, served = repository.store.client, [], []
    job(-1)
    pings = []
    for _ in range(200):
        began = time.perf_counter()
        client.ping()
        pings.append(time.perf_counter() - began)
    for n in range(times):
        client.config_resetstat()
        began = time.perf_counter()
        job(n)
        waited.append(time.perf_counter() - began)
        served.append(server_seconds(client))
    ping = median(pings)
    figures = [median(served), min(served), median(waited) - ping, min(waited) - ping]
    print(f"| {name} | " + " | ".join(f"{1000 * seconds:.3f}" for seconds in figures) + " |", flush=True)


def without_counters(store: Store, ids: list[int], reader: int) -> None:
    """Read a page of articles as before views were counted, for comparison."""
    with store.pipeline() as pipe:
        pipe.hget(store.shards.all[0].ranking, "seconds_per_point")
        for article_id in ids:
            keys = store.shards.of(article_id)
            pipe.hgetall(keys.article(article_id))
            pipe.sismember(keys.voted(article_id), str(reader))
            pipe.sismember(keys.oppose(article_id), str(reader))
        pipe.execute()


def measure(repository: Repository, articles: int, listed: int) -> None:
    viewed = fill(repository, articles, listed)
    lists, store = repository.lists, repository.store
    front = [article.id for article in lists.get_page(Order.SCORE).articles]
    print(f"\n{articles:,} articles, {listed:,} on the hot list, shards: {store.shards.count}")
    print("| operation | store, ms | best | answer, ms | best |\n| --- | ---: | ---: | ---: | ---: |")
    measured(repository, "rescore the hot list", lambda _: repository.hot.rescore(), 100)
    measured(
        repository, "record a view", lambda n: repository.pageviews.record(viewed[n % listed], visit(n + 1)), 1000
    )
    measured(repository, "a repeat", lambda _: repository.pageviews.record(viewed[0], visit(1)), 1000)
    measured(repository, "page of the hot list", lambda _: lists.get_page(Order.HOT, reader=1), 300)
    week = store.now() - 30 * 86400
    measured(repository, "of a time span", lambda _: lists.get_page(Order.HOT, since=week), 300)
    measured(repository, "page of a group's hot list", lambda _: lists.get_page(Order.HOT, slug="group-1"), 300)
    measured(repository, "front page", lambda _: lists.get_page(Order.SCORE, reader=1), 300)
    measured(repository, "its articles", lambda _: repository.articles.get_many(front, 1), 300)
    measured(repository, "its articles without counters", lambda _: without_counters(store, front, 1), 300)
    apply(repository)


def apply(repository: Repository) -> None:
    """Change the weight of a vote, and print the time of each step and of the whole change."""
    client, steps = repository.store.client, []
    parameters = Parameters(votes_per_day=50)
    client.config_resetstat()
    began = time.perf_counter()
    repository.parameters.apply(
        parameters, expected=repository.parameters.get_state().version, actor=OPERATOR, reason="bench"
    )
    with tqdm(desc="apply", leave=False) as bar:
        done = False
        while not done:
            step = time.perf_counter()
            done = repository.parameters.advance()
            steps.append(time.perf_counter() - step)
            bar.update(repository.store.shards.count * ARTICLES_PER_STEP)
    whole = time.perf_counter() - began
    stats = client.info("commandstats")
    step, end = stats["cmdstat_evalsha"]["usec_per_call"] / 1000, stats["cmdstat_eval"]["usec"] / 1000
    print(f"| one staging step of {ARTICLES_PER_STEP:,} articles in a shard (mean) | {step:.3f} | | | |")
    print(f"| a step in each shard | | | {1000 * median(steps):.1f} | {1000 * min(steps):.1f} |")
    print(f"| the end, one transaction | {end:.3f} | | | |")
    print(f"| another weight for all | | | {1000 * whole:.0f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--listed", type=int, default=1000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    for shards in options.shards:
        with passing_store(shards) as repository:
            measure(repository, options.articles, options.listed)


if __name__ == "__main__":
    main()

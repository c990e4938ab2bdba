#!/usr/bin/env python3
"""Time of searches, and of building the index, on generated articles.

    python -m bench.search [--articles N …] [--rounds N]

Uses a temporary store, the embedded server with its real settings, and a temporary index. The frequencies of words
are like those of English texts. All times are of the processors, which other work on the machine affects least:
"engine" is the index alone, "page" the thread that finds a page and reads its articles, "store" the server.
"""

import argparse
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import redis
from tqdm import tqdm

from articles.domain.articles import ImportedArticle
from articles.domain.lists import SearchOrder
from articles.repository import Repository
from articles.repository.finding import ARTICLES, Finder, Follower, IndexFolder
from articles.repository.finding.finder import _find
from articles.text.searching import read_query
from bench.lib.stores import empty_store

QUERIES = {
    "a rare word": ("librivox", "haskell monad", "voronoi", "redis", "lobste.rs"),
    "a frequent word": ("github", "google", "new", "code", "reddit.com"),
    "several frequent words": ("new google code", "how to program", "open source web", "python code"),
    "frequent alone, rare together": (
        "imgur github",
        "youtube github",
        "program imgur",
        "reddit code google blog",
    ),
    "stop words only": ("the", "to be or not to be", "what is this for", "the who"),
    "a beginning of one letter": ("a", "s", "x", "new a", "google z"),
    "a beginning of two letters": ("re", "zy", "py", "imgur qu", "github zo"),
    "a beginning of three letters": ("pro", "con", "pyt", "the con", "imgur xen"),
    "a host": ("github.com", "example.org", "https://www.youtube.com/watch?v=1", "blogspot.co"),
    "Chinese": ("数据", "数据库", "中国", "的", "中"),
    "nothing like it": ("qwertzuiop", "google qwertzuiop", "zzzzzzz yyyyyyy xxxxxx"),
    "200 characters": ("the new google code project is a program to use on " * 4, "x" * 200, "a " * 100),
    "operators": (
        '"new google"',
        "new AND google",
        "-google code",
        "author:poster1 new",
        "new OR code",
        "host:github.com c++",
        "points:>100 new",
    ),
}


def generated(count: int) -> Iterator[ImportedArticle]:
    rng, known = random.Random(1), ("google", "code", "new", "the", "to", "github", "program", "imgur", "reddit")
    words = [*known, *("".join(rng.choices("aeioubcdfglmnprstvz", k=rng.randint(2, 10))) for _ in range(150_000))]
    weights = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(words))))
    for n in range(count):
        title = " ".join(rng.choices(words, cum_weights=weights, k=9))
        link = f"https://{rng.choices(words, cum_weights=weights)[0]}.example/{n}"
        poster, votes = f"poster{rng.randrange(20_000)}", int(rng.paretovariate(1.1))
        yield ImportedArticle(title, link, 0, poster, 1.6e9 + 60 * n, votes, 0, (f"group-{n % 50}",))


def fill(repository: Repository, source: Iterator[ImportedArticle], count: int) -> tuple[int, float]:
    began, imported = time.perf_counter(), 0
    with tqdm(total=count, desc="articles", leave=False) as bar:
        while batch := list(itertools.islice(source, 1000)):
            imported += sum(1 for new in repository.imports.add(batch) if new)
            bar.update(len(batch))
    return imported, time.perf_counter() - began


def server_seconds(client: redis.Redis) -> float:
    """Return the server's processor time since its start."""
    facts = client.info("cpu")
    return float(facts["used_cpu_user"] + facts["used_cpu_sys"])


class Measured:
    """Times of a kind of query, in milliseconds."""

    def __init__(self) -> None:
        self.engine, self.page = list[float](), list[float]()
        self.store = 0.0

    def row(self, name: str) -> str:
        cuts = quantiles(self.page, n=100)
        count = len(self.page)
        figures = (median(self.engine), median(self.page), cuts[98], max(self.page), 1000 * self.store / count)
        return f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"


def measure(
    repository: Repository, finder: Finder, texts: Sequence[str], orders: Sequence[SearchOrder]
) -> Measured:
    found, client = Measured(), repository.store.client
    found.store = -server_seconds(client)
    titles = repository.changes.read_titles(None)
    for text in texts:
        for order in orders:
            searcher, _ = finder._searcher()
            began = time.thread_time()
            _find(searcher, ARTICLES, read_query(text).with_groups(titles), order, 26, None, ())
            found.engine.append(1000 * (time.thread_time() - began))
            began = time.thread_time()
            finder.get_page(repository, read_query(text), order)
            found.page.append(1000 * (time.thread_time() - began))
    found.store += server_seconds(client)
    return found


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run(count: int, rounds: int) -> None:
    with TemporaryDirectory() as data, TemporaryDirectory() as folder, empty_store(Path(data)) as repository:
        used = time.process_time()
        imported, seconds = fill(repository, generated(count), count)
        stored = server_seconds(repository.store.client)
        costs = f"site {time.process_time() - used:.1f} s, store {stored:.1f} s of CPU"
        print(f"\n{imported:,} articles imported, {imported / seconds:,.0f} a second; {costs}")
        memory = repository.store.client.info("memory")["used_memory"]
        print(f"Store: {memory / imported:.0f} bytes an article")
        index = IndexFolder(Path(folder))
        follower, used, began = Follower(lambda: repository, index), time.process_time(), time.perf_counter()
        stored = server_seconds(repository.store.client)
        follower.catch_up()
        follower.close()
        stored = server_seconds(repository.store.client) - stored
        print(
            f"Index: built in {time.perf_counter() - began:.1f} s, {time.process_time() - used:.1f} s of CPU and "
            f"{stored:.1f} s of the store's, {size_of(Path(folder)) / imported:.0f} bytes an article\n"
        )
        finder = Finder(index)
        print("| query | engine p50, ms | page p50 | page p99 | longest | store |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for kind, texts in QUERIES.items():
            print(measure(repository, finder, texts * rounds, tuple(SearchOrder)).row(kind), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, nargs="+", default=[300_000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for count in options.articles:
        run(count, options.rounds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Time of searches, memory of the index, and what it adds to posting.

    python -m bench.search [FILE] [--articles N] [--shards N …] [--rounds N]

Uses a temporary store, the embedded server with its real settings. FILE is in the format of `manage.py
import_articles`; by default, N generated articles (300,000) with word frequencies like those of English texts.
"p50", "p99" and "longest" are what the page waits for: the ids, and the articles with their counts. "store" and
"site" are the processor time of the two, which other work on the machine hardly affects.
"""

import argparse
import gzip
import html
import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from unittest.mock import patch

import redis
from tqdm import tqdm

from articles.domain.articles import ImportedArticle
from articles.domain.errors import PageNotFound
from articles.domain.lists import Order
from articles.repository import Repository, articles
from articles.searching import read_query
from articles.text.lines import InvalidInput, clean_title
from articles.text.links import clean_link
from bench.lib.stores import passing_store

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
    "operators": ('"new google"', "new AND google", "-google +code", "title:google", "new* OR (code)", "%_[a]^$"),
}


def rows(file: Path | None, count: int) -> Iterator[ImportedArticle]:
    if file is None:
        yield from generated(count)
        return
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, count):
            row = json.loads(line)
            try:
                title = clean_title(html.unescape(row["title"]))
                link = clean_link(html.unescape(row["link"]))
            except InvalidInput:
                continue
            poster, votes = row.get("poster") or "", max(0, int(row["votes"]))
            groups = tuple(row.get("groups") or ())[:1] if len(row.get("groups") or ()) < 5 else ()
            yield ImportedArticle(title, link, 0, poster, float(row["time"]), votes, 0, groups)


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


class Costs:
    """Processor time of the store and of this process, in milliseconds per call."""

    def __init__(self, client: redis.Redis) -> None:
        self.client, self.calls = client, 0
        self.server, self.site = server_seconds(client), time.process_time()

    def per_call(self) -> tuple[float, float]:
        server, site = server_seconds(self.client) - self.server, time.process_time() - self.site
        return 1000 * server / max(1, self.calls), 1000 * site / max(1, self.calls)


def measure_queries(repository: Repository, rounds: int) -> None:
    print("| query | p50, ms | p99 | longest | store | site | most expensive query, store | incomplete |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for kind, texts in QUERIES.items():
        took: list[float] = []
        total, highest, incomplete = Costs(repository.store.client), 0.0, set()
        for text, order, number in itertools.product(texts, (Order.SCORE, Order.TIME), (1, 2)):
            costs = Costs(repository.store.client)
            for _ in range(rounds):
                began = time.perf_counter()
                try:
                    page = repository.search.get_page(read_query(text), order, number)
                except PageNotFound:
                    break
                took.append(1000 * (time.perf_counter() - began))
                costs.calls += 1
                if not page.complete:
                    incomplete.add(text)
            total.calls += costs.calls
            highest = max(highest, costs.per_call()[0] if costs.calls else 0.0)
        figures = [median(took), quantiles(took, n=100)[98], max(took), *total.per_call(), highest]
        cells = " | ".join(f"{figure:.1f}" for figure in figures)
        print(f"| {kind} | {cells} | {', '.join(f'`{text}`' for text in sorted(incomplete))} |", flush=True)


def measure_posts(repository: Repository, count: int = 2000) -> None:
    title, poster = "An article about the number {}, of quite an ordinary length", "bench"

    def post(offset: int) -> str:
        taken, costs = [], Costs(repository.store.client)
        for n in range(offset, offset + count):
            began = time.perf_counter()
            repository.articles.post(1, poster, title.format(n), f"https://posted.example/{n}")
            taken.append(1000 * (time.perf_counter() - began))
        costs.calls = count
        server, site = costs.per_call()
        return f"{median(taken):.3f} ms (store {server:.3f}, site {site:.3f})"

    with_words = post(0)
    with patch.object(articles, "words_of", lambda *_: ""):
        without = post(count)
    print(f"\nA post takes {with_words}, without words {without}.")


@dataclass(frozen=True, slots=True)
class IndexMemory:
    """Bytes of a store, and those of its words: as keys, and as a field of each article."""

    store: int
    words: int
    fields: int
    count: int
    """Number of words."""

    @property
    def index(self) -> int:
        return self.words + self.fields


def _data_memory(client: redis.Redis) -> int:
    """Return the memory of a store without the buffers of its clients and its file, which pass."""
    facts = client.info("memory")
    return int(facts["used_memory"] - facts["mem_clients_normal"] - facts["mem_aof_buffer"])


def drop_index(repository: Repository) -> IndexMemory:
    """Delete the index, and return how much memory that frees. Searches find nothing afterwards."""
    client, shards = repository.store.client, repository.store.shards.all
    before = _data_memory(client)
    words = [(keys, str(word)) for keys in shards for word in client.zrange(keys.lexicon, 0, -1)]
    for at in tqdm(range(0, len(words), 5000), desc="words", leave=False):
        client.unlink(*(keys.word(word) for keys, word in words[at : at + 5000]))
    client.unlink(*(keys.lexicon for keys in shards))
    time.sleep(1)  # keys are freed in the background
    lists = _data_memory(client)
    last = int(client.get("article:") or 0)
    for at in tqdm(range(1, last + 1, 5000), desc="fields", leave=False):
        with client.pipeline(transaction=False) as pipe:
            for number in range(at, min(at + 5000, last + 1)):
                pipe.hdel(repository.store.shards.of(number).article(number), "words")
            pipe.execute()
    time.sleep(1)
    return IndexMemory(before, before - lists, lists - _data_memory(client), len(words))


def measure_memory(repository: Repository, imported: int) -> None:
    """Delete the index, and print how much memory that frees."""
    of = drop_index(repository)
    print(
        f"\nMemory: {of.store / 1e6:,.0f} MB, of which the index uses {of.index / 1e6:,.0f} MB: "
        f"{of.words / 1e6:,.0f} MB for {of.count:,} words, {of.fields / 1e6:,.0f} MB in the "
        f"articles; {of.index / max(1, imported):,.0f} bytes per article."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--articles", type=int, default=300_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--intset", type=int, help="set-max-intset-entries of the server")
    options = parser.parse_args()
    for shards in options.shards:
        config = {"set-max-intset-entries": str(options.intset)} if options.intset else {}
        with passing_store(shards, config) as repository:
            imported, seconds = fill(repository, rows(options.file, options.articles), options.articles)
            print(f"\n{imported:,} articles, shards: {shards}; imported in {seconds:.0f} s")
            measure_queries(repository, options.rounds)
            measure_posts(repository)
            measure_memory(repository, imported)


if __name__ == "__main__":
    main()

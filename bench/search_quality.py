#!/usr/bin/env python3
"""Quality of search results on real titles, compared with SQLite's full-text search.

    python -m bench.search_quality FILE

FILE is in the format of `manage.py import_articles`. Prints, for prefixes of many words, how many of the first 20
articles have them as a whole word; and for queries of whole words, how many of the articles found by FTS5 with its
porter stemmer are found by the site too. FTS5 indexes the same titles, hosts and posters.
"""

import argparse
import re
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.lists import Order
from articles.repository import Repository
from articles.searching import read_query
from bench.lib.stores import passing_store
from bench.search import fill, rows

MOST = 1_000_000  # articles

PREFIXES = ("go", "c", "r", "us", "java", "ai", "ios", "rust", "net")

QUERIES = (
    "compiler optimization",
    "garbage collection",
    "haskell monads",
    "linux kernel security",
    "postgresql replication",
    "writing an operating system",
    "functional programming",
    "distributed databases",
    "password hashing",
    "rust async",
    "static typing",
    "regular expressions",
    "version control",
    "memory allocation",
    "web browser engine",
    "neural networks",
    "text editors",
    "open source licenses",
    "lisp macros",
    "unit testing",
    "cache invalidation",
    "network protocols",
    "game development",
    "floating point numbers",
    "code review",
    "virtual machines",
    "sorting algorithms",
    "type inference",
    "shell scripting",
    "cryptography attack",
    "docker containers",
    "bitcoin mining",
    "javascript framework",
    "python packaging",
    "debugging tools",
    "parser combinators",
    "data structures",
    "cpu vulnerabilities",
    "apple macbook",
    "the history of unix",
)


def find(repository: Repository, text: str, most: int = 1000) -> list[int]:
    """Return the ids of the articles found, best first; about `most` of them."""
    ids: list[int] = []
    for number in range(1, most // 25 + 1):
        try:
            page = repository.search.get_page(read_query(text), Order.SCORE, number)
        except (PageNotFound, PageTooDeep):
            break
        ids += [article.id for article in page.articles]
        if not page.has_next:
            break
    return ids


def is_whole(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text, re.IGNORECASE))


def measure(repository: Repository) -> None:
    articles = {article.id: article for article in repository.imports.iterate()}
    table = sqlite3.connect(":memory:")
    table.execute("create virtual table articles using fts5(text, tokenize='porter unicode61')")
    rows = ((i, f"{a.title} {urlsplit(a.link).hostname or ''} {a.poster_name}") for i, a in articles.items())
    table.executemany("insert into articles (rowid, text) values (?, ?)", rows)
    print("| word | whole words among the first 20 |\n| --- | ---: |")
    for word in PREFIXES:
        first = [articles[i] for i in find(repository, word, 25)[:20]]
        texts = [f"{a.title} {urlsplit(a.link).hostname} {a.poster_name} {' '.join(a.groups)}" for a in first]
        print(f"| {word} | {sum(is_whole(word, text) for text in texts)} of {len(texts)} |", flush=True)
    both, theirs, missing = 0, 0, []
    for text in QUERIES:
        query = " ".join(f'"{word}"' for word in text.split() if word not in ("an", "the", "of"))
        expected = {row[0] for row in table.execute("select rowid from articles where articles match ?", (query,))}
        found = set(find(repository, f"{text} "))
        if len(found) >= 1000:
            continue  # the pages do not reach all of them
        both, theirs = both + len(found & expected), theirs + len(expected)
        missing += [(text, articles[i].title) for i in sorted(expected - found)[:2]]
    print(f"\nOf {theirs:,} articles found by FTS5, the site finds {both:,}: {both / theirs:.1%}")
    for text, title in missing[:20]:
        print(f"- not for {text!r}: {title}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    with passing_store() as repository:
        fill(repository, rows(options.file, MOST), MOST)
        measure(repository)


if __name__ == "__main__":
    main()

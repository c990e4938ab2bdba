#!/usr/bin/env python3
"""Whether the search finds what it should, best first: against real titles, and against SQLite's own search.

    python -m bench.search_quality FILE

FILE is what `manage.py import_articles` reads. Prints, for words that begin many others, how many of the first 20
articles have them as a whole word; and for queries of whole words how many of the articles that FTS5 finds with
its porter stemmer are found here too. FTS5 is given the same titles, hosts and posters.
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

BEGINNINGS = ("go", "c", "r", "us", "java", "ai", "ios", "rust", "net")

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


def found_here(repository: Repository, text: str, most: int = 1000) -> list[int]:
    """Ids of what is found, best first: all pages, at most so many."""
    found: list[int] = []
    for number in range(1, most // 25 + 1):
        try:
            page = repository.search.get_page(read_query(text), Order.SCORE, number)
        except (PageNotFound, PageTooDeep):
            break
        found += [article.id for article in page.articles]
        if not page.has_next:
            break
    return found


def is_whole(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text, re.IGNORECASE))


def measure(repository: Repository) -> None:
    articles = {article.id: article for article in repository.imports.iterate()}
    table = sqlite3.connect(":memory:")
    table.execute("create virtual table articles using fts5(text, tokenize='porter unicode61')")
    rows = ((i, f"{a.title} {urlsplit(a.link).hostname or ''} {a.poster_name}") for i, a in articles.items())
    table.executemany("insert into articles (rowid, text) values (?, ?)", rows)
    print("| word | whole words among the first 20 |\n| --- | ---: |")
    for word in BEGINNINGS:
        first = [articles[i] for i in found_here(repository, word, 25)[:20]]
        texts = [f"{a.title} {urlsplit(a.link).hostname} {a.poster_name} {' '.join(a.groups)}" for a in first]
        print(f"| {word} | {sum(is_whole(word, text) for text in texts)} of {len(texts)} |", flush=True)
    both, theirs, missing = 0, 0, []
    for text in QUERIES:
        asked = " ".join(f'"{word}"' for word in text.split() if word not in ("an", "the", "of"))
        wanted = {row[0] for row in table.execute("select rowid from articles where articles match ?", (asked,))}
        found = set(found_here(repository, f"{text} "))
        if len(found) >= 1000:
            continue  # not all can be paged through
        both, theirs = both + len(found & wanted), theirs + len(wanted)
        missing += [(text, articles[i].title) for i in sorted(wanted - found)[:2]]
    print(f"\nOf {theirs:,} articles that FTS5 finds, {both:,} are found: {both / theirs:.1%}")
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

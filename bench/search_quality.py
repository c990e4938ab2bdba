#!/usr/bin/env python3
"""Quality of the search on real titles, compared with SQLite's FTS5; and the time of both.

    python -m bench.search_quality FILE

FILE is in the format of `manage.py import_articles`. Sixty queries are typed as a reader would who remembers an
article; which one is right was named before any result was seen. Prints nDCG at 10 (1 if each right article comes
first): by relevance, in the order of the front page, and by FTS5's bm25 with its porter stemmer, which indexes the
same titles, hosts and posters. And the queries whose right article is not among the first three.
"""

import argparse
import re
import sqlite3
import time
from collections.abc import Callable
from math import log2
from pathlib import Path

from tqdm import tqdm

from articles.domain.articles import Article
from articles.domain.lists import SearchOrder
from articles.finding.finder import _find
from articles.finding.index import ARTICLES, MemoryIndex, State, document_of_article, key_of
from articles.searching import hosts_of, read_query
from bench.search import QUERIES, rows

WEIGHT = 432.0  # seconds, of 200 votes a day

JUDGED = {
    "starbucks api leak github": "Starbucks API Leaks in GitHub Public Repo",
    "reddit comment sorting fails": "A decade later, Reddit’s comment sorting still fails",
    "elfshaker": "Elfshaker: 400 GiB to 100 MiB",
    "zend optimizer open source": "Zend has open sourced Zend Optimizer+",
    "destroy all software free": "Destroy All Software offers free subscription",
    "fish river canyon": "Fish River Canyon, Namibia",
    "cleveland bridge bombing": "I've got good news and bad news about the Cleveland Bridge",
    "raindrop death valley": "First Raindrops in Death Valley",
    "rename the higgs boson": "Call to rename Higgs boson",
    "first five minutes on a server security": "My First 5 Minutes On A Server",
    "excel team mug": "Team member mug from the first ever Microsoft Excel",
    "protect domains not sending email": "Protect domains that don’t send email",
    "meditation 6 months": "Thoughts on meditation, 6 months in",
    "ubuntu 13.04 beta": "Ubuntu 13.04 Beta 2 Released",
    "google now undo swipe": "Google Now: There needs to be an undo button",
    "falling soldier capa": '"Falling Soldier" by Robert Capa',
    "codecademy udacity": "CodeCademy vs Udacity",
    "geforce gtx 480": "NVIDIA’s GeForce GTX 480 and GTX 470",
    "surgeon general koop died": "Former Surgeon General C. Everett Koop dies",
    "sony breached 20th time": "Sony just got breached for the 20th time",
    "kernel terminology blacklist linus": "Linus Torvalds approves new kernel terminology ban",
    "breaking free from skype": "How to break free from Skype",
    "usb sniffer kickstarter": "OpenSource USB Sniffer gets funding",
    "krasinski photograph": "John Krasinski photographed by",
    "sunset in iowa": "Iowa at sunset",
    "hide messages in png php": "A PHP program to compress, encrypt, and hide messages",
    "ddr4 memory": "DDR4 memory is coming soon",
    "roger ebert ted": "Roger Ebert gives 'Ted' 3.5/4 stars",
    "microsoft employees use google": "80% of Microsoft employees used Google",
    "phpstorm hacks": "I just got PHPStorm. I love it.",
    "godaddy ddos database": "Pretty sure GoDaddy is trying to cover up an ongoing DDOS",
    "senator hirono": "Senator Mazie Hirono brings quadruple diversity",
    "sqlite jsonb": "SQLite Forum: JSONB has landed",
    "griffey tribute mariners": "Mariners Players Pay Tribute To Ken Griffey",
    "samsung flexible amoled": "Samsung Flexible AMOLED Display at CES 2011",
    "vine android": "Vine for Android Will Be Available Today",
    "suburban express": "Shut up! Otherwise I will Suburban Express you",
    "what players hear kurkjian": "Cool article by Tim Kurkjian",
    "vlc takedown hbo": "HBO Asks Google to Take Down",
    "surprising unix programs": "The most surprising Unix programs",
    "wii u clock speed": "Wii U clock speeds revealed",
    "reverse engineering google docs": "I reverse engineered Google docs",
    "rust e-paper badge": "My Rust Powered linux.conf.au E-Paper Badge",
    "windows terminal slow": "Why Windows Terminal is slow",
    "pattern matching rust": "Recent and future pattern matching improvements in Rust",
    "coinbase micro transactions": "You Can Now Send Micro-Transactions With Zero Fees",
    "untold story sqlite": "The Untold Story of SQLite",
    "flexbox game website": "A minimalistic website to learn CSS flexbox",
    "xkcd hostname": "[xkcd] Choosing a hostname",
    "html5 dungeon crawler": "Show Reddit: Our little html5/js dungeon crawler",
    "dynamic libraries linux": "Sorry state of dynamic libraries on Linux",
    "javascript backdoor": "The Invisible JavaScript Backdoor",
    "architecture glasgow haskell compiler": "The Architecture of Open Source Applications: The Glasgow",
    "unified theory of garbage collection": "A Uniﬁed Theory of Garbage Collection",
    "nmap 5.00": "Nmap 5.00 released",
    "writing good bash": "Anybody can write good bash",
    "jonathan blow mainstream": "Jonathan Blow: How Mainstream Devs",
    "genes renamed excel dates": "Scientists rename genes because Microsoft Excel",
    "root 4g hotspot": "Getting root on a 4G LTE mobile hotspot",
    "ascii raytracer": "ASCII Raytracing in Javascript",
}


FIRST = (SearchOrder.RELEVANCE, 26, None, ())
SELECT = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY"


def gain(found: list[int], right: set[int]) -> float:
    """Return the gain of a result at 10, relative to the right article in the first place."""
    return max((1 / log2(2 + place) for place, one in enumerate(found[:10]) if one in right), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    index, titles = MemoryIndex(), dict[int, str]()
    writer = index.writer()
    writer.is_filling = True
    fts = sqlite3.connect(":memory:")
    fts.execute("CREATE VIRTUAL TABLE found USING fts5(title, host, poster, tokenize='porter unicode61')")
    for number, row in enumerate(tqdm(rows(file, 1_000_000), leave=False), 1):
        article = Article(
            row.title, row.link, number, 1, row.poster_name, row.posted_at, row.votes, 0, 0.0, 0.0, row.groups
        )
        titles[number] = row.title
        writer.enter([(key_of(number, ARTICLES), document_of_article(article, WEIGHT))])
        host = next(iter(hosts_of(row.link)), "")
        fts.execute(
            "INSERT INTO found(rowid, title, host, poster) VALUES (?, ?, ?, ?)", (number, row.title, host, "")
        )
    writer.commit(State("bench", WEIGHT, None))
    index.publish()
    searcher, gains = index.searcher(), dict[str, list[float]]()
    for query, title in JUDGED.items():
        right = {number for number, known in titles.items() if known.startswith(title)}
        assert right, title
        for order in (SearchOrder.RELEVANCE, SearchOrder.SCORE):
            found = _find(searcher, ARTICLES, read_query(f"{query} "), order, 10, None, ()).ids
            gains.setdefault(f"the site, {order}", []).append(gain(found, right))
            if order is SearchOrder.RELEVANCE and gains[f"the site, {order}"][-1] < 0.5:
                print(f"  {query}: {[titles[one] for one in found[:3]]}")
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        ids = fts.execute("SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT 10", (words,))
        gains.setdefault("FTS5, bm25", []).append(gain([one for (one,) in ids], right))
    for name, found_gains in gains.items():
        print(f"{name}: nDCG@10 {sum(found_gains) / len(found_gains):.3f} of {len(found_gains)} queries")
    for kind in ("a rare word", "a frequent word", "several frequent words", "stop words only"):
        for query in QUERIES[kind]:
            words = " ".join(f'"{word}"' for word in query.split())
            took = [
                _milliseconds(lambda query=query: _find(searcher, ARTICLES, read_query(f"{query} "), *FIRST)),
                _milliseconds(lambda words=words: fts.execute(f"{SELECT} rank LIMIT 26", (words,)).fetchall()),
                _milliseconds(
                    lambda words=words: fts.execute(f"{SELECT} rowid DESC LIMIT 26", (words,)).fetchall()
                ),
            ]
            print(f"{query}: the site {took[0]:.2f} ms, FTS5 {took[1]:.2f} ms, newest first {took[2]:.2f} ms")


def _milliseconds(search: Callable[[], object]) -> float:
    search()
    began = time.thread_time()
    for _ in range(5):
        search()
    return 200 * (time.thread_time() - began)


if __name__ == "__main__":
    main()

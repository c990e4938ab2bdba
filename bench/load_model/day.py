"""The shape of a day, and how unevenly articles are read.

Both are read from public data where it is on this machine (`--data`), and have the figures of that data otherwise:

- Posts by hour (UTC) of 2,000 consecutive articles of one link site, October to December 2023, from
  gustafe/hackernews-lobsters-pairs (Unlicense): `articles_2000.jsonl`. The busiest hour has 1.6 times the mean.
- Views by path of a web server's log of 2015, from elastic/examples (Apache-2.0): `views_apache_2015.tsv.gz`.
  Its hours say nothing about a day, since the log is an even sample: each hour has the same number of lines.
"""

import csv
import gzip
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_POSTS = (
    *(62, 45, 54, 50, 59, 50, 47, 55, 64, 63, 57, 93),
    *(85, 114, 115, 125, 120, 135, 128, 113, 114, 100, 83, 69),
)
_EXPONENT = 0.94

_MOST_VIEWED = 200
"""Paths that the exponent is fitted to: those behind them were viewed four times and less."""

_NO_PAGES = (".css", ".png", ".jpg", ".gif", ".ico", ".js", ".txt", ".xml", ".svg", ".zip", ".pdf")


@dataclass(frozen=True, slots=True)
class Day:
    """`hours`: the share of the requests in each hour (UTC). `exponent`: of Zipf's law of articles by views."""

    hours: tuple[float, ...]
    exponent: float
    source: str

    @property
    def peak(self) -> float:
        """The busiest hour's rate, in means of the day."""
        return max(self.hours) * len(self.hours)


def read_day(folder: Path | None) -> Day:
    """Return the day of the data in the folder, or that of the figures above."""
    posts, views = (folder or Path()) / "articles_2000.jsonl", (folder or Path()) / "views_apache_2015.tsv.gz"
    if folder is None or not (posts.is_file() and views.is_file()):
        return Day(shares(_POSTS), _EXPONENT, "figures of the public data")
    return Day(shares(posts_by_hour(posts)), fit_exponent(views_by_page(views)), f"data in {folder}")


def posts_by_hour(file: Path) -> list[int]:
    """Return the number of articles posted in each hour of the day."""
    counts = Counter[int]()
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            counts[datetime.fromtimestamp(json.loads(line)["time"], UTC).hour] += 1
    return [counts[hour] for hour in range(24)]


def views_by_page(file: Path) -> list[int]:
    """Return the views of each page except the front page, most viewed first; files and feeds are left out."""
    counts = Counter[str]()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            path = row["path"].partition("?")[0]
            if row["method"] == "GET" and path != "/" and not path.lower().endswith(_NO_PAGES):
                counts[path] += 1
    return sorted(counts.values(), reverse=True)


def shares(counts: Sequence[float]) -> tuple[float, ...]:
    return tuple(count / sum(counts) for count in counts)


def fit_exponent(counts: Sequence[int]) -> float:
    """Return s of count = c / rank^s by least squares over the logarithms of the largest counts."""
    largest = counts[:_MOST_VIEWED]
    points = [(math.log(rank), math.log(count)) for rank, count in enumerate(largest, 1)]
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
    return -slope


def zipf(articles: int, exponent: float) -> list[float]:
    """Return the share of the reads that each article has, the most read first."""
    return list(shares([rank**-exponent for rank in range(1, articles + 1)]))

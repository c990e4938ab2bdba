#!/usr/bin/env python3
"""Simulate the front page of a real site with different weights of a vote; draws docs/front-page.svg.

    python -m bench.front_page FILE [--draw]

FILE: articles of one site, in the format of `manage.py import_articles`. For every six hours from a month after
the first article, computes the front page for each way of choosing votes per day: always 200, or a percentile of
the points of recent articles, chosen daily as the site does (articles/domain/ranking.py).

Public data do not say when each vote was cast. The simulation assumes that most votes come early, as in the demo:
an article has 63 % of its points after MATURING hours.
"""

import argparse
import gzip
import json
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path

from articles.domain.ranking import (
    DAY,
    FEWEST_ARTICLES,
    HIGHEST,
    LOWEST,
    RECENT,
    SETTLED,
    Parameters,
    nearest_rank,
    score,
)

TARGET = Path(__file__).parents[1] / "docs" / "front-page.svg"

PAGE = 25
EVERY = 6 * 3600.0
MATURING = 6 * 3600.0
OLDEST = 14 * DAY  # older articles are ignored: no weight in the table keeps them on the page

POLICIES = {"200": None, "90th percentile": 90, "75th percentile": 75, "median": 50}
LIKED = (50, 75, 90, 95, 99)


@dataclass
class Site:
    """Articles by posting time, with their final points."""

    times: list[float]
    points: list[int]

    def points_at(self, n: int, now: float) -> float:
        return 1 + (self.points[n] - 1) * (1 - exp(-(now - self.times[n]) / MATURING))


@dataclass
class Outcome:
    """Result of a policy: weight and page at each moment, and each article's hours on the page."""

    weights: list[int] = field(default_factory=list)
    newest: list[float] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)
    points: list[float] = field(default_factory=list)
    hours: dict[int, float] = field(default_factory=dict)


def read_site(path: str) -> Site:
    content = Path(path).read_bytes()
    lines = (gzip.decompress(content) if path.endswith(".gz") else content).splitlines()
    rows = sorted((float(row["time"]), int(row["votes"])) for row in map(json.loads, lines))
    return Site([time for time, _ in rows], [votes for _, votes in rows])


def weight_at(site: Site, now: float, percent: int | None) -> int:
    first, last = bisect_left(site.times, now - RECENT), bisect_right(site.times, now - SETTLED)
    if percent is None or last - first < FEWEST_ARTICLES:
        return Parameters().votes_per_day
    points = [round(site.points_at(n, now)) for n in range(first, last)]
    return min(max(nearest_rank(points, percent), LOWEST), HIGHEST)


def moments(site: Site) -> Iterator[float]:
    now = site.times[0] + RECENT
    while now <= site.times[-1]:
        yield now
        now += EVERY


def simulate(site: Site, choose: Callable[[float], int]) -> Outcome:
    """Compute the page at every moment. `choose` returns the votes per day at a moment."""
    outcome, weight, chosen_at = Outcome(), 0, float("-inf")
    for now in moments(site):
        if now - chosen_at >= DAY:
            weight, chosen_at = choose(now), now
        known = bisect_right(site.times, now)
        first = bisect_left(site.times, now - OLDEST)
        per_point = Parameters(weight).seconds_per_point
        scored = [
            (score(site.times[n], round(site.points_at(n, now)), seconds_per_point=per_point), n)
            for n in range(first, known)
        ]
        page = [n for _, n in sorted(scored, reverse=True)[:PAGE]]
        if not page:
            continue
        outcome.weights.append(weight)
        outcome.newest.append(sum(n >= known - PAGE for n in page) / len(page))
        outcome.ages.append(statistics.mean(now - site.times[n] for n in page) / 3600)
        outcome.points.append(statistics.median(site.points_at(n, now) for n in page))
        for n in page:
            outcome.hours[n] = outcome.hours.get(n, 0) + EVERY / 3600
    return outcome


def hours_on_page(site: Site, outcome: Outcome) -> list[float]:
    """Return the median hours on the page of articles around each percentile of points in LIKED."""
    whole = [n for n, time in enumerate(site.times) if site.times[0] + RECENT <= time <= site.times[-1] - OLDEST]
    ordered, hours = sorted(whole, key=lambda n: site.points[n]), []
    for percent in LIKED:
        middle, around = len(ordered) * percent // 100, max(5, len(ordered) // 100)
        similar = ordered[max(0, middle - around) : middle + around]
        hours.append(statistics.median(outcome.hours.get(n, 0.0) for n in similar))
    return hours


def table(site: Site, outcomes: dict[str, Outcome]) -> Iterator[str]:
    days = (site.times[-1] - site.times[0]) / DAY
    yield f"{len(site.times):,} articles, {len(site.times) / days:.0f} a day"
    head = "".join(f" {percent}th |" for percent in LIKED)
    yield f"| votes per day | their number | newest 25 on the page | mean age | median points |{head}"
    yield "| --- |" + " ---: |" * (4 + len(LIKED))
    for name, outcome in outcomes.items():
        hours = "".join(f" {hours:.0f} |" for hours in hours_on_page(site, outcome))
        yield (
            f"| {name} | {statistics.median(outcome.weights):.0f} | {statistics.mean(outcome.newest):.0%} "
            f"| {statistics.mean(outcome.ages):.0f} h | {statistics.mean(outcome.points):.0f} |{hours}"
        )


WIDTH, HEIGHT, LEFT, TOP = 560, 300, 56, 20
COLOURS = ("#2c5a8c", "#20683b", "#a83216", "#6a5f78")
DASHES = ("6 3", "2 2", "", "8 3 2 3")


def drawing(curves: dict[str, Sequence[float]]) -> str:
    """Return an SVG of the hours on the page by percentile of points, with a line for each policy."""
    highest = 24 * (int(max(map(max, curves.values()))) // 24 + 1)
    step = 24 * max(1, highest // 24 // 6)

    def place(n: int, hours: float) -> str:
        return f"{LEFT + n / (len(LIKED) - 1) * WIDTH:.1f},{TOP + HEIGHT - hours / highest * HEIGHT:.1f}"

    parts = []
    for hours in range(0, highest + 1, step):
        y = TOP + HEIGHT - hours / highest * HEIGHT
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#999" stroke-opacity=".35"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 5:.1f}" text-anchor="end">{hours} h</text>')
    for n, percent in enumerate(LIKED):
        x = LEFT + n / (len(LIKED) - 1) * WIDTH
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 22}" text-anchor="middle">{percent}th</text>')
    for row, ((name, hours), colour, dash) in enumerate(zip(curves.items(), COLOURS, DASHES, strict=True)):
        pen = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        points = " ".join(place(n, value) for n, value in enumerate(hours))
        parts.append(f'<polyline points="{points}" fill="none" {pen}/>')
        x, y = LEFT + 16, TOP + 20 + 22 * row
        parts.append(f'<path d="M{x} {y}h36" {pen}/><text x="{x + 44}" y="{y + 5}">{name}</text>')
    box = f"0 0 {LEFT + WIDTH + 24} {TOP + HEIGHT + 36}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="14">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--draw", action="store_true", help=f"also write {TARGET.name}")
    options = parser.parse_args()
    site = read_site(options.file)
    outcomes = {
        name: simulate(site, lambda now, percent=percent: weight_at(site, now, percent))
        for name, percent in POLICIES.items()
    }
    print("\n".join(table(site, outcomes)))
    if options.draw:
        curves = {name: hours_on_page(site, outcome) for name, outcome in outcomes.items()}
        TARGET.write_text(drawing(curves), "utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Simulate votes of new members that wait: what rings gain, and what a site with honest newcomers loses.

Rings also buy accounts that are trusted: what their points and vouches do for the ring's fresh accounts.

    python -m bench.probation FILE

FILE: articles of one site, in the format of `manage.py import_articles`. The front page is computed as the site
does, with the weight of a vote that it would have learnt; how votes come in is assumed as in `bench.front_page`.

A ring of fresh accounts votes for one article, an hour after it was posted. Honest newcomers cast a share of each
article's votes. The ring's accounts wait until they are DAYS old, newcomers for a time between 0 and DAYS; or, if
points are needed as well, for longer than anything stays on the page, as members do who only vote.
"""

import argparse
import statistics
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import exp, inf
from random import Random

from articles.domain.ranking import DAY, PERCENT, RECENT, Parameters
from articles.domain.trust import counted
from bench.front_page import MATURING, OLDEST, PAGE, Site, moments, read_site, weight_at

DAYS = 3
RINGS = (20, 200)
BOUGHT = (1, 2, 5)
VOUCHES, POINTS, ARTICLES = 3, 5, 5
"""Defaults of the settings, and the articles of each fresh account for which the ring votes."""

SHARES = (0.05, 0.1, 0.2, 0.3, 1.0)
"""The last one is a new site, where everyone is new."""

HOUR = 3600.0
TARGETS = 60
WATCHED = 7 * 24
"""Hours for which an article is watched: then voting closes."""

TOP = 100

Points = Callable[[int, float], float]
"""The points that rank article n at a moment."""


def page_at(site: Site, now: float, points: Points, seconds_per_point: float) -> list[tuple[float, int]]:
    """Return (score, n) of the articles that can be near the top, the best first."""
    first, last = bisect_left(site.times, now - OLDEST), bisect_left(site.times, now)
    return sorted(
        ((site.times[n] + seconds_per_point * points(n, now), n) for n in range(first, last)), reverse=True
    )


_learnt: dict[float, float] = {}


def per_point(site: Site, now: float) -> float:
    """Return the weight of a point, which the site learns once a day."""
    day = now // DAY * DAY
    if day not in _learnt:
        _learnt[day] = Parameters(votes_per_day=weight_at(site, day, PERCENT)).seconds_per_point
    return _learnt[day]


# What a ring gains


WAITS = {"rank at once": 0.0, f"wait {DAYS} days": DAYS * 24.0, "wait for points, too": inf}
"""What becomes of a ring's votes: hours until they rank."""


def targets(site: Site) -> list[int]:
    """Return evenly spaced articles whose first week is in the file, and after the first month."""
    first, last = (
        bisect_left(site.times, site.times[0] + RECENT),
        bisect_left(site.times, site.times[-1] - 8 * DAY),
    )
    return list(range(first, last, max(1, (last - first) // TARGETS)))


Gains = dict[tuple[int, str], tuple[int, int]]


def gains(site: Site, n: int, rings: Iterable[tuple[int, str]]) -> Gains:
    """Return the most places that rings gain for an article at any hour, and their hours gained on the first page.

    `rings`: by their size and what becomes of their votes.
    """
    found: Gains = dict.fromkeys(rings, (0, 0))
    for hour in range(1, WATCHED):
        now = site.times[n] + hour * HOUR + 1
        seconds = per_point(site, now)
        others = [-value for value, one in page_at(site, now, site.points_at, seconds) if one != n]
        own = site.times[n] + seconds * site.points_at(n, now)
        before = bisect_left(others, -own) + 1
        for (ring, label), (places, hours) in found.items():
            if hour > WAITS[label]:
                after = bisect_left(others, -own - ring * seconds) + 1
                found[ring, label] = max(places, before - after), hours + (after <= PAGE < before)
    return found


def averages(found: Sequence[Gains], ring: tuple[int, str]) -> tuple[float, float]:
    """Return the places and the hours that a ring gains, as means over the articles."""
    return statistics.mean(one[ring][0] for one in found), statistics.mean(one[ring][1] for one in found)


def show_rings(site: Site) -> None:
    rings = [(ring, label) for ring in RINGS for label in WAITS]
    found = [gains(site, n, rings) for n in targets(site)]
    print(f"\nA ring, over {len(found)} articles: places gained at best, and hours gained on the first page\n")
    print("| accounts | their votes | places | places per account | hours on the first page |")
    print("| ---: | --- | ---: | ---: | ---: |")
    for ring, label in rings:
        places, hours = averages(found, (ring, label))
        print(f"| {ring} | {label} | {places:.1f} | {places / ring:.2f} | {hours:.1f} |")


# What bought accounts do for a ring


def votes_that_rank(bought: int, fresh: int, *, is_one_root: bool, by_number: bool) -> int:
    """Return how many votes of a ring rank after 30 days, with those of bought accounts.

    Everyone whose vote ranks votes for five articles of each fresh account, and trusted accounts vouch for as many
    as they can. `is_one_root`: one of the bought accounts invited the others; `by_number`: points count from any
    member whose votes rank, as an earlier version had it.
    """
    accounts = range(bought + fresh)
    origins = {one: {one} | ({0} if is_one_root and one < bought else set()) for one in accounts}
    trusted, vouched = {*range(bought)}, dict[int, int]()
    for _day in range(DAYS, 30):
        for by in trusted.copy():
            waiting = [one for one in accounts if one not in trusted and one not in vouched]
            for one in waiting[: VOUCHES - [*vouched.values()].count(by)]:
                vouched[one] = by
                origins[one].add(by)
        ranking = {*trusted, *vouched}
        for one in accounts[bought:]:
            points = dict.fromkeys((ranking if by_number else trusted) - {one}, ARTICLES)
            backing = {other: origins[other] for other in points}
            if (sum(points.values()) if by_number else counted(points, backing, set())) >= POINTS:
                trusted.add(one)
    return len({*trusted, *vouched})


def show_bought(site: Site) -> None:
    cases = [
        (bought, fresh, is_one_root, by_number)
        for bought in BOUGHT
        for fresh in RINGS
        for is_one_root in ((False,) if bought == 1 else (True, False))
        for by_number in (True, False)
    ]
    votes = [
        votes_that_rank(bought, fresh, is_one_root=is_one_root, by_number=by_number)
        for bought, fresh, is_one_root, by_number in cases
    ]
    at_once = next(iter(WAITS))
    rings = {(number, at_once) for number in votes}
    found = [gains(site, n, rings) for n in targets(site)]
    print("\nTrusted accounts that a ring bought, and what they do for its fresh accounts in 30 days\n")
    print("| bought | fresh | points count | votes that rank | places | hours on the first page |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for (bought, fresh, is_one_root, by_number), number in zip(cases, votes, strict=True):
        places, hours = averages(found, (number, at_once))
        origin = "" if bought == 1 else ", related" if is_one_root else ", unrelated"
        rule = "by number" if by_number else "from three"
        print(f"| {bought}{origin} | {fresh} | {rule} | {number} | {places:.1f} | {hours:.1f} |")


# What a site with newcomers loses


def arrived(age: float) -> float:
    """Return the share of an article's votes that are cast by an age in seconds."""
    return 1 - exp(-max(0.0, age) / MATURING)


def released(age: float, waits: float) -> float:
    """Return the share of newcomers' votes that rank by an age, if each waits for up to `waits` seconds."""
    if waits == inf:
        return 0.0
    begin = max(0.0, age - waits)
    return ((age - begin) - MATURING * (exp(-begin / MATURING) - exp(-age / MATURING))) / waits


def with_newcomers(site: Site, share: float, waits: float) -> Points:
    """Return the points of articles of whose votes newcomers cast a share, which waits."""
    chance = Random(1)
    theirs = [sum(chance.random() < share for _ in range(votes - 1)) for votes in site.points]

    def points(n: int, now: float) -> float:
        age = now - site.times[n]
        return 1 + (site.points[n] - 1 - theirs[n]) * arrived(age) + theirs[n] * released(age, waits)

    return points


def rank_correlation(one: Sequence[int], other: Sequence[int]) -> float:
    """Return Spearman's coefficient of the order of those that both have."""
    places = {n: place for place, n in enumerate([n for n in other if n in set(one)])}
    both = [n for n in one if n in places]
    size = len(both)
    apart = sum((place - places[n]) ** 2 for place, n in enumerate(both))
    return 1 - 6 * apart / (size * (size * size - 1))


def show_newcomers(site: Site) -> None:
    print(f"\nHonest newcomers: the first {PAGE} and the order of the first {TOP}, compared with none who wait\n")
    print(
        f"| share of votes | these | same of {PAGE} | rank correlation | articles that lose half of their hours |"
    )
    print("| ---: | --- | ---: | ---: | ---: |")
    times = list(moments(site))
    weights = [per_point(site, now) for now in times]
    before = [[n for _, n in page_at(site, now, site.points_at, w)] for now, w in zip(times, weights, strict=True)]
    for share in SHARES:
        for label, waits in ((f"wait up to {DAYS} days", DAYS * DAY), ("never rank", inf)):
            points = with_newcomers(site, share, waits)
            same, correlation = [], []
            hours, fewer = dict[int, int](), dict[int, int]()
            for now, weight, full in zip(times, weights, before, strict=True):
                less = [n for _, n in page_at(site, now, points, weight)]
                same.append(len({*full[:PAGE]} & {*less[:PAGE]}) / PAGE)
                correlation.append(rank_correlation(full[:TOP], less[:TOP]))
                for shown, page in ((hours, full), (fewer, less)):
                    for n in page[:PAGE]:
                        shown[n] = shown.get(n, 0) + 1
            losing = sum(fewer.get(n, 0) * 2 <= number for n, number in hours.items()) / len(hours)
            print(
                f"| {share:.0%} | {label} | {statistics.mean(same):.1%} | {statistics.mean(correlation):.3f} "
                f"| {losing:.1%} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    site = read_site(parser.parse_args().file)
    days = (site.times[-1] - site.times[0]) / DAY
    print(f"{len(site.times):,} articles in {days:.0f} days")
    show_rings(site)
    show_bought(site)
    show_newcomers(site)


if __name__ == "__main__":
    main()

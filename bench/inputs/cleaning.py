#!/usr/bin/env python3
"""Longest time that cleaning an input takes, by a search for the worst input.

    python -m bench.inputs.cleaning [--seconds N] [--seed N] [--only NAME …]

For each function that cleans what people type, builds inputs of the longest length from few characters, most of
which depend on their neighbours, and varies the slowest ones. Prints the CPU time in ms, the best of five runs,
and the input as Python writes it.
"""

import argparse
import random
import time
from collections.abc import Callable
from contextlib import suppress

from accounts import names
from articles.searching import MOST_CHARACTERS, read_query
from articles.text import lines, links, slugs

DELICATE = (
    "ae \n\r\t\x00\x1f\u200b\u200c\u200d\u202e\ufe0f\ufe0e\u180b\U000e0100\u0301\u0316\u0323\u0338\u034f\u2800"
    "\u1160\ue000\U000e0041\u2194\U0001f469\U0001f3fd\u2764\U0001f1e6\u0645\u06cc\u0653\u0627\u094d\u0915\u0937\u0958"
    "\u1100\u1161\u11a8\uac01\u30dd\u304b\u3099\u1f82\U0001134b\U0001d160\ufb2c\ufdfa\u0344\u3000\u2028/+#%-.@"
)
LONGEST = 4 * lines.TEXT_LIMIT
CLEANERS: dict[str, tuple[Callable[[str], object], int]] = {
    "title": (lines.clean_title, lines.UNREAD_FACTOR * lines.TITLE_LIMIT),
    "reason": (lines.clean_reason, lines.UNREAD_FACTOR * lines.REASON_LIMIT),
    "text": (lines.clean_text, LONGEST),
    "note": (lines.clean_note, lines.UNREAD_FACTOR * lines.NOTE_LIMIT),
    "link": (lambda raw: links.link_key(links.clean_link(f"https://example.org/{raw}")), links.LINK_LIMIT),
    "host": (links.clean_host, links.LINK_LIMIT),
    "slug": (slugs.clean_slug, 4 * slugs.SLUG_LIMIT),
    "slugs": (lambda raw: slugs.slugs_between(raw, at_most=5), LONGEST),
    "slug from a title": (slugs.slug_from_title, lines.TITLE_LIMIT),
    "query": (read_query, 2 * MOST_CHARACTERS),
    "name": (names.canonical, names.MAX_LENGTH),
}

Shape = list[tuple[str, int]]
"""Characters, each with how often it is repeated; the whole is repeated up to the longest length."""


def main() -> None:
    options = parse_options()
    chance = random.Random(options.seed)
    for name, (clean, longest) in CLEANERS.items():
        if not options.only or name in options.only:
            milliseconds, shape, length = find_worst(clean, longest, options.seconds, chance)
            print(f"{name:18} {milliseconds:8.2f} ms  {length:6} characters of {shape!a}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=20, help="of search for each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=CLEANERS)
    return parser.parse_args()


def find_worst(
    clean: Callable[[str], object], longest: int, seconds: float, chance: random.Random
) -> tuple[float, Shape, int]:
    """Return the slowest input found: its time in ms, its shape and its length."""
    until, worst = time.monotonic() + seconds, list[tuple[float, Shape, int]]()
    while time.monotonic() < until:
        shape = changed(chance.choice(worst)[1], chance) if worst and chance.random() < 0.7 else drawn(chance)
        length = chance.choice((longest, longest // 2, longest // 4))
        worst.append((milliseconds_of(clean, written(shape, length), times=1), shape, length))
        worst = sorted(worst, key=lambda one: -one[0])[:20]
    again = [(milliseconds_of(clean, written(*found), times=5), *found) for _, *found in worst]
    return max(again, key=lambda one: one[0])


def drawn(chance: random.Random) -> Shape:
    chars = [chance.choice(DELICATE) if chance.random() < 0.9 else chr(chance.randrange(0xD800)) for _ in range(4)]
    return [(chance.choice(chars), chance.choice((1, 1, 1, 2, 29, 1000))) for _ in range(chance.randint(1, 8))]


def changed(shape: Shape, chance: random.Random) -> Shape:
    at = chance.randrange(len(shape) + 1)
    return [*shape[:at], *drawn(chance)[:1], *shape[at + chance.randint(0, 1) :]]


def written(shape: Shape, length: int) -> str:
    unit = "".join(char * times for char, times in shape)
    return (unit * (length // len(unit) + 1))[:length]


def milliseconds_of(clean: Callable[[str], object], raw: str, *, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        with suppress(ValueError):
            clean(raw)
        best = min(best, time.process_time() - start)
    return 1000 * best


if __name__ == "__main__":
    main()

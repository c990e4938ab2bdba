"""Search for the text of at most 20,000 characters that takes longest to render, or becomes the largest HTML.

Texts are sequences of fragments that repeat, nest or climb like stairs. Half of the time goes to random ones, the
rest to changes of the worst so far. Prints the worst with their processor time, the smallest of several runs, and
the bytes of their HTML; fails if any exceeds what `articles.text.markdown` promises.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from articles.text.lines import TEXT_LIMIT
from articles.text.markdown import render

MOST_SECONDS, MOST_BYTES = 0.020, 200_000

_KEPT = 40
_LONGEST_SEQUENCE = 6

FRAGMENTS = (
    *("a", "ab", " ", "  ", "    ", "\t", "\n", "\n\n", "  \n", "\\\n", "注", "。", "\u3000", "\u00a0", "é", "😀"),
    *(">", "> ", "- ", "+ ", "* ", "1. ", "1) ", "-", "=", "#", "# ", "###### ", "***", "---", "- - ", "===\n"),
    *("*", "**", "***", "_", "__", "~", "~~", "`", "``", "```", "```\n", "~~~\n", "*a*", "_a_ ", "**a", "`a`"),
    *(
        "[",
        "]",
        "![",
        "](",
        "](a)",
        "[a]",
        "[]",
        "[a](b)",
        "![a](b)",
        "[![a](b)](c)",
        "[a]: b\n",
        "[a]:",
        "(",
        ")",
    ),
    *(
        "](http://a.b/)",
        "[](http://a.b)",
        "http://a.b ",
        "http://a.b/",
        "https://é.b/",
        "http://xn--",
        "://",
        "[a][a]",
    ),
    *("<", "<a", "<a>", "</a>", "<!--", "-->", "<?", "<![CDATA[", "<div>\n", "<a:b>", "<http://a.b>", "<a@b.cd>"),
    *(
        "|",
        "|a",
        "|a|a\n",
        "|-",
        "|-|-\n",
        ":-:|",
        "a|b\n-|-\n",
        "\\|",
        "||",
        "|\n",
        "-|",
        "a\n",
        "a='",
        "www.a.b ",
    ),
    *("&", "&amp;", "&lt;", "&#0;", "&#8203;", "&nbsp;", "&#x202e;", "&ab", '"', "'", "\\", "\\*", "\\@", "\\`"),
    *("@", "@ab", "@ab ", "/@ab", "@a_b", "@a-b@", "_-+.", "@types/node", "{", ":", ";", "!", "?", "/", ".", "%"),
)


class Part(NamedTuple):
    """Some fragments, repeated in one of the ways of `_WAYS`."""

    way: str
    fragments: tuple[str, ...]
    inner: tuple[str, ...]
    times: int


class Found(NamedTuple):
    """A text, with what it costs."""

    seconds: float
    bytes: int
    parts: tuple[Part, ...]
    whole: int


def _times(part: Part) -> int:
    """Return how often the fragments repeat, in at most the length of a text."""
    return min(part.times, TEXT_LIMIT // len("".join(part.fragments)) + 1)


def _repeated(part: Part) -> str:
    return "".join(part.fragments) * _times(part)


def _nested(part: Part) -> str:
    closing = "".join(reversed(part.fragments))
    return "".join(part.fragments) * _times(part) + "".join(part.inner) + closing * _times(part)


def _stairs(part: Part) -> str:
    """Return lines that are indented further and further."""
    step, line = "".join(part.inner), "".join(part.fragments)
    return "\n".join(step * number + line for number in range(min(part.times, 300))) + "\n"


def _numbered(part: Part) -> str:
    """Return fragments that all differ."""
    text, inner = "".join(part.fragments), "".join(part.inner)
    return "".join(f"{text}{number}{inner}" for number in range(_times(part)))


_WAYS: dict[str, Callable[[Part], str]] = {
    "repeated": _repeated,
    "nested": _nested,
    "stairs": _stairs,
    "numbered": _numbered,
}


def text_of(parts: tuple[Part, ...], whole: int) -> str:
    """Return the parts one after the other, `whole` times, as far as a text may be long."""
    text = "".join(_WAYS[part.way](part)[:TEXT_LIMIT] for part in parts)
    return (text * min(whole, TEXT_LIMIT // max(1, len(text)) + 1))[:TEXT_LIMIT]


def main() -> int:
    """Search, print the worst texts, and return the exit code: 1 if one exceeds a limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"Seed {options.seed}")
    slowest, largest = _search(random.Random(options.seed), options.minutes * 60)
    slowest = sorted((_measured(found.parts, found.whole, runs=9) for found in slowest), reverse=True)
    for title, worst in (("slowest", slowest), ("largest", largest)):
        print(f"The {title}:")
        for found in worst[:8]:
            print(
                f"{found.seconds * 1000:6.1f} ms {found.bytes:8,} bytes  {found.whole} × {_described(found.parts)}"
            )
    return int(slowest[0].seconds > MOST_SECONDS or largest[0].bytes > MOST_BYTES)


def _search(chance: random.Random, seconds: float) -> tuple[list[Found], list[Found]]:
    """Return the slowest and the largest."""
    slowest: list[Found] = []
    largest: list[Found] = []
    start, tried = time.monotonic(), 0
    while (spent := time.monotonic() - start) < seconds:
        if not slowest or (spent < seconds / 2 and tried % 2):
            parts, whole = _random_parts(chance), chance.choice((1, 1, 2, 10, 100, TEXT_LIMIT))
        else:
            model = chance.choice(slowest if tried % 4 else largest)
            parts, whole = _changed(chance, model.parts), _changed_number(chance, model.whole)
        found = _measured(parts, whole, runs=1)
        if slowest and found.seconds > slowest[-1].seconds:  # or another process was in the way
            found = _measured(parts, whole, runs=4)
        tried += 1
        slowest = _kept([*slowest, found], lambda one: one.seconds)
        largest = _kept([*largest, found], lambda one: one.bytes)
    print(f"{tried:,} texts tried")
    return slowest, largest


def _kept(found: list[Found], size: Callable[[Found], float]) -> list[Found]:
    return sorted(found, key=size, reverse=True)[:_KEPT]


def _measured(parts: tuple[Part, ...], whole: int, runs: int) -> Found:
    text, best = text_of(parts, whole), float("inf")
    for _ in range(runs):
        start = time.process_time()
        html = render(text)
        best = min(best, time.process_time() - start)
    return Found(best, len(html.encode()), parts, whole)


def _random_fragments(chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.choices(FRAGMENTS, k=chance.randint(1, _LONGEST_SEQUENCE)))


def _random_parts(chance: random.Random) -> tuple[Part, ...]:
    return tuple(_random_part(chance) for _ in range(chance.randint(1, 4)))


def _random_part(chance: random.Random) -> Part:
    times = int(10 ** chance.uniform(0, 4.3))
    return Part(chance.choice(tuple(_WAYS)), _random_fragments(chance), _random_fragments(chance), times)


def _changed_number(chance: random.Random, number: int) -> int:
    if chance.random() < 0.6:
        return number
    return max(1, min(TEXT_LIMIT, int(number * 2 ** chance.uniform(-1.5, 1.5))))


def _changed(chance: random.Random, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts with one of them changed, left out, doubled or added."""
    at, kind = chance.randrange(len(parts)), chance.random()
    part = parts[at]
    if kind < 0.1 and len(parts) > 1:
        return parts[:at] + parts[at + 1 :]
    if kind < 0.2 and len(parts) < 6:
        return (*parts[:at], _random_part(chance), *parts[at:])
    if kind < 0.3:
        return (*parts[:at], part._replace(way=chance.choice(tuple(_WAYS))), *parts[at + 1 :])
    if kind < 0.5:
        return (*parts[:at], part._replace(times=_changed_number(chance, part.times)), *parts[at + 1 :])
    field = chance.choice(("fragments", "inner"))
    fragments = list(getattr(part, field))
    place = chance.randrange(len(fragments) + 1)
    fragments[place : place + chance.randint(0, 1)] = chance.choices(FRAGMENTS, k=chance.randint(0, 2))
    changed = part._replace(**{field: tuple(fragments) or ("a",)})
    return (*parts[:at], changed, *parts[at + 1 :])


def _described(parts: tuple[Part, ...]) -> str:
    return " + ".join(
        f"{part.way}({''.join(part.fragments)!r}, {''.join(part.inner)!r}, {part.times})" for part in parts
    )


if __name__ == "__main__":
    sys.exit(main())

"""Values that break sites: of the shared cases, if they are here, and of our own."""

import json
import random
from functools import cache
from pathlib import Path

from django.conf import settings

from tests.store_state import ARTICLE_KEY, KEY_LIKE

_OWN = (
    "", " ", "\0", "a\0b", "\r\n", "a\r\nSet-Cookie: x=1", "\ud800", "\u202e", "\u200b", "\ufeff",
    "\x7f", "\x1b[31m",
    "0", "-1", "+1", "01", "1.0", "1e9", "1e999", "-0", "NaN", "Infinity", "0x10", "１", "²", "1_000", "٣",
    str(2**31), str(2**63), str(2**64), "9" * 15, "9" * 16, "9" * 400, "-" + "9" * 400,
    "true", "null", "[]", "{}", "[object Object]", "undefined", "None", "on", "off",
    "..", "../../etc/passwd", "%00", "%2e%2e%2f", "%", "%zz", "{x}", "*", ARTICLE_KEY, *KEY_LIKE, "a:b",
    "//evil.example", "/\\evil.example", "https:evil.example", "javascript:alert(1)",
    "http://[::1", "http://a:99999/",
    "<script>x()</script>", '"><img src=x onerror=x()>', "{{7*7}}", "{% load x %}", "${7*7}", "]]>", "&#0;",
    "*3\r\n$3\r\nSET\r\n",
    "' OR 1=1 --",
    "a" * 300,
    "a" * 5000,
    "a\u0301" * 200,
    "\U0001f469\u200d" * 100,
    "好" * 400,
    "python", "redis", "中文", "python+redis", "python,redis", "vote", "oppose", "none", "score", "hot", "day",
)  # fmt: skip

HUGE = (
    "x" * 100_000,
    "%" * 40_000,
    "好" * 30_000,
    "a\u0301" * 40_000,
    "[" * 50_000,
    "1" * 100_000,
    "y" * 1_500_000,
)

BROKEN = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f", b"a\x00b", b"\xfe\xff\x00a")
"""Bytes that are no UTF-8, and a NUL."""

NAMES = (
    "page", "after", "order", "range", "q", "group", "groups", "hide", "next", "list", "gamma", "half_life",
    "base", "alpha", "beta", "votes_per_day", "ids", "since", "article", "choice", "limit", "link", "min",
    "points", "lang", "target", "version", "to", "what", "slug", "title", "name", "format", "e", "o", "p",
    "_popup", "is_active__exact",
)  # fmt: skip
"""Parameters that some page reads."""


@cache
def texts() -> tuple[str, ...]:
    """Return all hostile texts of ordinary length."""
    folder = Path(settings.SHARED_DIR, "cases")
    shared: list[str] = []
    if folder.is_dir():
        shared += json.loads((folder / "naughty_strings.json").read_text("utf-8"))
        shared += (folder / "xss_300.txt").read_text("utf-8").splitlines()
        cases = json.loads((folder / "urltestdata.json").read_text("utf-8"))
        shared += [case["input"] for case in cases if isinstance(case, dict)]
    return (*_OWN, *shared)


def text(chance: random.Random) -> str:
    """Return a hostile text; one in fifty is huge."""
    return chance.choice(HUGE[:-1] if chance.random() < 0.02 else texts())


def raw(chance: random.Random) -> bytes:
    """Return a hostile value as bytes, which may be no UTF-8."""
    if chance.random() < 0.03:
        return chance.choice(BROKEN)
    return text(chance).encode("utf-8", "surrogatepass")

"""Draw the picture of an article's card: a process of its own, which reads JSON and writes a PNG.

`python -m articles.card_picture` draws one picture and ends. In a web process, drawing would hold Python's lock
for a tenth of a second, and texts are hostile. It exits with NO_FONTS if the machine has none for the title.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import resvg_py
import uharfbuzz
from markupsafe import escape

from links.fence import limit_resources

NO_FONTS = 3
"""Status of the process; 1 is that of an exception."""

WIDTH, HEIGHT = 1200, 630
_MARGIN = 80
_ROOM = WIDTH - 2 * _MARGIN
_SIZES = ((72, 3), (60, 4), (48, 5))
"""Sizes of the title, and how many lines of each there is room for."""

_SLACK = 1.04
"""Shaped text may be a little wider than its characters one by one."""

_PLACES = ("/usr/share/fonts", "/usr/local/share/fonts")
_NAMES = re.compile(
    r"(NotoSans|DejaVuSans|NotoSansCJK|NotoSans(?!Mono)\w*|wqy-microhei|wqy-zenhei|DroidSansFallback\w*)(-Regular)?\.(ttf|ttc|otf)"
)
_FIRST = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
)
"""Families to prefer if several have a character, the first one first."""

_FACES = 10
"""Faces of a collection that are looked at."""

_INK, _SOFT, _PAPER, _OPPOSE = "#1b1c1a", "#5c5f5a", "#fcfdfb", "#9a4a1c"

_MOST_MARKS = 2
_JOINERS = "\u200c\u200d"
_FROM_RIGHT, _END = "\u202b", "\u202c"
"""Around a line of a title that is read from right to left."""


class _Face(NamedTuple):
    family: str
    path: str
    characters: Any
    font: uharfbuzz.Font
    units: int


class Fonts:
    """The fonts of the machine that are known to suit."""

    def __init__(self, places: Sequence[str] = _PLACES) -> None:
        found = (face for place in places for face in _faces(place))
        last = len(_FIRST)
        self.faces = sorted(found, key=lambda face: _FIRST.index(face.family) if face.family in _FIRST else last)
        self._advances: dict[str, float | None] = {}

    def advance(self, char: str) -> float | None:
        """Return how wide a character is, in sizes of the font; None if no font has it."""
        if char not in self._advances:
            face = next((face for face in self.faces if ord(char) in face.characters), None)
            if face:
                glyph = 0 if char in _JOINERS or _is_mark(char) else face.font.get_nominal_glyph(ord(char))
                wide = face.font.get_glyph_h_advance(glyph) if glyph else 0
            self._advances[char] = _SLACK * wide / face.units if face else 0.0 if char in _JOINERS else None
        return self._advances[char]

    def width(self, text: str, size: float) -> float:
        """Return about how wide a text is."""
        return size * sum(self.advance(char) or 0.0 for char in text)

    def drawable(self, text: str) -> str | None:
        """Return the text without what cannot be drawn; None if letters of it cannot, or nothing is left."""
        kept, marks = "", 0
        for char in unicodedata.normalize("NFC", text):
            category = unicodedata.category(char)
            marks = marks + 1 if category.startswith("M") else 0
            if char.isspace():
                kept += " "
            elif marks > _MOST_MARKS or (category.startswith("C") and char not in _JOINERS):
                continue
            elif self.advance(char) is not None:
                kept += "" if char in _JOINERS and not kept[-1:].isalpha() else char
            elif not (category.startswith("S") or "\ufe00" <= char <= "\ufe0f"):  # a letter, not an emoji
                return None
        return " ".join(kept.split()) or None

    def cut(self, text: str, size: float, room: float) -> str:
        """Return as much of the text as there is room for."""
        if self.width(text, size) <= room:
            return text
        room -= self.width("…", size)
        ends = accumulate(size * (self.advance(char) or 0.0) for char in text)
        return text[: sum(1 for end in ends if end <= room)].rstrip() + "…"


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


def _faces(place: str) -> Iterator[_Face]:
    folders = os.walk(place)  # which passes over what cannot be read
    for path in sorted(Path(folder, name) for folder, _, names in folders for name in names):
        if _NAMES.fullmatch(path.name):
            with suppress(OSError, uharfbuzz.HarfBuzzError):
                blob = uharfbuzz.Blob.from_file_path(str(path))
                for index in range(_FACES if path.suffix == ".ttc" else 1):
                    face = uharfbuzz.Face(blob, index)
                    family = face.get_name(uharfbuzz.OTNameIdPredefined.FONT_FAMILY)
                    if face.glyph_count and family and "Mono" not in family:
                        yield _Face(family, str(path), face.unicodes, uharfbuzz.Font(face), face.upem)


def _may_break(before: str, after: str) -> bool:
    """Return whether a line can end between two characters."""
    if before == " " or after == " ":
        return before == " "
    is_wide = any(unicodedata.east_asian_width(char) in "WF" for char in (before, after))
    is_bound = unicodedata.category(before) in ("Ps", "Pi") or unicodedata.category(after) in (
        "Pe",
        "Pf",
        "Po",
        "Mn",
    )
    return is_wide and not is_bound


def lines_of(fonts: Fonts, text: str, size: float, room: float) -> Iterator[str]:
    """Yield the lines of a text; a word that is wider than a line is broken anywhere. Linear work."""
    start, at, end, width = 0, 0, 0, 0.0
    while at < len(text):
        advance = size * (fonts.advance(text[at]) or 0.0)
        if width + advance > room and at > start and text[at] != " ":
            end = end if end > start else at
            yield text[start:end].rstrip()
            start = at = end
            width = 0.0
            continue
        width += advance
        at += 1
        if at < len(text) and _may_break(text[at - 1], text[at]):
            end = at
    yield text[start:].rstrip()


def _title(fonts: Fonts, title: str) -> tuple[int, list[str]]:
    for size, most in _SIZES:
        lines = list(lines_of(fonts, title, size, _ROOM))
        if len(lines) <= most:
            return size, lines
    last = " ".join(lines[most - 1 :])
    return size, [*lines[: most - 1], fonts.cut(last, size, _ROOM)]


def svg(fonts: Fonts, card: Mapping[str, str]) -> str | None:
    """Return the picture as SVG; None if its title cannot be drawn."""
    title = fonts.drawable(card["title"])
    if title is None:
        return None
    size, lines = _title(fonts, title)
    is_rtl = next(
        (way in ("R", "AL") for way in map(unicodedata.bidirectional, title) if way in ("L", "R", "AL")), False
    )
    chars = set(map(ord, title))
    family = max(fonts.faces, key=lambda face: sum(char in face.characters for char in chars)).family

    def text(x: float, y: float, size: float, fill: str, content: str, more: str = "") -> str:
        attributes = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{fill}"{more}'
        return f"<text {attributes}>{escape(content)}</text>"

    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAPER}"/>',
        f'<rect width="{WIDTH}" height="14" fill="{card["accent"]}"/>',
        f'<path d="M{_MARGIN} 100l24 -26 24 26z" fill="{card["accent"]}"/>',
        f'<path d="M{_MARGIN} 108l24 26 24 -26z" fill="{_OPPOSE}"/>',
    ]
    if site := fonts.drawable(card["site"]):
        parts.append(text(_MARGIN + 68, 117, 36, _SOFT, fonts.cut(site, 36, _ROOM - 68)))
    left, more = (WIDTH - _MARGIN, ' text-anchor="end"') if is_rtl else (_MARGIN, "")
    for n, line in enumerate(lines):
        y = 200 + size + n * size * 1.25
        parts.append(text(left, y, size, _INK, f"{_FROM_RIGHT}{line}{_END}" if is_rtl else line, more))
    x = float(_MARGIN)
    if points := fonts.drawable(card["points"]):
        parts.append(text(x, 570, 36, card["accent"], points))
        x += fonts.width(points, 36) + 40
    if host := fonts.drawable(card["host"]):
        parts.append(text(x, 570, 36, _SOFT, fonts.cut(host, 36, WIDTH - _MARGIN - x)))
    clip = f'<clipPath id="in"><rect x="{_MARGIN - 8}" width="{_ROOM + 16}" height="{HEIGHT}"/></clipPath>'
    inside = f'<g clip-path="url(#in)" font-family="{escape(family)}">{"".join(parts[2:])}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">'
        f"{clip}{''.join(parts[:2])}{inside}</svg>"
    )


def png(fonts: Fonts, card: Mapping[str, str]) -> bytes | None:
    """Return the picture; None if its title cannot be drawn."""
    drawn = svg(fonts, card)
    if drawn is None:
        return None
    files = list(dict.fromkeys(face.path for face in fonts.faces))
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, skip_system_fonts=True, font_files=files))


def main() -> int:
    os.nice(19)
    limit_resources()
    picture = png(Fonts(), json.load(sys.stdin))
    if picture is None:
        return NO_FONTS
    sys.stdout.buffer.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Characters: which of them show, which marks and joiners have something to sit on or to join.

Unicode properties come from the standard library's `unicodedata`. References: UAX #15 (normal forms),
UTS #51 (emoji), UTR #36 (text that deceives).
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache

# Words in Hebrew with vowels and accents, in Thai or in Tibetan need four at most. Of 299,893 real titles
# seven have more, all of them "Zalgo" that climbs over the lines around it.
MARKS_LIMIT = 4

# Contents of character classes: articles/text/lines.py gives them to browsers too.
JOINERS = "\u200c\u200d"

# Arabic, Syriac, the Indic scripts to Myanmar; Khmer, Mongolian: a joiner changes the shape of their letters.
JOINING_SCRIPTS = "\u0600-\u109f\u1780-\u18af"

VARIATION_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Letters and marks that show nothing: the grapheme joiner, Hangul fillers (a well-known invisible
# name), two Khmer vowels.
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"

# Braille without dots is a space to the eye.
BRAILLE_BLANK = "\u2800"

WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))

SPACES = f" \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000{BRAILLE_BLANK}"

# Format characters that do show: signs written around the Arabic, Syriac or Kaithi number that follows.
VISIBLE_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"

# Unicode sets these blocks aside for emoji and for Chinese characters. What is newer than Python's own
# tables is on the readers' phones already, and must not vanish from a title.
PICTURES = "\U0001f000-\U0001faff"
RESERVED = f"{PICTURES}\U00020000-\U0002fffd\U00030000-\U0003fffd"

# Kinds of characters, a letter each. Capitals are those of scripts whose letters a joiner shapes.
_OTHER, _LETTER, _SPACING, _PICTURE, _BLANK, _ODD_BLANK, _UNSEEN = "oLcp_bx"
_MARK, _SELECTOR, _EMOJI_SELECTOR, _ZWNJ, _ZWJ = "mvfnj"
_MARKS, _SELECTORS, _BLANKS, _JOINERS = "mMvVf", "vVf", "_b", "nj"
_PLAIN, _PLAIN_MARKS = "oLcCp_", "mM"
_SHAPED, _PICTURED = "LCMV", "pf"

_BY_CATEGORY = {
    **dict.fromkeys(("Cc", "Cf", "Cn", "Co", "Cs"), _UNSEEN),
    "Mn": _MARK,
    "Me": _MARK,
    "Mc": _SPACING,
    "So": _PICTURE,
}
_MOST_ASSIGNED = 0x40000
"""Code points from here on are not assigned, private, or formats; some of them select variations."""

_OWN_KINDS = (
    (_OTHER, f"{RESERVED}{VISIBLE_FORMATS}"),
    (_PICTURE, f"{PICTURES}↔"),
    (_UNSEEN, FILLERS),
    (_ODD_BLANK, WHITE_SPACE),
    (_BLANK, f"\t\n{SPACES}"),
    (_SELECTOR, VARIATION_SELECTORS),
    (_EMOJI_SELECTOR, "\ufe0f"),
    (_ZWNJ, JOINERS[0]),
    (_ZWJ, JOINERS[1]),
)
"""Kinds that do not follow from a character's category; later rows take precedence."""

_SHAPED_KINDS = {_OTHER: _LETTER, _SPACING: "C", _MARK: "M", _SELECTOR: "V"}

# What `_shown` takes out or replaces.
_SUPERFLUOUS = re.compile(
    rf"[{_ODD_BLANK}{_UNSEEN}{_MARKS}{_JOINERS}]"
    rf"(?:(?<=[{_ODD_BLANK}{_UNSEEN}])|(?<![^{_BLANK}].)|(?<=[{_SELECTORS}]{{2}})|(?<=[{_JOINERS}]{{2}})"
    rf"|(?<={_ZWNJ})(?:(?<![{_SHAPED}].)|(?![{_SHAPED}]))"
    rf"|(?<={_ZWJ})(?:(?<![{_SHAPED}].)|(?![{_SHAPED}]))(?:(?<![{_PICTURED}].)|(?!{_PICTURE})))"
)

_STACKED = re.compile(f"(?:[{_MARKS}][cC{_JOINERS}]*+){{{MARKS_LIMIT + 1}}}")

# More marks in a row than any writing needs: UAX #15 ends a stream-safe sequence at 30. Sorting thousands of them
# into NFC takes seconds. A search from each beginning of a row only is linear.
_IN_ROW = f"{_MARKS}cC{_UNSEEN}{_JOINERS}"
_ENDLESS = re.compile(rf"(?<![{_IN_ROW}])[{_UNSEEN}{_JOINERS}]*+(?:[{_MARKS}cC][{_UNSEEN}{_JOINERS}]*+){{31}}")


class TooManyMarksError(ValueError):
    """More marks on a letter than can be shown."""


def visible(text: str, *, most: int) -> str:
    """Return what shows of a text, in NFC. Spaces, tabs and ends of lines stay; other blanks become spaces.

    Takes out what cannot be seen or reorders the text, and marks, joiners and variation selectors that have
    nothing to sit on, to join or to select. Linear; doing it again changes nothing. A text that NFC makes longer
    than `most` is returned as it is then. Raises TooManyMarksError.
    """
    kinds = text.translate(_kinds())
    if _ENDLESS.search(kinds):
        raise TooManyMarksError
    shown = _shown(text, kinds) if _SUPERFLUOUS.search(kinds) else text
    composed = unicodedata.normalize("NFC", shown)
    if len(composed) > most:
        return composed
    if composed != text:
        kinds = composed.translate(_kinds())
    # NFC can join an arrow and its stroke to a sign that no emoji is joined to. No writing has that.
    if _STACKED.search(kinds) or _SUPERFLUOUS.search(kinds):
        raise TooManyMarksError
    return composed


def has_stacked_marks(text: str) -> bool:
    """Return whether a base has too many marks; a spacing mark (a Burmese vowel) is beside it, not on it."""
    return bool(_STACKED.search(text.translate(_kinds())))


def is_unseen(char: str) -> bool:
    """Return whether the character shows nothing by itself: a control, a format, a filler, not assigned.

    White space is seen. Variation selectors are not counted either: they change how their base looks.
    """
    return char.translate(_kinds()) in (_UNSEEN, _ZWNJ, _ZWJ)


def is_variation_selector(char: str) -> bool:
    """Return whether the character only selects a form of the one before it (an emoji's colours, a glyph)."""
    return char.translate(_kinds()) in _SELECTORS


def _shown(text: str, kinds: str) -> str:
    """Return the characters that show, each judged by those that are kept before it."""
    kept, before, joiner = list[str](), _BLANK, ""
    for char, kind in zip(text, kinds, strict=True):
        if not joiner and (kind in _PLAIN or (kind in _PLAIN_MARKS and before != _BLANK)):
            kept.append(char)
            before = kind
        elif kind in _JOINERS:
            joiner = joiner or char
        elif kind in _BLANKS:
            kept.append(char if kind == _BLANK else " ")
            before, joiner = _BLANK, ""
        elif kind in _MARKS and before == _BLANK:
            joiner = ""
        elif kind != _UNSEEN:
            is_joined = joiner != "" and _joins(joiner, before, kind)
            if is_joined or kind not in _SELECTORS or before not in _SELECTORS:
                kept += (joiner, char) if is_joined else (char,)
                before = kind
            joiner = ""
    return "".join(kept)


def _joins(joiner: str, before: str, after: str) -> bool:
    """Return whether characters of these kinds use the joiner between them."""
    if before in _SHAPED and after in _SHAPED:
        return True
    return joiner == JOINERS[-1] and before in _PICTURED and after == _PICTURE


@cache
def _kinds() -> str:
    """Return the kind of each code point, for `str.translate`: a megabyte, in a tenth of a second, once."""
    kinds = bytearray(_UNSEEN, "ascii") * (sys.maxunicode + 1)
    for code in range(_MOST_ASSIGNED):
        kinds[code] = ord(_BY_CATEGORY.get(unicodedata.category(chr(code)), _OTHER))
    for kind, chars in _OWN_KINDS:
        for code in _codes(chars):
            kinds[code] = ord(kind)
    for code in _codes(JOINING_SCRIPTS):
        if unicodedata.category(chr(code))[0] in "LM":
            kinds[code] = ord(_SHAPED_KINDS.get(chr(kinds[code]), chr(kinds[code])))
    return kinds.decode("ascii")


def _codes(chars: str) -> Iterator[int]:
    """Yield the code points of the content of a character class."""
    for first, last in re.findall("(.)(?:-(.))?", chars, re.DOTALL):
        yield from range(ord(first), ord(last or first) + 1)

"""The steps of `articles.text.lines.clean_line` as patterns for a browser's `RegExp`.

The script that counts the characters of a title applies them after NFC, each to the whole line, until the line no
longer changes.
"""

from articles.text.characters import (
    BRAILLE_BLANK,
    FILLERS,
    JOINERS,
    JOINING_SCRIPTS,
    PICTURES,
    RESERVED,
    VARIATION_SELECTORS,
    VISIBLE_FORMATS,
)

_SHAPED = rf"(?=[{JOINING_SCRIPTS}])[\p{{L}}\p{{M}}]"
_PICTURE = rf"[{PICTURES}\p{{So}}↔]"
_ZWJ = JOINERS[-1]

STEPS: tuple[tuple[str, str], ...] = (
    # White space as in Python's `str.isspace`: JavaScript includes the byte order mark, but not the separators.
    (rf"(?!\ufeff)[\s{BRAILLE_BLANK}\x1c-\x1f\x85]", " "),
    (rf"(?![{JOINERS}{VISIBLE_FORMATS}{RESERVED}])\p{{C}}|[{FILLERS}]", ""),
    (r"(^| )[\p{Mn}\p{Me}]+", "$1"),
    (rf"([{VARIATION_SELECTORS}])[{VARIATION_SELECTORS}]+", "$1"),
    (
        rf"((?<={_SHAPED})[{JOINERS}])[{JOINERS}]*(?={_SHAPED})"
        rf"|((?<={_PICTURE}|\ufe0f){_ZWJ})[{JOINERS}]*(?={_PICTURE})|[{JOINERS}]+",
        "$1$2",
    ),
    (r"^ +| +$| +(?= )", ""),
)
"""Patterns, for the flags "gu", each with the replacement of its matches."""

"""What `articles.text.lines.clean_line` does to a line, as patterns for a browser's `RegExp`.

The script that counts a title's characters applies them after NFC, each to the whole line, until nothing changes.
"""

from articles.text.lines import (
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
    # White space as Python's `str.isspace` sees it: JavaScript counts the byte order mark, not the separators.
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
"""Patterns, with the flags "gu", and what takes the place of each match."""

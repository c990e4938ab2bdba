"""Lines and texts that people write: cleaned so that they show as written and hide nothing, or refused.

Unicode properties come from the standard library's `unicodedata`. References: UAX #15 (normal forms),
UTS #51 (emoji), UTR #36 (text that deceives).
"""

import re
import unicodedata
from collections.abc import Callable

from articles.text.messages import english_sentence

TITLE_LIMIT = 300  # code points
TEXT_LIMIT = 20_000
GROUP_DESCRIPTION_LIMIT = 2_000
REASON_LIMIT = 500
APPEAL_LIMIT = 2000
NOTE_LIMIT = 2000
GROUP_TITLE_LIMIT = 60
TOKEN_NAME_LIMIT = 50

# Words in Hebrew with vowels and accents, in Thai or in Tibetan need four at most. Of 299,893 real titles
# seven have more, all of them "Zalgo" that climbs over the lines around it.
MARKS_LIMIT = 4

# Longer than this many times the limit is refused unread: no cleaning would save it, and normalising
# 80,000 combining marks takes seconds.
UNREAD_FACTOR = 4

# More combining characters in a row than any writing needs: UAX #15 ends a stream-safe sequence at 30. Sorting
# thousands of them into NFC takes seconds.
_STREAM_SAFE = 30

# The signs of a text that need no cleaning.
_PLAIN_TEXT = re.compile(r"[ -~\n]*")

_LINE_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_KEPT_IN_TEXTS = "\n\t"

_SURROGATE = re.compile("[\ud800-\udfff]")

# Contents of character classes: articles/text/line_patterns.py gives them to browsers too.
JOINERS = "\u200c\u200d"
_ZWJ = "\u200d"
_JOINER_RUN = re.compile(f"[{JOINERS}]+")

# Arabic, Syriac, the Indic scripts to Myanmar; Khmer, Mongolian: a joiner changes the shape of their letters.
JOINING_SCRIPTS = "\u0600-\u109f\u1780-\u18af"
_JOINING_SCRIPT = re.compile(f"[{JOINING_SCRIPTS}]")

VARIATION_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_VARIATION_SELECTOR = re.compile(f"[{VARIATION_SELECTORS}]")

# Letters and marks that show nothing: the grapheme joiner, Hangul fillers (a well-known invisible
# name), two Khmer vowels.
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"

# Braille without dots is a space to the eye.
BRAILLE_BLANK = "\u2800"

# Format characters that do show: signs written around the Arabic, Syriac or Kaithi number that follows.
VISIBLE_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"

# Unicode sets these blocks aside for emoji and for Chinese characters. What is newer than Python's own
# tables is on the readers' phones already, and must not vanish from a title.
PICTURES = "\U0001f000-\U0001faff"
RESERVED = f"{PICTURES}\U00020000-\U0002fffd\U00030000-\U0003fffd"
_RESERVED = re.compile(f"[{RESERVED}]")


class InvalidInput(ValueError):
    """Input that cannot be accepted.

    `code` is one of `messages.INPUT`, and stable; `params` holds the facts of its sentence: the limit and, where
    there is one, the length that exceeds it; or a host and a reason.
    """

    def __init__(self, code: str, **params: int | str) -> None:
        super().__init__(code)
        self.code = code
        self.params = params

    @property
    def message(self) -> str:
        """The refusal as an English sentence."""
        return english_sentence(self.code, self.params)

    def __str__(self) -> str:
        return self.message


def clean_title(raw: str) -> str:
    """Return an article's title of 1 to 300 code points. Raises InvalidInput ("title-…")."""
    return clean_line(raw, limit=TITLE_LIMIT, field="title")


def clean_reason(raw: str) -> str:
    """Return a moderator's public reason of 1 to 500 code points. Raises InvalidInput ("reason-…")."""
    return clean_line(raw, limit=REASON_LIMIT, field="reason")


def clean_group_title(raw: str) -> str:
    """Return a group's title of 1 to 60 code points. Raises InvalidInput ("group-title-…")."""
    return clean_line(raw, limit=GROUP_TITLE_LIMIT, field="group-title")


def clean_group_description(raw: str) -> str:
    """Return a group's description, "" or up to 2,000 code points. Raises InvalidInput ("group-description-…")."""
    return clean_lines(raw, limit=GROUP_DESCRIPTION_LIMIT, field="group-description")


def clean_token_name(raw: str) -> str:
    """Return the name of a member's token, of 1 to 50 code points. Raises InvalidInput ("token-name-…")."""
    return clean_line(raw, limit=TOKEN_NAME_LIMIT, field="token-name")


def clean_line(raw: str, *, limit: int, field: str) -> str:
    """Return one line of 1 to `limit` visible code points, in NFC, with single spaces.

    Takes out what cannot be seen or reorders the text: controls, bidi controls, zero-width, private and
    unassigned characters. A joiner stays where an emoji or a script needs it; markup is text like any other.
    Cleaning it again changes nothing. `field` begins the code of a refusal.
    Raises InvalidInput with "<field>-long", "-encoding", "-empty" or "-marks".
    """
    if len(raw) > UNREAD_FACTOR * limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(raw))
    if _SURROGATE.search(raw):
        raise InvalidInput(f"{field}-encoding")
    line = until_stable(_visible, raw)
    if not line:
        raise InvalidInput(f"{field}-empty")
    if stacked_marks(line) > MARKS_LIMIT:
        raise InvalidInput(f"{field}-marks", limit=MARKS_LIMIT)
    if len(line) > limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(line))
    return line


def clean_text(raw: str) -> str:
    """Return an article's text of at most 20,000 code points, "" for none. Raises InvalidInput ("text-…")."""
    return clean_lines(raw, limit=TEXT_LIMIT, field="text")


def clean_appeal(raw: str) -> str:
    """Return an appeal of 1 to 2,000 code points. Raises InvalidInput ("appeal-empty", "text-…")."""
    if text := clean_lines(raw, limit=APPEAL_LIMIT, field="text"):
        return text
    raise InvalidInput("appeal-empty")


def clean_note(raw: str) -> str:
    """Return a note on a member, of 1 to 2,000 code points. Raises InvalidInput ("note-empty", "text-…")."""
    if text := clean_lines(raw, limit=NOTE_LIMIT, field="text"):
        return text
    raise InvalidInput("note-empty")


def clean_comment(raw: str) -> str:
    """Return a comment of 1 to 20,000 code points. Raises InvalidInput ("comment-…")."""
    if text := clean_lines(raw, limit=TEXT_LIMIT, field="comment"):
        return text
    raise InvalidInput("comment-empty")


def clean_lines(raw: str, *, limit: int, field: str) -> str:
    """Return a text of at most `limit` code points, cleaned as `clean_line` does, but with its lines and indents.

    Line breaks are "\\n"; empty lines at both ends and blanks at the end are taken out. Cleaning it again changes
    nothing. Raises InvalidInput with "<field>-long", "-encoding" or "-marks".
    """
    if len(raw) > UNREAD_FACTOR * limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(raw))
    if _SURROGATE.search(raw):
        raise InvalidInput(f"{field}-encoding")
    text = _LINE_BREAK.sub("\n", raw)
    if not _PLAIN_TEXT.fullmatch(text):
        if _longest_sequence(text) > _STREAM_SAFE:
            raise InvalidInput(f"{field}-marks", limit=MARKS_LIMIT)
        text = until_stable(lambda some: _shown(some, _KEPT_IN_TEXTS), text)
        if stacked_marks(text) > MARKS_LIMIT:
            raise InvalidInput(f"{field}-marks", limit=MARKS_LIMIT)
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text.rstrip())
    if len(text) > limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(text))
    return text


def until_stable(step: Callable[[str], str], text: str) -> str:
    """Return the text after as many steps as still change it.

    One is nearly always enough; taking out a character can bring a letter and its accent together, and
    joining those can leave another character without the neighbour it was kept for.
    """
    while (after := step(text)) != text:
        text = after
    return text


def is_unseen(char: str) -> bool:
    """Return whether the character shows nothing by itself: a control, a format, a filler, not assigned.

    White space is seen. Variation selectors are not counted either: they change how their base looks.
    """
    if char in FILLERS:
        return True
    match unicodedata.category(char):
        case "Cf":
            return char not in VISIBLE_FORMATS
        case "Cn":
            return not _RESERVED.match(char)
        case "Cc":
            return not char.isspace()
        case category:
            return category in {"Co", "Cs"}


def is_variation_selector(char: str) -> bool:
    """Return whether the character only selects a form of the one before it (an emoji's colours, a glyph)."""
    return bool(_VARIATION_SELECTOR.match(char))


def stacked_marks(text: str) -> int:
    """Return the largest number of marks on one base; a spacing mark (a Burmese vowel) is beside it, not on it."""
    most = stacked = 0
    for char in text:
        category = unicodedata.category(char)
        if category in {"Mn", "Me"}:
            stacked += 1
            most = max(most, stacked)
        elif category != "Mc" and char not in JOINERS:
            stacked = 0
    return most


def _longest_sequence(text: str) -> int:
    """Return the largest number of combining characters in a row."""
    most = run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        most = max(most, run)
    return most


def _visible(text: str) -> str:
    """Return one pass of `clean_line` over a line."""
    return " ".join(_shown(text).split())


def _shown(text: str, kept_blanks: str = "") -> str:
    """Return the characters that show; blanks are spaces, except those that are kept."""
    kept: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        if char in kept_blanks:
            kept.append(char)
        elif char.isspace() or char == BRAILLE_BLANK:
            kept.append(" ")
        elif char in JOINERS or not (is_unseen(char) or _lacks_its_base(char, kept)):
            kept.append(char)
    return _JOINER_RUN.sub(_needed_joiner, "".join(kept))


def _lacks_its_base(char: str, before: list[str]) -> bool:
    """Return whether a non-spacing mark has nothing to sit on, or a variation selector follows another."""
    if unicodedata.category(char) not in {"Mn", "Me"}:
        return False
    if not before or before[-1].isspace():
        return True
    return is_variation_selector(char) and is_variation_selector(before[-1])


def _needed_joiner(run: re.Match[str]) -> str:
    """Return the first joiner of the run if the characters on both sides use it, else nothing."""
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    joiner = run[0][0]
    if before and after:
        if _shapes(before) and _shapes(after):
            return joiner
        if joiner == _ZWJ and (_pictures(before) or before == "\ufe0f") and _pictures(after):
            return joiner
    return ""


def _shapes(char: str) -> bool:
    return bool(_JOINING_SCRIPT.match(char)) and unicodedata.category(char)[0] in "LM"


def _pictures(char: str) -> bool:
    """Return whether it can be a part of a joined emoji; skin colours and the arrow of a shaken head included."""
    return "\U0001f000" <= char <= "\U0001faff" or unicodedata.category(char) == "So" or char == "↔"

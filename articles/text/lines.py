"""Lines and texts that people write: cleaned so that they show as written and hide nothing, or refused."""

import re
from functools import partial

from articles.text import characters
from articles.text.messages import english_sentence

TITLE_LIMIT = 300  # code points
TEXT_LIMIT = 20_000
GROUP_DESCRIPTION_LIMIT = 2_000
REASON_LIMIT = 500
APPEAL_LIMIT = 2000
NOTE_LIMIT = 2000
NOTICE_LIMIT = 5000
ABOUT_LIMIT = 500
GROUP_TITLE_LIMIT = 60
TOKEN_NAME_LIMIT = 50

# Longer than this many times the limit is refused unread: no cleaning would save it.
UNREAD_FACTOR = 4

# The signs of a text that need no cleaning.
_PLAIN_TEXT = re.compile(r"[ -~\n]*")

_EMPTY_LINES = re.compile(rf"\A(?:[\t{characters.SPACES}]*\n)+")
_LINE_BREAKS = ("\r\n", *"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


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


def clean_line(raw: str, *, limit: int, field: str) -> str:
    """Return one line of 1 to `limit` visible code points, in NFC, with single spaces.

    Takes out what cannot be seen or reorders the text: controls, bidi controls, zero-width, private and
    unassigned characters. A joiner stays where an emoji or a script needs it; markup is text like any other.
    Cleaning it again changes nothing. `field` begins the code of a refusal.
    Raises InvalidInput with "<field>-long", "-encoding", "-empty" or "-marks".
    """
    visible_line = _visible(_readable(raw, limit, field), UNREAD_FACTOR * limit, field)
    line = _filled(" ".join(visible_line.replace(characters.BRAILLE_BLANK, " ").split()), field)
    if len(line) > limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(line))
    return line


def clean_lines(raw: str, *, limit: int, field: str) -> str:
    """Return a text of at most `limit` code points, cleaned as `clean_line` does, but with its lines and indents.

    Line breaks are "\\n"; empty lines at both ends and blanks at the end are taken out; other spaces stay as they
    are. What is then left must not exceed the limit before the cleaning either, which so takes milliseconds.
    Cleaning it again changes nothing. Raises InvalidInput with "<field>-long", "-encoding" or "-marks".
    """
    text = _readable(raw, limit, field)
    for line_break in _LINE_BREAKS:
        text = text.replace(line_break, "\n")
    text = _trimmed(text)
    if len(text) <= limit:
        text = _trimmed(_visible(text, limit, field))
    if len(text) > limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(text))
    return text


def clean_filled_lines(raw: str, *, limit: int, field: str, name: str) -> str:
    """Return the same, at least one code point. Raises InvalidInput, also with "<name>-empty"."""
    return _filled(clean_lines(raw, limit=limit, field=field), name)


clean_title = partial(clean_line, limit=TITLE_LIMIT, field="title")
clean_reason = partial(clean_line, limit=REASON_LIMIT, field="reason")  # of moderators; everyone can read it
clean_group_title = partial(clean_line, limit=GROUP_TITLE_LIMIT, field="group-title")
clean_token_name = partial(clean_line, limit=TOKEN_NAME_LIMIT, field="token-name")

clean_text = partial(clean_lines, limit=TEXT_LIMIT, field="text")
clean_group_description = partial(clean_lines, limit=GROUP_DESCRIPTION_LIMIT, field="group-description")
clean_about = partial(clean_lines, limit=ABOUT_LIMIT, field="text")  # what members write about themselves
clean_facts = partial(clean_lines, limit=NOTE_LIMIT, field="text")  # those of a decision of moderators
clean_comment = partial(clean_filled_lines, limit=TEXT_LIMIT, field="comment", name="comment")
clean_appeal = partial(clean_filled_lines, limit=APPEAL_LIMIT, field="text", name="appeal")
clean_note = partial(clean_filled_lines, limit=NOTE_LIMIT, field="text", name="note")
clean_notice = partial(clean_filled_lines, limit=NOTICE_LIMIT, field="text", name="notice")
"""The explanation of a legal notice."""


def clean_optional_line(raw: str, *, limit: int) -> str:
    """Return a line, which may be empty. Raises InvalidInput ("text-…")."""
    return " ".join(clean_lines(raw, limit=limit, field="text").split())


def clean_cited(raw: str) -> str:
    """Return the rule or law of a decision, of 1 to 500 code points. Raises InvalidInput ("cited-empty")."""
    return _filled(clean_optional_line(raw, limit=REASON_LIMIT), "cited")


def _readable(raw: str, limit: int, field: str) -> str:
    """Return the text. Raises InvalidInput for one that is far too long, or has surrogates."""
    if len(raw) > UNREAD_FACTOR * limit:
        raise InvalidInput(f"{field}-long", limit=limit, length=len(raw))
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{field}-encoding") from None
    return raw


def _filled(text: str, field: str) -> str:
    """Return the text. Raises InvalidInput ("<field>-empty") for an empty one."""
    if not text:
        raise InvalidInput(f"{field}-empty")
    return text


def _visible(text: str, most: int, field: str) -> str:
    """Return what shows of a text. Raises InvalidInput with "<field>-marks"."""
    try:
        return text if _PLAIN_TEXT.fullmatch(text) else characters.visible(text, most=most)
    except characters.TooManyMarksError:
        raise InvalidInput(f"{field}-marks", limit=characters.MARKS_LIMIT) from None


def _trimmed(text: str) -> str:
    """Return the text without empty lines at both ends, and blanks at its end."""
    return _EMPTY_LINES.sub("", text.rstrip(characters.WHITE_SPACE + characters.BRAILLE_BLANK))


_SHAPED = rf"(?=[{characters.JOINING_SCRIPTS}])[\p{{L}}\p{{M}}]"
_PICTURE = rf"[{characters.PICTURES}\p{{So}}↔]"
_ZWJ = characters.JOINERS[-1]
_SHOWN = f"{characters.JOINERS}{characters.VISIBLE_FORMATS}{characters.RESERVED}"

STEPS: tuple[tuple[str, str], ...] = (
    # White space as in Python's `str.isspace`: JavaScript includes the byte order mark, but not the separators.
    (rf"(?!\ufeff)[\s{characters.BRAILLE_BLANK}\x1c-\x1f\x85]", " "),
    (
        rf"(?![{characters.JOINERS}{characters.VISIBLE_FORMATS}{characters.RESERVED}])\p{{C}}|[{characters.FILLERS}]",
        "",
    ),
    (r"(^| )[\p{Mn}\p{Me}]+", "$1"),
    (rf"([{characters.VARIATION_SELECTORS}])[{characters.VARIATION_SELECTORS}]+", "$1"),
    (
        rf"((?<={_SHAPED})[{characters.JOINERS}])[{characters.JOINERS}]*(?={_SHAPED})"
        rf"|((?<={_PICTURE}|\ufe0f){_ZWJ})[{characters.JOINERS}]*(?={_PICTURE})|[{characters.JOINERS}]+",
        "$1$2",
    ),
    (r"^ +| +$| +(?= )", ""),
)
"""Patterns, for the flags "gu", each with the replacement of its matches."""

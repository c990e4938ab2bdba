"""Names of groups, as they stand in addresses and in the names of Redis keys."""

import re
import unicodedata

from articles.domain.errors import GroupNotFound
from articles.text.lines import (
    MARKS_LIMIT,
    TITLE_LIMIT,
    InvalidInput,
    is_unseen,
    is_variation_selector,
    stacked_marks,
    until_stable,
)

SLUG_LIMIT = 30  # code points

SLUGS_PER_REQUEST = 50
"""Group names that one form or one request of the API may name: more than any article or list has."""

# Longer than this many times the limit is refused unread.
_UNREAD_FACTOR = 4

# `+` separates groups in an address (/groups/python+redis/) and `#` ends it, so the names of languages
# are spelled as their own communities do: cpp, csharp. A group's title keeps the sign.
_PLUS_PLUS = re.compile(r"(?<=[^\W_])\+\+(?!\+)")
_SHARP = re.compile(r"(?<=[^\W\d_])[#♯](?![^\W_]|[#♯])")

# Between names; but not the two signs of "c++".
_BETWEEN = re.compile(r"\s+|(?<!\+)\+(?!\+)|(?<=\+\+)\+")

# In terms of `_shape`.
_FORM = re.compile("a[am]*(?:-a[am]*)*")

_APOSTROPHES = re.compile("['’]")


def clean_slug(raw: str) -> str:
    """A group's name of 1 to 30 letters and digits, with single `-` or `_` between them.

    Letters and digits of every script, with their marks; the same name however it is typed (NFKC, case
    folded). "C++" is "cpp", "C#" is "csharp"; nothing else is mended, and cleaning it again changes nothing.
    Raises InvalidInput with "slug-form" or "slug-long".
    """
    if len(raw) > _UNREAD_FACTOR * SLUG_LIMIT:
        raise InvalidInput("slug-long", limit=SLUG_LIMIT, length=len(raw))
    slug = until_stable(_spelled, raw)
    if not _FORM.fullmatch(_shape(slug)) or stacked_marks(slug) > MARKS_LIMIT:
        raise InvalidInput("slug-form")
    if len(slug) > SLUG_LIMIT:
        raise InvalidInput("slug-long", limit=SLUG_LIMIT, length=len(slug))
    return slug


def slugs_between(text: str, *, at_most: int) -> tuple[str, ...]:
    """The names in a text like `python+redis`, sorted, each once; a space counts as a plus.

    Raises InvalidInput, with "slug-form" also for none or too many.
    """
    try:
        return (clean_slug(text),)
    except InvalidInput:
        parts = [part for part in _BETWEEN.split(text[: at_most * _UNREAD_FACTOR * SLUG_LIMIT]) if part]
    slugs = tuple(sorted({clean_slug(part) for part in parts}))
    if not 0 < len(slugs) <= at_most:
        raise InvalidInput("slug-form")
    return slugs


def slug_asked_for(name: str) -> str:
    """The slug of the group that is asked for, however it is typed. Raises GroupNotFound for what can be none."""
    try:
        return clean_slug(name)
    except InvalidInput as refused:
        raise GroupNotFound(name) from refused


def slugs_asked_for(names: str, *, at_most: int) -> tuple[str, ...]:
    """The same of several between pluses."""
    try:
        return slugs_between(names, at_most=at_most)
    except InvalidInput as refused:
        raise GroupNotFound(names) from refused


def slug_from_title(title: str) -> str:
    """A name for a group with this title, of as many words as fit; "" when it has no letter or digit.

    "Machine Learning" gives "machine-learning".
    """
    text = _APOSTROPHES.sub("", until_stable(_spelled, title[:TITLE_LIMIT]))
    words = "".join(char if _kind(char) in "am" else " " for char in text).split()
    proposal = ""
    for word in words:
        longer = f"{proposal}-{word}" if proposal else word[:SLUG_LIMIT]
        if len(longer) > SLUG_LIMIT:
            break
        proposal = longer
    try:
        return clean_slug(proposal)
    except InvalidInput:
        return ""


def _spelled(text: str) -> str:
    """One pass of folding and of spelling signs out."""
    folded = unicodedata.normalize("NFKC", text.casefold()).strip()
    return _SHARP.sub("sharp", _PLUS_PLUS.sub("pp", folded))


def _shape(text: str) -> str:
    """The kind of each character: a letter or digit, m mark, - hyphen or underscore, x anything else."""
    return "".join(_kind(char) for char in text)


def _kind(char: str) -> str:
    if char in "-_":
        return "-"
    if is_unseen(char):
        return "x"
    category = unicodedata.category(char)
    if category in {"Mn", "Mc"}:
        return "x" if is_variation_selector(char) else "m"
    return "a" if category[0] == "L" or category == "Nd" else "x"

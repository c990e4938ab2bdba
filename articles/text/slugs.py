"""Slugs: the names of groups in URLs and in Redis keys."""

import re
import unicodedata

from articles.domain.errors import GroupNotFound
from articles.text.characters import has_stacked_marks, is_unseen, is_variation_selector
from articles.text.lines import TITLE_LIMIT, InvalidInput

SLUG_LIMIT = 30  # code points

SLUGS_PER_REQUEST = 50
"""Limit on the slugs in one form or one request of the API: more than any article or list has."""

# Text longer than this many times the limit is refused without parsing.
_UNREAD_FACTOR = 4

# `+` separates groups in a URL (/groups/python+redis/) and `#` starts its fragment, so the names of languages
# are spelled as their communities do: cpp, csharp. A group's title keeps the sign.
_PLUS_PLUS = re.compile(r"(?<=[^\W_])\+\+(?!\+)")
_SHARP = re.compile(r"(?<=[^\W\d_])[#♯](?![^\W_]|[#♯])")

# Separates slugs, but not the two signs of "c++".
_BETWEEN = re.compile(r"\s+|(?<!\+)\+(?!\+)|(?<=\+\+)\+")

# Valid slugs, as characters of `_shape`.
_FORM = re.compile("a[am]*(?:-a[am]*)*")

_APOSTROPHES = re.compile("['’]")


def clean_slug(raw: str) -> str:
    """Return a slug of 1 to 30 letters and digits, with single `-` or `_` between them. Idempotent.

    Accepts letters and digits of every script, with their marks, and normalises them (NFKC, case folded). "C++"
    becomes "cpp", "C#" "csharp"; nothing else is repaired. Raises InvalidInput with "slug-form" or "slug-long".
    """
    if len(raw) > _UNREAD_FACTOR * SLUG_LIMIT:
        raise InvalidInput("slug-long", limit=SLUG_LIMIT, length=len(raw))
    slug = _spelled(raw)
    if not _FORM.fullmatch(_shape(slug)) or has_stacked_marks(slug):
        raise InvalidInput("slug-form")
    if len(slug) > SLUG_LIMIT:
        raise InvalidInput("slug-long", limit=SLUG_LIMIT, length=len(slug))
    return slug


def slugs_between(text: str, *, at_most: int) -> tuple[str, ...]:
    """Return the slugs in a text like `python+redis`, sorted and distinct; a space counts as a plus.

    Raises InvalidInput, including with "slug-form" if there are none, or more than `at_most`.
    """
    try:
        return (clean_slug(text),)
    except InvalidInput:
        parts = [part for part in _BETWEEN.split(text[: at_most * _UNREAD_FACTOR * SLUG_LIMIT]) if part]
    slugs = tuple(sorted({clean_slug(part) for part in parts}))
    if not 0 < len(slugs) <= at_most:
        raise InvalidInput("slug-form")
    return slugs


def requested_slug(name: str) -> str:
    """Return the slug of a requested group. Raises GroupNotFound for a name that no group can have."""
    try:
        return clean_slug(name)
    except InvalidInput as error:
        raise GroupNotFound(name) from error


def requested_slugs(names: str, *, at_most: int) -> tuple[str, ...]:
    """Return the slugs of several requested groups, separated by pluses. Raises GroupNotFound."""
    try:
        return slugs_between(names, at_most=at_most)
    except InvalidInput as error:
        raise GroupNotFound(names) from error


def slug_from_title(title: str) -> str:
    """Propose a slug for a group's title, of as many words as fit; "" for a title without letters and digits.

    "Machine Learning" becomes "machine-learning".
    """
    text = _APOSTROPHES.sub("", _spelled(title[:TITLE_LIMIT]))
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
    """Fold the text as often as that changes it, and spell out the signs of language names."""
    folded = unicodedata.normalize("NFKC", text.casefold()).strip()
    spelled = _SHARP.sub("sharp", _PLUS_PLUS.sub("pp", folded))
    return spelled if spelled == text else _spelled(spelled)


def _shape(text: str) -> str:
    """Return the kind of each character: a (letter, digit), m (mark), - (hyphen, underscore), x (any other)."""
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

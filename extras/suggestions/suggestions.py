"""Suggestions: members propose another title or other groups of an article."""

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple

from articles.domain.errors import ActionRefused
from articles.domain.members import UserId

SUGGESTION_SECONDS = 7 * 86400
"""Time for which a suggestion is open. One that was applied or declined cannot be made again for as long."""

MOST_SUGGESTIONS = 5  # open suggestions of one article


class OwnArticle(ActionRefused, http=403, code="own-article", status="own_article"):
    """Members cannot suggest changes of what they posted."""


class NotTrustedYet(ActionRefused, http=403, code="not-trusted-yet"):
    """New members cannot suggest changes."""


class SuggestionNotFound(ActionRefused, http=404, code="suggestion-not-found", status="no_suggestion"):
    """The article has no such open suggestion."""


class SuggestionClosed(ActionRefused, code="suggestion-closed", status="suggestion_closed"):
    """The suggestion was applied or declined not long ago."""


class SuggestionUnchanged(ActionRefused, code="suggestion-unchanged", status="no_change"):
    """The article has this title, or these groups, already."""


class SuggestionsFull(ActionRefused, code="suggestions-full", status="suggestions_full"):
    """The article has the maximum number of open suggestions."""


class SuggestionKind(StrEnum):
    """What a suggestion changes."""

    TITLE = "title"
    GROUPS = "groups"


class Suggestion(NamedTuple):
    """An open suggestion. `at` in Unix seconds."""

    id: str
    kind: SuggestionKind
    was: str
    """The title when it was made, or the groups as `joined_slugs` returns them: once these change, it is void."""

    to: str  # the suggested title, or the suggested groups, likewise
    at: float
    by: frozenset[UserId]  # who supports it

    @property
    def groups(self) -> tuple[str, ...]:
        """The slugs of the suggested groups."""
        return tuple(self.to.split(",")) if self.to and self.kind is SuggestionKind.GROUPS else ()


def joined_slugs(slugs: Iterable[str]) -> str:
    """Return groups as suggestions compare them: separated by commas, each once, in order."""
    return ",".join(sorted(set(slugs), key=str.encode))


def suggestion_id(kind: SuggestionKind, to: str) -> str:
    """Return the id of a suggestion, 16 hexadecimal digits: two that suggest the same are one."""
    return blake2b(f"{kind.value}\0{to}".encode(), digest_size=8).hexdigest()


def open_suggestions(text: str | None, title: str, groups: Iterable[str], now: float) -> Iterator[Suggestion]:
    """Yield the open suggestions in a field of an article with this title and these groups; none if damaged."""
    current = {SuggestionKind.TITLE: title, SuggestionKind.GROUPS: joined_slugs(groups)}
    for one in _read(text):
        if one.was == current[one.kind] and now - one.at <= SUGGESTION_SECONDS:
            yield one


def _read(text: str | None) -> Iterator[Suggestion]:
    """Yield the suggestions in a field that are neither closed nor damaged."""
    try:
        entries: list[dict[str, Any]] = json.loads(text or "[]")
        for one in entries:
            if "by" in one:
                kind, by = SuggestionKind(one["kind"]), frozenset(map(int, one["by"]))
                yield Suggestion(str(one["id"]), kind, str(one["was"]), str(one["to"]), float(one["at"]), by)
    except (ValueError, KeyError, TypeError, RecursionError):
        return

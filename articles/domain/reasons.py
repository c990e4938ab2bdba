"""Reasons that the site gives itself: kept as codes, read as English by programs, shown in the reader's language.

Typed reasons stay as they were typed. A code begins with a space, or is an English sentence that earlier versions
kept: `clean_reason` returns no text that begins with a space.
"""

from collections.abc import Callable
from typing import ClassVar

from articles.domain.flags import FLAGGED_REASON, FlagReason
from articles.domain.moderation_log import REDACTED


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Mark a text for the catalogue, without translating it."""
    return text


AFTER_APPEAL = " appeal"
BY_RULE = " rule"
VOTES_PER_DAY = "VOTES_PER_DAY was changed in the configuration."

FLAG_REASONS = {
    FlagReason.SPAM: N_("Spam"),
    FlagReason.OFF_TOPIC: N_("Off-topic"),
    FlagReason.BROKEN_LINK: N_("Broken link"),
    FlagReason.AGAINST_RULES: N_("Against the rules"),
    FlagReason.WITHDRAWAL: N_("At the request of its poster"),
}


def usual(reason: FlagReason) -> str:
    """Return the code of a removal for the reason of a flag."""
    return f" {reason.value}"


_ENGLISH = {usual(reason): text for reason, text in FLAG_REASONS.items()} | {
    REDACTED: N_("[redacted]"),
    FLAGGED_REASON: N_("Flagged by many members."),
    AFTER_APPEAL: N_("After an appeal."),
    BY_RULE: N_("An automatic rule applied."),
    VOTES_PER_DAY: N_("VOTES_PER_DAY was changed in the configuration."),
}


class OwnText(str):
    """A text of the site's own, in English. Templates draw it in the reader's language."""

    __slots__ = ()
    drawn: ClassVar[Callable[[str], str]] = staticmethod(str)
    """Returns the text as HTML: see `articles.formatting.values`."""

    def __html__(self) -> str:
        return type(self).drawn(self)


def recorded(text: str) -> str:
    """Return a text of the store or of the accounts database; one of the site's own as such."""
    return text if (own := _ENGLISH.get(text)) is None else OwnText(own)

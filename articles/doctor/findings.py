"""What a check finds."""

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How much a finding matters. ERROR: something does not work, or data is at risk; WARNING: it soon may be."""

    FINE = 0
    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def needs_attention(self) -> bool:
        return self >= Level.WARNING


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence or more, and what to do; names, values and commands are between backticks.

    `detail`: what another program says about it, in English.
    """

    level: Level
    text: str
    advice: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A finding with its section of the report and the name of its check, which never change."""

    section: str
    check: str
    finding: Finding


def fine(text: str) -> Finding:
    return Finding(Level.FINE, text)


def note(text: str, advice: str = "", detail: str = "") -> Finding:
    return Finding(Level.NOTE, text, advice, detail)


def warning(text: str, advice: str = "", detail: str = "") -> Finding:
    return Finding(Level.WARNING, text, advice, detail)


def error(text: str, advice: str = "", detail: str = "") -> Finding:
    return Finding(Level.ERROR, text, advice, detail)


def reason_of(failure: Exception) -> str:
    """Return an error's message on one line."""
    return " ".join(str(failure).split()) or type(failure).__name__

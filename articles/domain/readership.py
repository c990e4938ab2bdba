"""Views of articles and the visitors behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class Suspicion(StrEnum):
    """Why a view counts apart and ranks nothing."""

    BOT = "bot"
    PREFETCH = "prefetch"
    BURST = "burst"


REPEAT = "repeat"
"""Why a view does not count although nothing is wrong with it: its visitor's last one was just now."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks for an article: digests of 16 hex digits. A network that is empty is not limited."""

    visitor: str
    network: str = ""
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class ViewCount:
    """What became of a view, and the article's numbers after it. `reason` is None if it counted."""

    reason: str | None
    pv: int
    uv: int
    hotness: float

    @property
    def counted(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class DayViews:
    """Views of one day (UTC): those that count, visitors who had not come before, suspect ones by reason."""

    day: date
    counted: int = 0
    visitors: int = 0
    suspects: Mapping[str, int] = field(default_factory=dict)

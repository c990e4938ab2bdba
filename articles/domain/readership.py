"""Views of articles and the visitors behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class Suspicion(StrEnum):
    """Why a view is suspect: counted separately, without effect on ranking."""

    BOT = "bot"
    PREFETCH = "prefetch"
    BURST = "burst"


REPEAT = "repeat"  # why a view that is not suspect does not count: its visitor's last view was too recent


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for an article: digests of 16 hex digits. An empty network is not limited."""

    visitor: str
    network: str = ""
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class ViewCount:
    """The outcome of a view, and the article's numbers after it. `reason` is None if it counted."""

    reason: str | None
    pv: int
    uv: int
    hotness: float
    visited_at: float | None = None
    """When the member's visit before this one ended, in Unix seconds; None on the first, and for other readers."""

    @property
    def counted(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class DayViews:
    """Views of one day (UTC): counted ones, new visitors, and suspect ones by reason."""

    day: date
    counted: int = 0
    visitors: int = 0
    suspects: Mapping[str, int] = field(default_factory=dict)

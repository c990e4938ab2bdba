"""The public texts of days, of the chain and of months: what the README specifies beside ballot records."""

from collections.abc import Iterable, Mapping

from articles.domain.articles import ArticleId
from articles.domain.ballots import FORMAT, canonical


def day_text(
    previous: str, day: str, records: Iterable[tuple[ArticleId, int, str]], reports: Iterable[tuple[str, str]]
) -> str:
    """Return the file of a day of the chain, whose hash is the day's.

    `previous`: hash of the day before; `records`: article, version and digest; `reports`: month and digest.
    """
    return canonical(
        {
            "day": day,
            "format": FORMAT,
            "kind": "day",
            "previous": previous,
            "records": sorted(records),
            "reports": sorted(reports),
        }
    )


def chain_text(days: Iterable[tuple[str, str]]) -> str:
    """Return the list of all days, each with its hash."""
    return canonical({"days": list(days), "format": FORMAT, "kind": "chain"})


def month_text(month: str, figures: Mapping[str, int | str]) -> str:
    """Return the report of a month, of which the chain has the hash."""
    return canonical({"figures": figures, "format": FORMAT, "kind": "month", "month": month})

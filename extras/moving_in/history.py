"""What comes with another site of this software besides its things: addresses of sites before it, and its log."""

from collections.abc import Callable, Iterable

from django.utils import timezone

from articles.repository import portions
from extras.moving_in.models import Arrival, Kind, Source
from extras.moving_in.staging import Staging

_PER_QUERY = 500

Arrived = Callable[[Kind, Iterable[object]], dict[str, str]]  # returns the new ids of those that came, by old id


def enter_former(source: Source, staging: Staging, arrived: Arrived) -> None:
    """Let addresses of sites that had moved to the source lead here, as those of sources of their own."""
    waiting, now = staging.rows("former", order="ORDER BY source, kind, old_id"), timezone.now()
    for rows in portions(waiting, _PER_QUERY):
        things = [
            tuple(row["id"].split(" ", 1)) if row["kind"] == Kind.PATH else (row["kind"], row["id"])
            for row in rows
        ]
        came = {
            (kind, old): new
            for kind in Kind
            for old, new in arrived(kind, [old for one, *ids in things if one == kind for old in ids]).items()
        }
        sites = dict[str, Source]()
        for row in rows:
            known = {"format": row["format"] or "", "host": row["host"] or "", "completed_at": now}
            name = f"{source.name}/{row['source']}"[:60]
            sites[row["source"]], _ = Source.objects.get_or_create(name=name, defaults=known)
        arrivals = (
            Arrival(
                source=sites[row["source"]], kind=row["kind"], old_id=row["old_id"],
                new_id=f"{thing[0]} {came[thing]}" if row["kind"] == Kind.PATH else came[thing],
            )
            for row, thing in zip(rows, things, strict=True) if thing in came
        )  # fmt: skip
        Arrival.objects.bulk_create(arrivals, ignore_conflicts=True)

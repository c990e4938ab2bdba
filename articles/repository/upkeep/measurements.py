"""What the web server has counted in the last 24 hours, every five minutes, for the operator's charts."""

import json
from collections.abc import Callable
from dataclasses import asdict

from articles.domain.measurements import AHEAD, EVERY, KEPT, Measurement, WebCounts, measured
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore


class Measurements(OfStore):
    def record(self, read_web: Callable[[], WebCounts | None]) -> bool:
        """Record what the web server has counted at the last full five minutes; return whether it did.

        `read_web` returns the counts, None if no web server runs on this machine; called only if a reading is due.
        Idempotent, for the holder of the lease. One round trip if nothing is due, else two.
        """
        now = self._store.now()
        moment = int(now // EVERY) * EVERY
        with self._store.commands() as client:
            fields = client.hkeys(names.MEASUREMENTS)
        if any(moment <= int(field) <= moment + AHEAD for field in fields if field.isdecimal()):
            return False
        counts = read_web()
        if counts is None:
            return False
        expired = [field for field in fields if not _is_kept(field, moment)]
        with self._store.pipeline() as pipe:
            pipe.hset(names.MEASUREMENTS, str(moment), json.dumps(asdict(counts), separators=(",", ":")))
            if expired:
                pipe.hdel(names.MEASUREMENTS, *expired)
            pipe.expire(names.MEASUREMENTS, KEPT)
            pipe.execute()
        return True

    def list_recent(self) -> list[Measurement]:
        """Return the measurements of the last 24 hours, oldest first. One round trip."""
        now = self._store.now()
        with self._store.commands() as client:
            texts = client.hgetall(names.MEASUREMENTS)
        readings = ((int(field), _parsed(text)) for field, text in texts.items() if _is_kept(field, now))
        return measured(sorted((at, counts) for at, counts in readings if counts))


def _is_kept(field: str, now: float) -> bool:
    return field.isdecimal() and now - KEPT < int(field) <= now + AHEAD


def _parsed(text: str) -> WebCounts | None:
    """Return a reading from its record; None if it is damaged, or of an earlier version."""
    try:
        record = json.loads(text)
        within = {bound: int(count) for bound, count in record["within"].items() if float(bound) >= 0}
        votes, views, errors = (int(record[name]) for name in ("votes", "views", "errors"))
        return WebCounts(float(record["began"]), votes, views, errors, within)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None

"""Verifying: what `verify_ballots.py` finds of all records of this site. Reads only."""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from accounts.models import BallotRecord
from articles.repository import Repository
from extras.integrity.models import ChainDay, MonthReport, chain_file
from extras.integrity.months import months_table
from extras.integrity.verify_ballots import WAITS, Seen, check_site

Progress = Callable[[int, int], None]  # receives the number of records done so far, and of all


def verify(
    repository: Repository, progress: Progress, seen: Seen | None = None, waits: Iterable[float] = WAITS
) -> Iterator[str]:
    """Yield what is wrong with records, chain and reports. Raises StoreError, DatabaseError."""
    files = _Files(repository, progress, BallotRecord.objects.count())
    numbers = BallotRecord.objects.values_list("article_id", flat=True).distinct()
    today = datetime.fromtimestamp(repository.store.now(), UTC).date()
    return check_site(files.read, also=numbers, waits=waits, today=today, seen=seen)


@dataclass
class _Files:
    """The public files as a reader who may see every article gets them."""

    repository: Repository
    progress: Progress
    total: int
    done: int = 0

    def read(self, path: str, most_bytes: int) -> bytes | None:  # noqa: ARG002
        """Return a file; None if there is none."""
        if path == "/integrity/chain.json":
            return chain_file().encode()
        if path == "/integrity/months.csv":
            return months_table().encode()
        if match := re.fullmatch(r"/articles/(\d+)/ballots\.json(?:\?version=(\d+))?", path):
            return self._record(int(match[1]), match[2])
        if path.startswith("/api/"):
            return self._article(int(path.rpartition("/")[2]))
        name = path.removeprefix("/integrity/").removesuffix(".json")
        if len(name) == len("2026-11"):
            row: MonthReport | ChainDay | None = MonthReport.objects.filter(month=f"{name}-01").first()
        else:
            row = ChainDay.objects.filter(day=name).first()
        return row.text.encode() if row else None

    def _record(self, article: int, version: str | None) -> bytes | None:
        rows = BallotRecord.objects.filter(article_id=article)
        if version is not None:
            rows = rows.filter(version=int(version))
            self.done += 1
            self.progress(min(self.done, self.total), self.total)
        row = rows.order_by("-version").first()
        return gzip.decompress(row.packed_file()) if row else None

    def _article(self, number: int) -> bytes | None:
        for found in self.repository.articles.get_many([number]):
            says = {"id": found.id, "votes": found.votes, "opposes": found.opposes}
            return json.dumps(says | {"merged_into": found.merged_into}).encode()
        return None

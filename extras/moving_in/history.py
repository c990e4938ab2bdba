"""What comes with another site of this software besides its things: addresses of sites before it, and its log."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from articles.domain.comments import article_of
from articles.domain.members import DELETED_NAME
from articles.repository import Repository, portions
from extras.moving_in.models import Arrival, Kind, Source
from extras.moving_in.staging import Staging
from extras.moving_in.store import Facts, MovedLog

_PER_QUERY = 500
_ACTION = re.compile("[a-z-]{1,40}")

Arrived = Callable[[Kind, Iterable[object]], dict[str, str]]  # returns the new ids of those that came, by old id


def enter_former(source: Source, staging: Staging, arrived: Arrived) -> None:
    """Let addresses of sites that had moved to the source lead here, as those of sources of their own."""
    waiting, sites = staging.rows("former", order="ORDER BY source, kind, old_id"), dict[str, Source]()
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
        for row in rows:
            if row["source"] not in sites:
                facts = {"format": (row["format"] or "")[:20], "host": (row["host"] or "")[:253]}
                facts |= {"completed_at": timezone.now()}
                name = f"{source.name}/{row['source']}"[:60]
                sites[row["source"]], _ = Source.objects.get_or_create(name=name, defaults=facts)
        arrivals = (
            Arrival(
                source=sites[row["source"]], kind=row["kind"], old_id=row["old_id"],
                new_id=f"{thing[0]} {came[thing]}" if row["kind"] == Kind.PATH else came[thing],
            )
            for row, thing in zip(rows, things, strict=True) if thing in came
        )  # fmt: skip
        Arrival.objects.bulk_create(arrivals, ignore_conflicts=True)


@dataclass
class Log:
    """The moderation log of a source, which comes into one without other entries about articles."""

    repository: Repository
    source: Source
    staging: Staging
    report: Any
    arrived: Arrived
    accounts: Callable[[Iterable[object]], Mapping[str, Any]]

    def __post_init__(self) -> None:
        self._store = MovedLog(self.repository.store)

    def enter(self) -> None:
        """Add what did not come yet, the oldest first. A round trip for each batch of each part."""
        if not self.staging.count("log"):
            return
        parts = self._store.get_newest()
        came, done = Counter[int](), Counter[int]()
        for part, entry in self._entries() if any(length for length, _ in parts) else ():
            done[part] += 1
            length, newest = parts[part]
            if 0 <= (above := length - done[part]) < len(newest) and _is_same(newest[above], entry):
                came[part] = done[part]
        is_free = all(_is_free(length - came[part], newest) for part, (length, newest) in enumerate(parts))
        if not is_free or not self._append(came):
            reason = "the one here has other entries: what did not come before stays behind"
            self.report.note("log", reason, f"{self.staging.count('log')} entries")

    def _append(self, came: Counter[int]) -> bool:
        """Add the entries after these; return whether nothing about articles was added here meanwhile."""
        done = Counter[int]()
        for some in portions(self._entries(self.report.note), _PER_QUERY):
            for part in {part: None for part, _entry in some}:
                own = [entry for of, entry in some if of == part]
                fresh = own[came[part] - done[part] :]
                if fresh and not self._store.append(part, came[part], fresh):
                    return False
                done[part] += len(own)
                came[part] += len(fresh)
                self.source.log_entries = [came[number] for number in range(self._store.count)]
                self.source.save(update_fields=["log_entries"])
                self.report.come["log entries"] += len(fresh)
                self.report.present["log entries"] += len(own) - len(fresh)
        return True

    def _entries(
        self, note: Callable[[str, str, object], object] = lambda *_: None
    ) -> Iterator[tuple[int, Facts]]:
        """Yield the entries with the parts of the log in which they are here, the oldest first."""
        for rows in portions(self.staging.rows("log", order="ORDER BY time, rowid"), _PER_QUERY):
            details = [_details(row["details"]) for row in rows]
            ids = {*(row["article"] for row in rows), *(more.get("target") for more in details)}
            articles = self.arrived(Kind.ARTICLE, ids)
            comments = self.arrived(Kind.COMMENT, {row["comment"] for row in rows})
            named = self.accounts(name for row in rows for name in (row["actor"], row["member"]))
            for row, more in zip(rows, details, strict=True):
                comment, member = comments.get(str(row["comment"]), ""), named.get(str(row["member"]))
                article = articles.get(str(row["article"]), str(article_of(int(comment))) if comment else "")
                known = {"comment": comment, "article": article, "member": member and member.name}
                if not _ACTION.fullmatch(row["action"]) or any(
                    row[one] and not here for one, here in known.items()
                ):
                    note("log", "what an entry is about is not here", row["action"])
                    continue
                if "target" in more:  # the article into which it was merged
                    more["target"] = articles.get(more["target"], "")
                actor = str(row["actor"] or "")
                if actor and not actor.startswith("*"):
                    actor = (named[actor].name if actor in named else "") or DELETED_NAME
                title = member.name if member else row["subject"] or self._title(row)
                yield self._store.part_of(int(article or 0)), (
                    row["action"], round(float(row["time"]), 3), actor, article or "0", comment, _line(title),
                    _line(row["reason"]), json.dumps(more),
                )  # fmt: skip

    def _title(self, row: Any) -> str:
        """Return the title of the article that an entry is about."""
        on = self.staging.of("comment", "id", row["comment"])
        found = self.staging.of("article", "id", row["article"] or (on[0]["article"] if on else ""))
        return str(found[0]["title"]) if found else ""


def _is_same(text: str, entry: Facts) -> bool:
    """Return whether an entry of this site's log is one of the source's."""
    here = json.loads(text)
    facts = [here[name] for name in ("action", "at", "actor", "id", "title", "reason")]
    return facts == [entry[0], f"{entry[1]:.3f}", *entry[2:4], *entry[5:7]]


def _is_free(above: int, newest: Sequence[str]) -> bool:
    """Return whether so many of the newest entries concern no article: no one refers to them by their places."""
    return above <= len(newest) and all(str(json.loads(text)["id"]) == "0" for text in newest[:above])


def _details(text: object) -> dict[str, str]:
    try:
        found = json.loads(str(text or "{}"))
    except (ValueError, RecursionError):
        return {}
    items = list(found.items())[:20] if isinstance(found, dict) else []
    return {name[:40]: value[:5000] for name, value in items if isinstance(value, str) and name != "comment"}


def _line(text: object) -> str:
    return " ".join(str(text or "").split())[:500]

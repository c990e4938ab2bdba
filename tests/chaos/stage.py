"""A running site with a crowd, the bounds of the promises, the table of a run, and what every fault ends with."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from articles.repository import Repository
from tests.chaos.crowd import KEPT, Plan
from tests.chaos.ledger import Crowd, Ledger, crowd, prepared_facts
from tests.chaos.links import CUT
from tests.rules import connect
from tests.site_process import DEADLINE, Site, store_of, variables
from tests.waiting import until
from tests.web_processes import copies
from voting_site.serving.workers.recent_pages import USABLE

SHORT = os.environ.get("CHAOS_SHORT", "") == "1"
"""The selection for CI: less of everything, and bounds that a machine at twice its load keeps."""

PATIENCE = float(os.environ.get("CHAOS_PATIENCE", "10" if SHORT else "1"))
"""How many times the promised seconds are allowed. The promises themselves hold on a quiet machine."""

ANSWER_SECONDS = 1.5 * PATIENCE
RECOVERY_SECONDS = 3.0 * PATIENCE


def scaled(whole: int, short: int) -> int:
    """Return how much of something a run does."""
    return short if SHORT else whole


@dataclass
class Row:
    """One fault. `lost` are confirmed votes; `worst` and `recovery` are in seconds, None where there is none."""

    number: int
    fault: str
    votes: int = 0
    lost: int | None = None
    worst: float | None = None
    recovery: float | None = None
    audit: str = "–"

    def __str__(self) -> str:
        figures = [
            self.votes,
            "–" if self.lost is None else self.lost,
            _seconds(self.worst),
            _seconds(self.recovery),
        ]
        votes, lost, worst, recovery = figures
        return f"| {self.number} | {self.fault} | {votes:,} | {lost} | {worst} | {recovery} | {self.audit} |"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


HEAD = (
    "| # | fault | votes acknowledged | lost | worst answer (s) | recovery (s) | audit |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)

ROWS: list[Row] = []  # of this run


MEMBERS = 200

QUIET = {"LIMITS": "off", "STORE_TIMEOUT_MS": "500"}


def prepare(data_dir: Path, articles: int, **environment: str) -> None:
    """Fill a new data directory, or the store of the environment and a new data directory."""
    subprocess.run(
        [sys.executable, "-m", "tests.chaos.prepare", str(data_dir), str(articles), str(MEMBERS)],
        cwd=settings.BASE_DIR,
        env=variables({"DATA_DIR": str(data_dir), "LOG_LEVEL": "WARNING"} | environment),
        check=True,
    )


class Stage:
    """Starts sites on copies of prepared data directories, and ends them."""

    def __init__(self, folder: Path, prepared: Callable[[str], Path], static_files: Path) -> None:
        self.folder = folder
        self._prepared = prepared
        self._static_files = static_files
        self._sites: list[Site] = []
        self._crowds = 0

    def data(self, size: str = "small", name: str = "data", parent: Path | None = None) -> Path:
        """Return a new copy of a prepared data directory."""
        target = (parent or self.folder) / name
        shutil.copytree(self._prepared(size), target)
        shutil.copytree(self._static_files, target / "static")
        return target

    def data_beside(self, articles: int, name: str = "data", **environment: str) -> Path:
        """Fill the store of this environment; return the data directory of a site beside it."""
        target = self.folder / name
        target.mkdir()
        prepare(target, articles, **environment)
        shutil.copytree(self._static_files, target / "static")
        return target

    def begin(self, data_dir: Path, *, through: Sequence[str] = (), **environment: str) -> Site:
        """Start a site without waiting for it."""
        self._sites.append(Site(data_dir, through=through, **QUIET | environment))
        return self._sites[-1]

    def start(self, data_dir: Path, *, through: Sequence[str] = (), **environment: str) -> Site:
        """Start a site; wait until it serves, and has copies of the main lists."""
        site = self.begin(data_dir, through=through, **environment)
        site.wait_until_up()
        until(lambda: site.get("/")[0] == 200 and len(copies(site)) >= 10, DEADLINE, site.told)
        return site

    def plan(self, site: Site, **changes: object) -> Plan:
        """Return the plan of a small crowd by HTTP."""
        facts = prepared_facts(site.data_dir) | {"events": "", "port": site.port, "voters": 4, "readers": 3}
        return Plan(**facts | changes)  # type: ignore[arg-type]

    @contextmanager
    def crowd(
        self, site: Site, *plans: Plan, outage: bool = False, kinds: Sequence[str] = ("vote", "read")
    ) -> Iterator[Crowd]:
        """Run these crowds, or a small one, inside the block. Wait until they act, unless in an outage.

        `kinds`: of the events that they cause.
        """
        self._crowds += 1
        events = self.folder / f"events-{self._crowds}.tsv"
        with crowd(site, events, plans or [self.plan(site)]) as running:
            if not outage:
                for kind in kinds:
                    running.wait_for(10, kind)
            yield running

    def end(self) -> None:
        for site in self._sites:
            if site.process.poll() is None:
                site.process.send_signal(signal.SIGCONT)
                site.stop()
        for site in self._sites:
            until(lambda ended=site: not ended.processes(), DEADLINE)  # type: ignore[misc]


def end_row(
    row: Row,
    site: Site,
    ledger: Ledger,
    answers: Ledger | None = None,
    refusals: Sequence[str] = (),
    within: float = RECOVERY_SECONDS,
) -> None:
    """Complete and print the row. Check what every fault promises: nothing lost, a clean audit, quick answers.

    `answers`: the ledger whose answers must be quick, if it is another one. `refusals`: statuses of votes that may
    be refused, besides 503. `within`: the promised seconds until votes are taken again.
    """
    lost = ledger.lost(store_behind(site))
    audit = site.manage("audit")
    row.votes, row.lost, row.worst = len(ledger.votes), len(lost), (answers or ledger).worst()
    row.audit = "0 findings" if audit.returncode == 0 else audit.stdout.splitlines()[-1]
    show(row)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    assert lost == []
    assert ledger.statuses("read") <= {"200", CUT}, "\n".join(unexpected(ledger, "read"))
    assert ledger.statuses("vote") <= {"200", "503", CUT, *refusals}, "\n".join(
        unexpected(ledger, "vote", "503", *refusals)
    )
    assert row.worst <= ANSWER_SECONDS, slowest(answers or ledger)
    assert row.recovery is None or row.recovery <= within, row
    assert "Traceback" not in site.told(), site.told()[-5000:]


def store_behind(site: Site) -> Repository:
    """Return the site's store, its own or the embedded one."""
    url = site.environment.get("REDIS_URL")
    shards = int(site.environment.get("STORE_SHARDS", "1"))
    return connect(url, shards=shards) if url else store_of(site)


def unexpected(ledger: Ledger, kind: str, *expected: str) -> list[str]:
    """Return the first answers of a kind whose status is neither 200 nor expected."""
    return [str(event) for event in ledger.of(kind) if event.status not in ("200", CUT, *expected)][:5]


def slowest(ledger: Ledger) -> list[str]:
    return [str(event) for event in sorted(ledger.events, key=lambda event: -event.seconds)[:5]]


def show(row: Row) -> None:
    ROWS.append(row)
    print(row, flush=True)  # noqa: T201 - the figures of the run


def kill(pid: int, number: int = signal.SIGKILL) -> float:
    """Send the signal; return the moment."""
    os.kill(pid, number)
    return time.monotonic()


def check_outage(ledger: Ledger, since: float, until: float) -> None:
    """Check that between these moments lists came as copies, and votes were refused as temporarily impossible.

    At first, lists may still be recent pages.
    """
    assert ledger.statuses("vote", since=since, until=until) == {"503"}
    reads = ledger.of("read", since=since, until=until)
    assert {event.note for event in reads if event.at - event.seconds >= since + USABLE} <= {KEPT}
    assert reads[-1].note == KEPT

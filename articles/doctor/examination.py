"""What a check of the doctor finds, and the facts that checks look at, each read once, when the first needs it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.utils.translation import gettext as _

from articles import known_store
from articles.domain.errors import StoreError
from articles.domain.store_address import ANY_SITE

if TYPE_CHECKING:  # what reads the report does not need the store
    from articles.repository import Clocks, Inspection, Repository

T = TypeVar("T")


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


fine, note = partial(Finding, Level.FINE), partial(Finding, Level.NOTE)
warning, error = partial(Finding, Level.WARNING), partial(Finding, Level.ERROR)


def reason_of(failure: Exception) -> str:
    return " ".join(str(failure).split()) or type(failure).__name__


def accounts_file() -> Path | None:
    """Return the file of the accounts database; None for a server, or a database in memory."""
    name = str(settings.DATABASES["default"]["NAME"])
    return Path(name) if connection.vendor == "sqlite" and Path(name).is_absolute() else None


def _of(read: "Callable[[Inspection], T]") -> "cached_property[T]":
    """Return an attribute of an examination that is read from the store once."""
    return cached_property(lambda examination: read(examination.repository.inspection))


class Examination:
    """One look at the installation. What the server does not permit to read is None."""

    def __init__(self, repository: "Repository") -> None:
        self.repository = repository

    # The store. All of these raise StoreError if it does not answer.

    @cached_property
    def store_outage(self) -> str:
        """Why the store does not answer; "" if it does."""
        try:
            self.latency  # noqa: B018 - reading it is the question
        except StoreError as failure:
            return reason_of(failure)
        return ""

    latency = _of(lambda store: store.measure_latency())
    overview = _of(lambda store: store.get_overview())
    denied = _of(lambda store: store.list_denied())
    sync_policy = _of(lambda store: store.get_sync_policy())
    has_snapshots = _of(lambda store: store.has_snapshots())
    nodes = _of(lambda store: store.list_nodes())
    stamp = _of(lambda store: store.get_stamp())
    shards = _of(lambda store: store.list_shards())
    steps = _of(lambda store: store.list_steps())

    @cached_property
    def misfit(self) -> str:
        return self.repository.inspection.find_misfit(self.known_site)

    @cached_property
    def clocks(self) -> "Clocks":
        return self.repository.clock.compare()

    @cached_property
    def now(self) -> float:
        return self.repository.store.now()

    @cached_property
    def hot_rescored_at(self) -> float:
        """When the hot list that has waited longest of all shards was rescored; 0 if any never was."""
        return min((shard.refreshed_at or 0.0) for shard in self.shards)

    # The accounts database.

    @cached_property
    def database_outage(self) -> str:
        """Why the database does not answer; "" if it does."""
        try:
            connection.introspection.table_names()  # SQLite answers simpler questions without reading its file
        except (DatabaseError, InterfaceError) as failure:
            return reason_of(failure)
        return ""

    @cached_property
    def database_answers(self) -> bool:
        """Whether there is a database to ask. Before the first start there is none."""
        return not self.lacks_accounts and not self.database_outage

    @cached_property
    def known_site(self) -> str | None:
        """What the accounts know of the store, as `Repository.check` takes it."""
        if self.database_outage and not self.lacks_accounts:
            return ANY_SITE
        with suppress(DatabaseError):  # no tables yet
            return None if self.lacks_accounts else known_store.known_site()
        return None

    @cached_property
    def lacks_accounts(self) -> bool:
        """Whether the file of the accounts is missing: before the first start, or because it was lost."""
        file = accounts_file()
        return file is not None and not file.exists()


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `section` and `name` identify it to monitors. A slow check never runs for a page."""

    section: str
    name: str
    look: Callable[[Examination], Iterator[Finding]]
    needs: tuple[Callable[[Examination], bool], ...] = ()
    """What has to be available. If it is not, another check reports that."""

    slow: bool = False

    def results(self, examination: Examination) -> Iterator[Result]:
        """Yield what the check finds. An error of any kind is a finding."""
        try:
            for finding in self.look(examination):
                yield Result(self.section, self.name, finding)
        except Exception as failure:
            text = _("The check “%(name)s” could not finish.") % {"name": self.name}
            detail = f"{type(failure).__name__}: {reason_of(failure)}"
            yield Result(self.section, self.name, error(text, "", detail))

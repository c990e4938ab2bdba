"""What has to be done again and again, whether or not anybody looks at the site.

Each step is bounded, about two seconds at most, and can be interrupted and repeated anywhere. A step that fails
does not keep the others from their work. A lock in the store lets one process act at a time.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone

from accounts import account_deletion
from articles.domain.errors import StoreError, StoreUnavailable
from articles.readership import archive
from articles.repository import Repository

_log = logging.getLogger(__name__)

_BUDGET = 2.0  # seconds
_LONG = 1.0  # seconds after which a step is worth a line in the log
_EARLY = 2.0  # seconds: a run that comes a little too soon may not leave the hot list for a whole round longer
_ARTICLES_ARCHIVED = 200
_ROWS_LOOKED_AT = 500
_SESSIONS_DELETED = 1000
_LONGEST_ERROR = 300  # characters


@dataclass(frozen=True, slots=True)
class StepResult:
    """One run of a step. `result`: what was done, empty if there was nothing to do; `error`: why it failed."""

    step: str
    seconds: float
    result: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """`work` does it and says what was done. What is done in every round is no news."""

    name: str
    work: Callable[[Repository], str]
    is_news: bool = True


def _tune(repository: Repository) -> str:
    """Go on with a change of the ranking."""
    if repository.parameters.get_state().applying is None:
        return ""
    repository.parameters.advance(_BUDGET)
    state = repository.parameters.get_state()
    if state.applying:
        return f"{state.applying.done} of {state.applying.total} articles scored by the next weight"
    return f"parameters of version {state.version} put in force"


def _weigh(repository: Repository) -> str:
    """Let the weight of a vote follow the site, once a day."""
    votes_per_day = repository.weights.adjust()
    return "" if votes_per_day is None else f"{_counted(votes_per_day, 'vote', 'a day')} fit the site now"


def _score(repository: Repository) -> str:
    """Rescore the hot list and trim it, unless a reader was faster."""
    return "scored anew" if repository.hot.rescore_if_stale(early_seconds=_EARLY) else ""


def _sample(repository: Repository) -> str:
    """Note the ranks of what is on top."""
    return _counted(repository.history.record(), "article", "sampled")


def _index(repository: Repository) -> str:
    """Go on indexing the articles of a store that was made before there was a search, or with other words."""
    return _counted(repository.search.catch_up(_BUDGET), "article", "indexed")


def _sweep(repository: Repository) -> str:
    """Move articles on that were put into a group while it was merged, by processes that ended there."""
    return _counted(repository.groups.finish_merges(), "article", "moved out of merged groups")


def _archive(repository: Repository) -> str:
    """Move the counters of articles nobody looks at into the database."""
    moved = archive.put_away(repository, at_most=_ARTICLES_ARCHIVED, budget=_BUDGET)
    return _counted(moved, "article", "archived")


def _trim(repository: Repository) -> str:
    """Drop what nothing else ends."""
    return _counted(repository.lease.trim({step.name for step in _STEPS}), "entry", "dropped")


def _forget(repository: Repository) -> str:
    """Let the append-only file forget who viewed what, too."""
    return "append-only file written anew" if repository.lease.rewrite_file() else ""


def _expire(repository: Repository) -> str:
    """Delete what the database holds and nobody needs any more."""
    rows = archive.sweep(repository, at_most=_ROWS_LOOKED_AT)
    ended = Session.objects.filter(expire_date__lt=timezone.now())
    keys = list(ended.values_list("pk", flat=True)[:_SESSIONS_DELETED])
    sessions, _ = Session.objects.filter(pk__in=keys).delete() if keys else (0, {})
    told = [_counted(rows, "archive row", "deleted"), _counted(sessions, "session", "deleted")]
    return ", ".join(filter(None, told))


def _see_off(_repository: Repository) -> str:
    """Go on with the deletion of accounts."""
    return _counted(account_deletion.advance_all(_BUDGET), "account", "deleted")


_STEPS = (
    _Step("weight", _weigh),
    _Step("tuning", _tune),
    _Step("hot", _score, is_news=False),
    _Step("history", _sample, is_news=False),
    _Step("words", _index),
    _Step("groups", _sweep),
    _Step("archive", _archive),
    _Step("departures", _see_off),
    _Step("trim", _trim),
    _Step("expire", _expire),
    _Step("forget", _forget, is_news=False),
)


def run(repository: Repository, stopping: Callable[[], bool] = lambda: False) -> list[StepResult]:
    """Do each step once, or as many as are done before `stopping`; nothing while another process is at it.

    Raises StoreUnavailable when the store cannot even be asked for the lock.
    """
    results: list[StepResult] = []
    with repository.lease.acquire() as lease:
        for step in _STEPS:
            if lease is None or stopping() or (results and not lease.renew()):
                break
            results.append(_do(step, repository))
    return results


def keep(
    open_repository: Callable[[], Repository],
    seconds: float,
    stopping: threading.Event,
    tell: Callable[[list[StepResult]], object] = list,
) -> None:
    """Do all steps every so many seconds, beginning now, until `stopping`. Survives whatever fails.

    `tell` is told of each round.
    """
    while not stopping.is_set():
        began = time.monotonic()
        try:
            tell(run(open_repository(), stopping.is_set))
        except StoreError as error:
            _log.warning("housekeeping is put off, for the store cannot be used: %s", error)
        except Exception:
            _log.exception("housekeeping was interrupted")
        finally:
            connections.close_all()
        stopping.wait(max(0.0, began + seconds - time.monotonic()))


def _do(step: _Step, repository: Repository) -> StepResult:
    at, began, result, error = repository.store.now(), time.perf_counter(), "", ""
    try:
        result = step.work(repository)
    except StoreError as failure:
        error = _told(failure)
        _log.error("%s failed: %s", step.name, error)
    except Exception as failure:
        error = _told(failure)
        _log.exception("%s failed", step.name)
    done = StepResult(step.name, time.perf_counter() - began, result, error)
    if not error:
        is_news = (result and step.is_news) or done.seconds >= _LONG
        _log.log(logging.INFO if is_news else logging.DEBUG, "%s", line(done))
    with suppress(StoreUnavailable):
        repository.lease.record_step(step.name, at=at, seconds=done.seconds, result=result, error=error)
    return done


def line(done: StepResult) -> str:
    """A step's run in one line: `archive: 12 articles archived (0.034 s)`."""
    told = f"failed: {done.error}" if done.error else done.result or "nothing to do"
    return f"{done.step}: {told} ({done.seconds:.3f} s)"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]


def _counted(number: int, noun: str, done: str) -> str:
    """`1 article archived`, `1,200 articles archived`, nothing for none."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural} {done}" if number else ""

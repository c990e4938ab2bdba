"""Housekeeping: periodic work that does not wait for a request.

Each step takes about two seconds at most (a backup longer), can be interrupted safely, and is idempotent. If one
fails, the others still run. A lease in the store lets one process at a time run them.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone, translation
from django.utils.module_loading import import_string

import tasks
from accounts import account_deletion, sessions as member_sessions
from accounts.models import HeldPost, LegalNotice, Statement, TextDigest
from articles import mailing
from articles.backup import folders, making
from articles.configuration.choices import closed_groups
from articles.doctor import housekeeping
from articles.domain.errors import MergeRunning, StoreDamaged, StoreError, StoreUnavailable
from articles.domain.lists import without_groups
from articles.operation import metrics
from articles.repository import Repository
from articles.web import account_ids, ballots, extras
from articles.web.groups import follow_merges
from articles.web.readership import archive

_log = logging.getLogger(__name__)

_BUDGET = 2.0  # seconds
_LONG = 1.0  # seconds from which on even a routine step is logged at INFO
_EARLY = 2.0  # seconds; otherwise a run just before the hot list is stale would leave it stale until the next
_REFUSED_PAUSE = 15.0
"""Maximum seconds until a process tries again while another holds the lease.

The lease of a process that died lasts for 30 more, so another takes over within a minute.
"""

_ARTICLES_ARCHIVED = 200
_ROWS_LOOKED_AT = 500
_SESSIONS_DELETED = 1000
_LONGEST_ERROR = 300  # characters


@dataclass(frozen=True, slots=True)
class StepResult:
    """One run of a step. `result`: what it did, empty if there was nothing to do; `error`: why it failed."""

    step: str
    seconds: float
    result: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of housekeeping; `work` does it and returns its result. Routine steps are logged at DEBUG."""

    name: str
    work: Callable[[Repository], str]
    is_routine: bool = False
    is_awaited: Callable[[], object] | None = None
    """Of a step that also runs between rounds: whether someone waits for it."""


def _advance_clock(repository: Repository) -> str:
    """Advance the store's own clock; warn, once in a process, if the clocks disagree."""
    repository.clock.advance()
    with translation.override("en"):  # the log's language
        for problem, text in housekeeping.list_problems(repository.clock.compare()):
            _warn_once(problem, text)
    return ""


def _end_probations(repository: Repository) -> str:
    return _counted(import_string(settings.PROBATION_KEEPER)(repository, _BUDGET), "probation", "ended")


def _move_votes(repository: Repository) -> str:
    """Move the votes of merged articles where an act took too long for one request, or was interrupted."""
    with suppress(MergeRunning):
        return _counted(sum(repository.merges.finish()), "vote", "moved")
    return ""


def _apply_parameters(repository: Repository) -> str:
    if repository.parameters.get_state().applying is None:
        return ""
    repository.parameters.advance(_BUDGET)
    state = repository.parameters.get_state()
    if state.applying:
        return f"{state.applying.done} of {state.applying.total} articles rescored with the new parameters"
    return f"version {state.version} of the parameters applied"


def _adjust_weight(repository: Repository) -> str:
    """Adjust the weight of a vote to the site, once a day."""
    votes_per_day = repository.weights.adjust()
    return "" if votes_per_day is None else f"adjusted to {_counted(votes_per_day, 'vote', 'a day')}"


def _score(repository: Repository) -> str:
    """Rescore the hot list and trim it, unless a reader was faster."""
    return "rescored" if repository.hot.rescore_if_stale(early_seconds=_EARLY) else ""


def _sample(repository: Repository) -> str:
    """Record the ranks of the top articles, as everyone sees them."""
    with without_groups(closed_groups()):
        return _counted(repository.history.record(), "article", "sampled")


def _measure(repository: Repository) -> str:
    find_counts = import_string(settings.METRICS_FINDER)
    return "recorded" if repository.measurements.record(lambda: metrics.read_web_counts(find_counts())) else ""


def _finish_merges(repository: Repository) -> str:
    """Move articles out of merged groups, where processes that died during the merge left them."""
    follow_merges(repository)
    return _counted(repository.groups.finish_merges(), "article", "moved out of merged groups")


def _archive(repository: Repository) -> str:
    moved = archive.put_away(repository, at_most=_ARTICLES_ARCHIVED, budget=_BUDGET)
    return _counted(moved, "article", "archived")


def _verify_files(repository: Repository) -> str:
    """Compare the embedded store's files with their recorded content. Raises StoreDamaged if they are damaged."""
    result, damage = import_string(settings.STORE_VERIFIER)(repository.store.now())
    if damage:
        raise StoreDamaged(damage)
    return str(result)


def _expire(repository: Repository) -> str:
    """Delete archive rows, sessions, held posts and digests no longer needed; forget old legal records."""
    rows = archive.sweep(repository, at_most=_ROWS_LOOKED_AT)
    expired = Session.objects.filter(expire_date__lt=timezone.now())
    keys = list(expired.values_list("pk", flat=True)[:_SESSIONS_DELETED])
    sessions, _ = Session.objects.filter(pk__in=keys).delete() if keys else (0, {})
    member_sessions.forget(keys)
    forgotten = Statement.objects.expire() + LegalNotice.objects.expire()
    results = [
        _counted(rows, "archive row", "deleted"),
        _counted(sessions, "session", "deleted"),
        _counted(HeldPost.objects.expire(), "held post", "deleted"),
        _counted(TextDigest.objects.expire(), "digest", "deleted"),
        _counted(forgotten, "legal record", "forgotten"),
    ]
    return ", ".join(filter(None, results))


def _back_up(repository: Repository) -> str:
    folder = folders.chosen_folder()
    if folder is None or not folders.is_due(folder):
        return ""
    return f"{making.make(repository, folder, keep=settings.BACKUP_KEEP).name} made"


def _check_accounts(repository: Repository) -> str:
    """Warn, once in a process, if the accounts are older than the store."""
    if problem := account_ids.age_problem(repository):
        _warn_once("accounts", problem)
    return ""


_warnings: set[str] = set()


def _warn_once(problem: str, text: str) -> None:
    if problem not in _warnings:
        _warnings.add(problem)
        _log.warning("%s", text)


def _send_mail(repository: Repository) -> str:
    """Let tasks mail notices and weekly digests to members, and what waits for a decision to moderators."""
    send_waiting = import_string(settings.WAITING_MAILER)
    senders = (send_waiting, mailing.send_due, mailing.send_digests)
    sent = sum(send(repository, _BUDGET) for send in senders)
    return _counted(sent, "mail", "queued")


def _do_tasks(_repository: Repository) -> str:
    """Do background tasks, where no worker is faster; let those that were lost be done again."""
    deadline = time.monotonic() + _BUDGET
    lost = tasks.tidy()
    done = sum(tasks.work_off(queue, lambda: time.monotonic() > deadline) for queue in tasks.QUEUES)
    return ", ".join(filter(None, (_counted(lost, "task", "tidied"), _counted(done, "task", "done"))))


def _step_of(step: extras.Step) -> _Step:
    """Return the step of an extra with the time that each step has."""

    def work(repository: Repository) -> str:
        return _counted(step.work(repository, _BUDGET), step.noun, step.done)

    return _Step(step.name, work, step.is_routine, step.is_awaited)


_STEPS: tuple[_Step, ...] = (
    _Step("clock", _advance_clock),
    _Step("merges", _move_votes),
    _Step("ballots", lambda one: _counted(ballots.record_closed(one, _BUDGET), "ballot record", "made")),
    _Step("probation", _end_probations),  # ballots have what closed before
    _Step("voters", lambda one: _counted(one.clock.drop_voters(_BUDGET), "voter set", "dropped")),
    _Step("weight", _adjust_weight),
    _Step("parameters", _apply_parameters),
    _Step("hot", _score, is_routine=True),
    _Step("history", _sample, is_routine=True),
    _Step("measurements", _measure, is_routine=True),
    _Step("groups", _finish_merges),
    _Step("archive", _archive),
    _Step("account_deletion", lambda _: _counted(account_deletion.advance_all(_BUDGET), "account", "deleted")),
    _Step("mail", _send_mail),
    *map(_step_of, extras.steps()),
    _Step("tasks", _do_tasks),
    _Step("trim", lambda one: _counted(one.lease.trim({step.name for step in _STEPS}), "entry", "dropped")),
    _Step("expire", _expire),
    # The file is rewritten so that it too forgets who viewed what.
    _Step("forget", lambda one: "append-only file rewritten" if one.lease.rewrite_file() else "", is_routine=True),
    _Step("accounts", _check_accounts),
    _Step("verify", _verify_files, is_routine=True),
    _Step("backup", _back_up),
)


_FREQUENT = tuple(step for step in _STEPS if step.is_awaited)
_FREQUENT_PAUSE = 10.0  # seconds between two runs of these: members expect notifications and replies soon


def run(
    repository: Repository, stopping: Callable[[], bool] = lambda: False, steps: Sequence[_Step] = _STEPS
) -> list[StepResult]:
    """Run each step once, until `stopping`; return what was done, [] without a lease. Raises StoreUnavailable."""
    results: list[StepResult] = []
    with repository.lease.acquire() as lease:
        for step in steps:
            if lease is None or stopping() or (results and not lease.renew()):
                break
            results.append(_run_step(step, repository))
    return results


def keep(
    open_repository: Callable[[], Repository],
    seconds: float,
    stopping: threading.Event,
    tell: Callable[[list[StepResult]], object] = list,
) -> None:
    """Run all steps every `seconds`, starting now, until `stopping`. Failures are logged and do not end the loop.

    `tell` receives the results of each round. While another process holds the lease, the rounds are shorter.
    Frequent steps also run between rounds, if someone waits for them.
    """
    due = 0.0
    while not stopping.is_set():
        began, is_awaited = time.monotonic(), False
        is_round = began >= due
        due = began + seconds if is_round else due
        try:
            results = run(open_repository(), stopping.is_set, _STEPS if is_round else _FREQUENT)
            if not results:
                due = min(due, began + _REFUSED_PAUSE)
            if is_round:
                tell(results)
            is_awaited = bool(results) and any(step.is_awaited() for step in _FREQUENT if step.is_awaited)
        except StoreError as error:
            _log.warning("housekeeping is postponed because the store is unavailable: %s", error)
        except Exception:
            _log.exception("housekeeping was interrupted")
        finally:
            connections.close_all()
        next_at = min(due, began + _FREQUENT_PAUSE) if is_awaited else due
        stopping.wait(max(0.0, next_at - time.monotonic()))


def _run_step(step: _Step, repository: Repository) -> StepResult:
    at, began, result, error = repository.store.now(), time.perf_counter(), "", ""
    try:
        result = step.work(repository)
    except StoreError as failure:
        error = _message(failure)
        steps = repository.inspection.list_steps() if isinstance(failure, StoreDamaged) else ()
        if not any(last.name == step.name and last.error == error for last in steps):  # lasting damage: once
            _log.error("%s failed: %s", step.name, error)
    except Exception as failure:
        error = _message(failure)
        _log.exception("%s failed", step.name)
    done = StepResult(step.name, time.perf_counter() - began, result, error)
    if not error:
        is_notable = (result and not step.is_routine) or done.seconds >= _LONG
        _log.log(logging.INFO if is_notable else logging.DEBUG, "%s", line(done))
    with suppress(StoreUnavailable):
        repository.lease.record_step(step.name, at=at, seconds=done.seconds, result=result, error=error)
    return done


def line(done: StepResult) -> str:
    """Return one line on a step's run: `archive: 12 articles archived (0.034 s)`."""
    outcome = f"failed: {done.error}" if done.error else done.result or "nothing to do"
    return f"{done.step}: {outcome} ({done.seconds:.3f} s)"


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]


def _counted(number: int, noun: str, done: str) -> str:
    """Return `1 article archived`, `1,200 articles archived`, "" for 0."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural} {done}" if number else ""

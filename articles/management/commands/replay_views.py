"""`manage.py replay_views`: count the views of a web server's log, in a temporary store."""

import sys
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from articles.domain.articles import ArticleId, ImportedArticle
from articles.domain.errors import StoreError
from articles.domain.members import UNKNOWN_POSTER
from articles.domain.readership import REPEAT, Suspicion, Visit
from articles.domain.rules import Rules
from articles.management.base import CTRL_C, Progress, add_progress_argument, positive, progress
from articles.management.importing import DamagedFile, open_articles
from articles.management.sentences import about_store
from articles.management.view_log import (
    REPEAT_OF_TRUTH,
    BadLog,
    Log,
    LoggedView,
    PathCount,
    Truth,
    first_seen,
    printable,
    read_log,
    read_truth,
    tally,
)
from articles.readership.visitors import suspicion_of
from articles.repository import Repository, connect
from articles.wiring import kept_html, rules

_VIEWS_PER_BATCH = 2000  # views between two updates of the progress bar
_LINES_SHOWN = 10

_HELP = """\
Count the views in FILE as the site would have: a log of tab-separated values, optionally compressed with gzip,
whose first line names the columns, among them ts (Unix seconds), visitor and path. Each path is an article.
Uses a temporary store, which is deleted afterwards: the site's own store is not changed."""


class Command(BaseCommand):
    """Exit status 1 if the replay differs from the exact counts."""

    help = _HELP
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="log to read; - for standard input")
        parser.add_argument(
            "--top", metavar="N", type=positive, default=20, help="paths to print, most viewed first (20)"
        )
        parser.add_argument(
            "--truth",
            metavar="TRUTH",
            help="JSON file of exact counts, with a limit of 600 s, to compare with",
        )
        parser.add_argument(
            "--bots", action="store_true", help="count bots separately, by the column ua, as the site does"
        )
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["truth"] and options["bots"]:
            raise CommandError("The exact counts include bots: use --truth or --bots, not both.")
        try:
            truth = read_truth(options["truth"]) if options["truth"] else None
            with open_articles(options["file"]) as source:
                log = read_log(source)
            if options["bots"] and not log.names_agents:
                raise BadLog("--bots needs the column ua, which the first line does not name.")
            differs = self._replay(log, truth, options)
        except OSError as error:
            raise CommandError(f"{error.filename or options['file']}: {error.strerror}") from error
        except (BadLog, DamagedFile) as error:
            raise CommandError(str(error)) from error
        except StoreError as error:
            raise CommandError(about_store(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=CTRL_C) from None
        if differs:
            sys.exit(1)

    def _replay(self, log: Log, truth: Truth | None, options: dict[str, Any]) -> bool:
        """Replay the log, print the counts, and return whether they differ from the exact ones."""
        replay_rules = replace(rules(), view_repeat=REPEAT_OF_TRUTH) if truth else rules()
        with (
            import_string(settings.SCRATCH_STORE_OPENER)() as url,
            progress(unit="views", shown=options["progress"], total=len(log.views)) as bar,
        ):
            replay = Replay(_scratch(url, replay_rules, log), separate_bots=options["bots"])
            replay.run(log.views, bar)
            counts = replay.counts()
        for line in _report(log, replay, counts, options["top"]):
            self.stdout.write(line)
        differences = list(truth.differences(len(log.views), counts)) if truth else []
        for line in differences:
            self.stdout.write(f"Differs: {line}")
        if truth and not differences:
            self.stdout.write(f"All {len(truth.counts):,} paths in {options['truth']} match.")
        return bool(differences)


def _scratch(url: str, replay_rules: Rules, log: Log) -> Repository:
    """Return a repository whose clock is at the end of the log."""
    end = log.views[-1].at if log.views else 0.0
    repository = connect(url, rules=replay_rules, kept_html=kept_html(), clock=lambda: end)
    repository.prepare()
    return repository


class Replay:
    """Record the views of a log, each at its own time, in a repository without articles."""

    def __init__(self, repository: Repository, *, separate_bots: bool = False) -> None:
        """Views of bots are suspect, and counted separately, with `separate_bots`."""
        self._repository = repository
        self._separate_bots = separate_bots
        self._ids: dict[str, ArticleId] = {}
        self._views: list[LoggedView] = []
        self._reasons: list[str | None] = []

    @property
    def bots(self) -> int:
        """Number of views that were counted separately."""
        return sum(reason == Suspicion.BOT for reason in self._reasons)

    def run(self, views: list[LoggedView], bar: Progress) -> None:
        """Count the views, which must be ordered by time."""
        self._enter(first_seen(views))
        self._views, self._reasons = views, []
        for at in range(0, len(views), _VIEWS_PER_BATCH):
            batch = [(self._ids[v.path], self._visit(v), v.at) for v in views[at : at + _VIEWS_PER_BATCH]]
            counts = self._repository.pageviews.record_many(batch)
            self._reasons += [count.reason if count else "missing" for count in counts]
            bar.reach(len(self._reasons))

    def counts(self) -> list[PathCount]:
        """Return the counts by path, most viewed first."""
        outcomes = tally(self._views, self._reasons)
        articles = {article.id: article for article in self._repository.imports.iterate()}
        counts = [
            PathCount(path, articles[number].pv, articles[number].uv, outcomes[path][REPEAT])
            for path, number in self._ids.items()
        ]
        return sorted(counts, key=lambda count: (-count.pv, count.path))

    def _visit(self, view: LoggedView) -> Visit:
        return Visit(_digest(view.visitor), suspicion=_suspicion(view.agent) if self._separate_bots else None)

    def _enter(self, paths: dict[str, float]) -> None:
        """Import an article for each path, posted when the path was first viewed."""
        articles = [_article(number, path, at) for number, (path, at) in enumerate(paths.items())]
        for at in range(0, len(articles), _VIEWS_PER_BATCH):
            batch = articles[at : at + _VIEWS_PER_BATCH]
            ids = self._repository.imports.add(batch)
            self._ids |= {article.title: number for article, number in zip(batch, ids, strict=True) if number}


def _article(number: int, path: str, posted_at: float) -> ImportedArticle:
    return ImportedArticle(
        path, f"https://log.invalid/{number}", UNKNOWN_POSTER, "", posted_at, votes=0, opposes=0
    )


@cache
def _digest(visitor: str) -> str:
    return blake2b(visitor.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _suspicion(agent: str) -> Suspicion | None:
    return suspicion_of({"User-Agent": agent})


def _report(log: Log, replay: Replay, counts: list[PathCount], top: int) -> list[str]:
    if not counts:
        lines = ["The log has no views."]
    else:
        rows = [("PV", "UV", "throttled", "path")]
        rows += [(f"{c.pv:,}", f"{c.uv:,}", f"{c.throttled:,}", printable(c.path)) for c in counts[:top]]
        lines = [f"{pv:>9}  {uv:>9}  {throttled:>9}  {path}" for pv, uv, throttled, path in rows]
        if len(counts) > top:
            lines.append(f"… and {len(counts) - top:,} more paths")
        counted, throttled = sum(count.pv for count in counts), sum(count.throttled for count in counts)
        lines.append(
            f"{len(log.views):,} views of {len(counts):,} paths: {counted:,} counted, {throttled:,} throttled."
        )
    if replay.bots:
        lines.append(f"{replay.bots:,} views by bots were counted separately.")
    if bad := log.bad_lines:
        shown = ", ".join(map(str, bad[:_LINES_SHOWN])) + (", …" if len(bad) > _LINES_SHOWN else "")
        lines.append(f"{len(bad):,} invalid lines: {shown}.")
    return lines

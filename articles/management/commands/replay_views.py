"""`manage.py replay_views`: counts the views of a web server's log, in a store of its own."""

import sys
from argparse import ArgumentTypeError
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
from articles.management.article_file import DamagedFile, open_articles
from articles.management.progress import Progress, add_progress_argument, progress
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
from articles.readership.detection import suspicion_of
from articles.repository import Repository, connect
from articles.wiring import rules

_VIEWS_PER_BATCH = 2000  # views between two looks at the progress bar
_LINES_SHOWN = 10
_INTERRUPTED = 130  # exit status, as shells have it

_HELP = """\
Count the views of FILE as the site would have: a log of tab-separated values, packed with gzip or not, whose
first line names its columns, among them ts (Unix seconds), visitor and path. Each path is an article. It is
done in a store of its own that is thrown away afterwards: the site's own is not touched."""


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)


class Command(BaseCommand):
    """Exit status 1 where the replay differs from what is true."""

    help = _HELP
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="log to read; - for standard input")
        parser.add_argument(
            "--top", metavar="N", type=_positive, default=20, help="paths to print, the most viewed first (20)"
        )
        parser.add_argument(
            "--truth",
            metavar="TRUTH",
            help="JSON file of exact numbers, with a limit of 600 s, to compare with",
        )
        parser.add_argument(
            "--bots", action="store_true", help="count bots apart, by the column ua, as the site does"
        )
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["truth"] and options["bots"]:
            raise CommandError("What is true counts bots too: give --truth or --bots.")
        try:
            truth = read_truth(options["truth"]) if options["truth"] else None
            with open_articles(options["file"]) as source:
                log = read_log(source)
            if options["bots"] and not log.names_agents:
                raise BadLog("Bots are known by the column ua, which the first line does not name.")
            differs = self._replay(log, truth, options)
        except OSError as error:
            raise CommandError(f"{error.filename or options['file']}: {error.strerror}") from error
        except (BadLog, DamagedFile) as error:
            raise CommandError(str(error)) from error
        except StoreError as error:
            raise CommandError(about_store(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=_INTERRUPTED) from None
        if differs:
            sys.exit(1)

    def _replay(self, log: Log, truth: Truth | None, options: dict[str, Any]) -> bool:
        """Replay, print, compare; whether it differs from what is true."""
        in_force = replace(rules(), view_repeat=REPEAT_OF_TRUTH) if truth else rules()
        with (
            import_string(settings.SCRATCH_STORE_OPENER)() as url,
            progress(unit="views", shown=options["progress"], total=len(log.views)) as bar,
        ):
            replay = Replay(_scratch(url, in_force, log), apart=options["bots"])
            replay.run(log.views, bar)
            counts = replay.counts()
        for line in _report(log, replay, counts, options["top"]):
            self.stdout.write(line)
        differences = list(truth.differences(len(log.views), counts)) if truth else []
        for line in differences:
            self.stdout.write(f"Differs: {line}")
        if truth and not differences:
            self.stdout.write(f"All {len(truth.counts):,} paths that {options['truth']} names agree with it.")
        return bool(differences)


def _scratch(url: str, in_force: Rules, log: Log) -> Repository:
    """A repository in which it is as late as at the end of the log."""
    end = log.views[-1].at if log.views else 0.0
    repository = connect(url, rules=in_force, clock=lambda: end)
    repository.prepare()
    return repository


class Replay:
    """Views of a log, each at its own time, on a repository without articles."""

    def __init__(self, repository: Repository, *, apart: bool = False) -> None:
        """`apart`: views of bots are suspect."""
        self._repository = repository
        self._apart = apart
        self._ids: dict[str, ArticleId] = {}
        self._views: list[LoggedView] = []
        self._reasons: list[str | None] = []

    @property
    def bots(self) -> int:
        """Views that were counted apart."""
        return sum(reason == Suspicion.BOT for reason in self._reasons)

    def run(self, views: list[LoggedView], bar: Progress) -> None:
        """Count these views, which are in the order of their time."""
        self._enter(first_seen(views))
        self._views, self._reasons = views, []
        for at in range(0, len(views), _VIEWS_PER_BATCH):
            batch = [(self._ids[v.path], self._visit(v), v.at) for v in views[at : at + _VIEWS_PER_BATCH]]
            counts = self._repository.pageviews.record_many(batch)
            self._reasons += [count.reason if count else "missing" for count in counts]
            bar.reach(len(self._reasons))

    def counts(self) -> list[PathCount]:
        """What came of it by path, the most viewed first."""
        became = tally(self._views, self._reasons)
        articles = {article.id: article for article in self._repository.imports.iterate()}
        found = [
            PathCount(path, articles[number].pv, articles[number].uv, became[path][REPEAT])
            for path, number in self._ids.items()
        ]
        return sorted(found, key=lambda count: (-count.pv, count.path))

    def _visit(self, view: LoggedView) -> Visit:
        return Visit(_digest(view.visitor), suspicion=_suspicion(view.agent) if self._apart else None)

    def _enter(self, paths: dict[str, float]) -> None:
        """An article for each path, posted when it was first viewed."""
        articles = [_article(number, path, at) for number, (path, at) in enumerate(paths.items())]
        for at in range(0, len(articles), _VIEWS_PER_BATCH):
            batch = articles[at : at + _VIEWS_PER_BATCH]
            ids = self._repository.imports.add(batch)
            self._ids |= {one.title: number for one, number in zip(batch, ids, strict=True) if number}


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
        told = ["There are no views in it."]
    else:
        rows = [("PV", "UV", "throttled", "path")]
        rows += [(f"{one.pv:,}", f"{one.uv:,}", f"{one.throttled:,}", printable(one.path)) for one in counts[:top]]
        told = [f"{pv:>9}  {uv:>9}  {throttled:>9}  {path}" for pv, uv, throttled, path in rows]
        if len(counts) > top:
            told.append(f"… and {len(counts) - top:,} more paths")
        counted, throttled = sum(one.pv for one in counts), sum(one.throttled for one in counts)
        told.append(
            f"{len(log.views):,} views of {len(counts):,} paths: {counted:,} counted, {throttled:,} throttled."
        )
    if replay.bots:
        told.append(f"{replay.bots:,} views by bots were counted apart.")
    if bad := log.bad_lines:
        shown = ", ".join(map(str, bad[:_LINES_SHOWN])) + (", …" if len(bad) > _LINES_SHOWN else "")
        told.append(f"{len(bad):,} lines are no views: {shown}.")
    return told

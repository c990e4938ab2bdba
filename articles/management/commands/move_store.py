"""`manage.py move_store`: move the site to another store while it is in use."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles import wiring
from articles.domain.errors import ImportRunning
from articles.domain.operation.store_address import StoreAddress, parse
from articles.management.progress import Progress, add_progress_argument, progress
from articles.management.store_command import StoreCommand
from articles.repository import MoveFailed, Place, Repository
from articles.wiring import patient_repository

_NOTICE_SECONDS = 30
_LEASE_SECONDS = 60
"""Seconds to wait until housekeeping lets the move hold its lease."""


class Command(StoreCommand):
    """Exit status 1 if the audit of the new store finds anything, or the move failed."""

    help = (
        "Move the site to another store while it is in use: other servers, or another number of shards. "
        "Everything is copied and checked; while the last changes are copied, votes and posts are refused for "
        "some seconds, which a banner announces. All processes of the site follow. The move can be undone "
        "until it is confirmed."
    )
    when_interrupted = (
        "Interrupted. The site stays where it is. Run it again to continue, or with --cancel to give up."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "url", metavar="URL", nargs="?", help="URL of the empty store, in the form of REDIS_URL"
        )
        parser.add_argument(
            "--shards", type=int, default=1, metavar="N", help="shards of the new store (default: 1)"
        )
        parser.add_argument(
            "--notice",
            type=int,
            default=_NOTICE_SECONDS,
            metavar="SECONDS",
            help=f"minimum time between the banner and the refusal of votes (default: {_NOTICE_SECONDS})",
        )
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument("--confirm", action="store_true", help="confirm the move: it can no longer be undone")
        instead.add_argument(
            "--undo", action="store_true", help="return to the former store, with all changes since"
        )
        instead.add_argument("--cancel", action="store_true", help="cancel a move that was interrupted")
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["confirm"]:
            self._confirm()
        elif options["cancel"]:
            is_cancelled = patient_repository().moves.cancel()
            self.stdout.write("The move is cancelled." if is_cancelled else "No move was interrupted.")
        else:
            try:
                with progress(unit="", shown=options["progress"]) as bar:
                    self._undo(bar) if options["undo"] else self._move(options, bar)
            except MoveFailed as error:
                raise CommandError(str(error)) from error

    def _confirm(self) -> None:
        moves = patient_repository().moves
        if moves.get_former_place() is None:
            raise CommandError("There is no move to confirm.")
        moves.confirm()
        self.stdout.write("The move is confirmed. The former store is no longer needed.")

    def _move(self, options: dict[str, Any], bar: Progress) -> None:
        there = Place(_checked(options["url"]).url, options["shards"])
        here, source, target = wiring.place(), patient_repository(), wiring.other_repository(there)
        target.check_server()
        move, began = source.move_to(target), time.monotonic()
        with _alone(source) as renew:
            reach = _steps(bar, renew)
            if findings := move.copy(reach):
                raise MoveFailed("\n".join([*findings[:20], f"The copy has {len(findings):,} findings."]))
            while (left := began + options["notice"] - time.monotonic()) > 0:
                move.follow(reach)
                time.sleep(min(left, 1.0))
            seconds = move.switch(here, there, reach)
        bar.clear()
        self._report(target, bar, seconds)
        self.stdout.write(
            f"Set REDIS_URL to this store and STORE_SHARDS={there.shards} on every node, so that they do not need "
            "the former store to find it. Then run `manage.py move_store --confirm`; until then "
            "`manage.py move_store --undo` returns to the former store."
        )

    def _undo(self, bar: Progress) -> None:
        here, source = wiring.place(), patient_repository()
        former = source.moves.get_former_place()
        if former is None:
            raise MoveFailed("The site was not moved to this store, or the move is confirmed.")
        target = wiring.other_repository(former)
        target.check_server()
        with _alone(source) as renew:
            seconds = source.move_to(target).undo(here, former, _steps(bar, renew))
        bar.clear()
        self._report(target, bar, seconds)
        self.stdout.write(
            f"The site is back in the former store: set REDIS_URL back, and STORE_SHARDS={former.shards}."
        )

    def _report(self, target: Repository, bar: Progress, seconds: float) -> None:
        wiring.forget_repositories()
        self.stdout.write(f"The site now uses the other store. Changes were refused for {seconds:.1f} s.")
        bar.describe("checking")
        findings = list(map(str, target.audit.run(bar.reach)))
        bar.clear()
        for finding in findings:
            self.stdout.write(finding)
        self.stdout.write(f"{len(findings):,} findings." if findings else "The audit found nothing.")
        if findings:
            sys.exit(1)


def _checked(url: str | None) -> StoreAddress:
    if not url:
        raise CommandError("The URL of an empty store is missing, in the form of REDIS_URL.")
    try:
        return parse(url)
    except ValueError as error:
        raise CommandError("This is not the URL of a store.") from error


@contextmanager
def _alone(source: Repository) -> Iterator[Any]:
    """Hold the housekeeping lease and the import lock; yield what renews the lease. Raises MoveFailed."""
    ends = time.monotonic() + _LEASE_SECONDS
    while True:
        with source.lease.acquire() as lease:
            if lease is not None:
                try:
                    with source.imports.lock():
                        yield lease.renew
                except ImportRunning:
                    raise MoveFailed("Articles are being imported: wait until that is done.") from None
                return
        if time.monotonic() > ends:
            raise MoveFailed("Another process holds the housekeeping lease: a move or a long backup is going on.")
        time.sleep(1)


def _steps(bar: Progress, renew: Any) -> Any:
    """Return a progress that begins the bar again with each step, and renews the lease."""
    renewed = time.monotonic()

    def reach(step: str, done: int, total: int) -> None:
        nonlocal renewed
        if time.monotonic() - renewed > 5:
            renewed = time.monotonic()
            renew()
        bar.describe(step)
        bar.reach(done, total)

    return reach

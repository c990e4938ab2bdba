"""`manage.py move_store`: move the site to another store while it is in use."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles import wiring
from articles.domain.errors import ImportRunning, StoreError
from articles.domain.store_address import StoreAddress, parse
from articles.management.base import Progress, StoreCommand, add_progress_argument, progress
from articles.repository import MoveFailed, Place, Repository
from articles.wiring import patient_repository

_NOTICE_SECONDS = 30
_LEASE_SECONDS = 60
"""Seconds to wait until housekeeping lets the move hold its lease, or that of a move that was killed expires."""

_RENEW_SECONDS = 5
_HOLDER = "move"
"""Name by which moves hold the import lock: of one that was killed, the next one has it at once."""


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
        try:
            if options["confirm"]:
                self._confirm()
            elif options["cancel"]:
                self._cancel()
            else:
                with progress(unit="", shown=options["progress"]) as bar:
                    self._undo(bar) if options["undo"] else self._move(options, bar)
        except MoveFailed as error:
            raise CommandError(str(error)) from error

    def _confirm(self) -> None:
        source = patient_repository()
        with self._alone(source):
            if source.moves.get_former_place() is None:
                raise MoveFailed("There is no move to confirm.")
            source.moves.confirm()
        self.stdout.write("The move is confirmed. The former store is no longer needed.")

    def _cancel(self) -> None:
        source = patient_repository()
        with self._alone(source):
            is_cancelled = source.moves.cancel()
        self.stdout.write("The move is cancelled." if is_cancelled else "No move was interrupted.")

    def _move(self, options: dict[str, Any], bar: Progress) -> None:
        there = Place(_checked(options["url"]).url, options["shards"])
        here, source, target = wiring.place(), patient_repository(), wiring.other_repository(there)
        if here == there and source.moves.get_former_place():
            self.stdout.write("The site has moved to this store already.")
            self._end_move(target, there, bar)
            return
        target.check_server()
        move, began = source.move_to(target), time.monotonic()
        with self._alone(source):
            reach = bar.reach_in
            if findings := move.copy(reach):
                raise MoveFailed("\n".join([*findings[:20], f"The copy has {len(findings):,} findings."]))
            while (left := began + options["notice"] - time.monotonic()) > 0:
                move.follow(reach)
                time.sleep(min(left, 1.0))
            seconds = move.switch(here, there, reach)
        self._tell_seconds(seconds, bar)
        self._end_move(target, there, bar)

    def _end_move(self, target: Repository, there: Place, bar: Progress) -> None:
        self._check(target, bar)
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
        with self._alone(source):
            seconds = source.move_to(target).undo(here, former, bar.reach_in)
        self._tell_seconds(seconds, bar)
        self._check(target, bar)
        self.stdout.write(
            f"The site is back in the former store: set REDIS_URL back, and STORE_SHARDS={former.shards}."
        )

    def _tell_seconds(self, seconds: float, bar: Progress) -> None:
        bar.clear()
        self.stdout.write(f"The site now uses the other store. Changes were refused for {seconds:.1f} s.")

    def _check(self, target: Repository, bar: Progress) -> None:
        wiring.forget_repositories()
        bar.describe("checking")
        findings = list(map(str, target.audit.run(bar.reach)))
        bar.clear()
        for finding in findings:
            self.stdout.write(finding)
        self.stdout.write(f"{len(findings):,} findings." if findings else "The audit found nothing.")
        if findings:
            sys.exit(1)

    @contextmanager
    def _alone(self, source: Repository) -> Iterator[None]:
        """Hold the housekeeping lease and the import lock during the block. Raises MoveFailed."""
        ends, waits = time.monotonic() + _LEASE_SECONDS, False
        while True:
            with source.lease.acquire() as lease:
                if lease is not None:
                    try:
                        with source.imports.lock(_HOLDER), _renewing(lease.renew, source.imports.renew):
                            yield
                    except ImportRunning:
                        raise MoveFailed("Articles are being imported: wait until that is done.") from None
                    return
            if time.monotonic() > ends:
                raise MoveFailed(
                    "Another process holds the housekeeping lease: another move or a long backup is going on."
                )
            if not waits:
                waits = True
                self.stdout.write(
                    "Waiting until housekeeping lets the move begin; after a crash, this takes half a minute."
                )
            time.sleep(1)


def _checked(url: str | None) -> StoreAddress:
    if not url:
        raise CommandError("The URL of an empty store is missing, in the form of REDIS_URL.")
    try:
        return parse(url)
    except ValueError as error:
        raise CommandError("This is not the URL of a store.") from error


@contextmanager
def _renewing(*renewals: Callable[[], object]) -> Iterator[None]:
    """Renew what expires during the block, however long its steps take."""
    ended = Event()

    def renew_all() -> None:
        while not ended.wait(_RENEW_SECONDS):
            for renew in renewals:
                with suppress(ImportRunning, StoreError):
                    renew()

    thread = Thread(target=renew_all, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

"""`manage.py accept_clock`: set the store's own clock to this machine's."""

from typing import Any

from articles.formatting import units
from articles.management.base import StoreCommand
from articles.web.wiring import patient_repository


class Command(StoreCommand):
    """Safe to repeat."""

    help = (
        "Set the store's own clock, by which voting closes at the latest, to this machine's. Needed only after "
        "this machine's clock was wrong for long; check it first."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        clock = patient_repository().clock
        clocks = clock.compare()
        clock.accept()
        difference = clocks.machine - clocks.store
        direction = "ahead" if difference > 0 else "back"
        self.stdout.write(f"The store's clock was set {direction} by {units.span(abs(difference))}.")

"""`manage.py work`: do background tasks."""

from typing import Any

from articles.management.base import StoreCommand, require_accounts, stopped_by_signals
from tasks import keep_working


class Command(StoreCommand):
    """Any number of these can run, on any machine of the site, besides those of housekeeping."""

    help = "Do background tasks, such as mail, until Ctrl-C or SIGTERM. A running site does them by itself."

    def handle(self, *_: Any, **__: Any) -> None:
        require_accounts()
        with stopped_by_signals() as stopping, keep_working(stopping):
            stopping.wait()

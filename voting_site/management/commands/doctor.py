"""`manage.py doctor`: examine the installation."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import translation

from articles.doctor import database, mail
from articles.doctor.checks import SECTIONS, examine
from articles.doctor.examination import Examination, Result, error
from articles.web.wiring import examined_repository
from voting_site.configuration import loading
from voting_site.configuration.service_urls import POSTGRES
from voting_site.doctor_report import add_form_arguments, settings_results, status_of, written
from voting_site.serving import launcher, static_files
from voting_site.serving.listener import CannotServe

_HELP = """\
Examine the installation, whether or not the site is running, and say what to do. Changes nothing.
Exit status: 0 if everything is fine, 1 with warnings, 2 with errors."""

_SKIP = f"leave out a section: {', '.join(SECTIONS)}"


class Command(BaseCommand):
    """Invalid settings are reported by `voting_site.command_line`: no command can be loaded with them."""

    help = _HELP
    requires_system_checks = []  # one of the checks

    def add_arguments(self, parser: CommandParser) -> None:
        add_form_arguments(parser)
        parser.add_argument("--skip", metavar="SECTION", choices=SECTIONS, action="append", default=[], help=_SKIP)
        parser.add_argument(
            "--send-test", metavar="ADDRESS", help="also let the running site send a mail to this address"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        with translation.override("en"):
            results = self._results(options["skip"], options["send_test"])
        if report := written(results, quiet=options["quiet"], json=options["json"]):
            self.stdout.write(report)
        sys.exit(status_of(results))

    def _results(self, skipped: list[str], recipient: str | None) -> list[Result]:
        if settings.DATABASES["default"]["ENGINE"] == POSTGRES:
            import_module(f"{POSTGRES}.base").limit_waits()
        with database.read_only():
            results = settings_results((), loading.warnings(settings.BASE_DIR))
            results += [one for one in _of_the_launcher() if one.section not in skipped]
            results += examine(Examination(examined_repository()), skipped)
        if recipient:
            results.append(Result("mail", "test", mail.send_test(recipient)))
        return sorted(results, key=lambda result: SECTIONS.index(result.section))


def _of_the_launcher() -> Iterator[Result]:
    """Yield what a start refuses besides settings, store and accounts."""
    launched = (("settings", "port", launcher.check_address), ("files", "static", static_files.check))
    for section, name, check in launched:
        try:
            check()
        except CannotServe as refusal:
            yield Result(section, name, error(str(refusal)))

"""Base class of the commands that use the store."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from articles.domain.errors import StoreError
from articles.management.sentences import about_store

_CTRL_C = 130  # exit status by shell convention


class StoreCommand(BaseCommand):
    """Run with the store of the running site or, if it is not running, with one started for the command."""

    requires_system_checks = []  # they concern pages, not the store
    when_interrupted = "Interrupted."

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            with import_string(settings.STORE_OPENER)():
                return super().execute(*args, **options)
        except StoreError as error:
            raise CommandError(about_store(error)) from error
        except KeyboardInterrupt:
            raise CommandError(self.when_interrupted, returncode=_CTRL_C) from None

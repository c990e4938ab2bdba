"""`manage.py migrate`: Django's command, which alone, but for a restore, creates the file of the accounts."""

from typing import Any

from django.core.management.commands import migrate

from voting_site.sqlite.base import creating


class Command(migrate.Command):
    """Bring the accounts database up to date."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        with creating():
            return super().execute(*args, **options)

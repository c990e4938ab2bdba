"""`manage.py delete_member`: delete an account, as its member can."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts import account_deletion
from articles.management.base import StoreCommand, find_member


class Command(StoreCommand):
    """Safe to interrupt: housekeeping goes on with the deletion."""

    help = "Delete a member's account. Articles, comments and votes stay, without the name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")

    def handle(self, *_: Any, **options: Any) -> None:
        member = find_member(options["name"])
        try:
            account_deletion.begin(member.pk)
        except account_deletion.LastAdministratorError:
            raise CommandError(
                f"{member.username} is the only administrator: create another one first, with `make admin`."
            ) from None
        account_deletion.advance_briefly()
        self.stdout.write(f"{member.username} is deleted. Housekeeping removes what is left of the name.")

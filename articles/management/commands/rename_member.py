"""`manage.py rename_member`: give a member another name."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from accounts.models import User
from accounts.names import canonical
from accounts.sign_in.changes import Change, tell_change
from articles.management.base import StoreCommand, progress
from articles.web.wiring import repository


class Command(StoreCommand):
    """The account gets the name first, so that the member goes on under it. Safe to interrupt and to repeat."""

    help = "Give a member another name: the account, what they posted, and the moderation log."
    when_interrupted = "Interrupted: run it again to finish."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("new_name")
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        former, name = options["name"], User.normalize_username(options["new_name"])
        members = User.objects.filter(left_at=None)
        if member := members.filter(canonical_name=canonical(former)).first():
            former = member.username
            try:
                member.rename(name)
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from error
            tell_change(member, Change.NAME, member.username)
        elif not (member := members.filter(username=name).first()) or not User.objects.is_taken(former):
            raise CommandError(f"There is no member {former}.")
        with progress(unit=" posts", shown=options["progress"]) as bar:
            repository().account_deletion.rename(member.pk, former, name, lambda done: bar.reach(done, None))
        self.stdout.write(f"{former} is {name} now. Texts that mention @{former} stay as they are.")

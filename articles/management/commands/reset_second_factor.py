"""`manage.py reset_second_factor`: let a member in who has lost the second factor."""

from argparse import ArgumentParser
from typing import Any

from articles.domain.moderation_log import OPERATOR
from articles.management.base import StoreCommand, find_member
from moderation import members


class Command(StoreCommand):
    """Idempotent."""

    help = "Remove a member's authenticator app and recovery codes, end all sessions, and email the member."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--reason", default="", help="everyone can read it in the moderation log")

    def handle(self, *_: Any, name: str, reason: str, **__: Any) -> None:
        member = find_member(name)
        members.reset_second_factor(member, reason, OPERATOR)
        self.stdout.write(f"{member.username} logs in without a second step now.")

"""`manage.py sign_in_link`: print a link with which an administrator logs in once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.urls import reverse

from accounts.mail import site_origin
from accounts.sign_in.ways import LINK_MINUTES, link_token
from articles.management.base import find_member, require_accounts


class Command(BaseCommand):
    """The way in where there are no passwords, or a second factor was lost."""

    help = "Print a link with which an administrator logs in, once and without a second factor."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        member = find_member(options["name"], "administrator", is_staff=True, is_active=True)
        link = reverse("accounts:login_link", args=[link_token(member)])
        self.stdout.write(f"{site_origin()}{link}")
        self.stderr.write(f"The first to open it within {LINK_MINUTES} minutes is logged in as {member}.")

"""`manage.py createsuperuser`: Django's command, with the store, which gives the account its id."""

from django.contrib.auth.management.commands import createsuperuser

from articles.management.store_command import StoreCommand


class Command(StoreCommand, createsuperuser.Command):
    """Create an administrator, whether or not the site is running."""

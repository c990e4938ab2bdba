"""Migrations make the tables of the models."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_every_change_of_a_model_has_a_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)

"""Migrations that change the data of a site in use."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from accounts.models import NameLook
from accounts.names import look_digest

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_change_of_a_model_has_a_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.deep
def test_the_looks_of_names_from_earlier_versions_are_kept_without_separators():
    call_command("migrate", "accounts", "0030", verbosity=0)
    try:
        older = MigrationExecutor(connection).loader.project_state([("accounts", "0030_synced_passkeys")]).apps
        users, looks = (older.get_model("accounts", model).objects for model in ("User", "NameLook"))
        for pk, name in enumerate(["a_nn", "an_n", "bo-b", "~304"], 301):
            users.create(pk=pk, username=name, canonical_name=name)
        looks.create(digest="before", user_id=304)
    finally:
        call_command("migrate", verbosity=0)

    found = dict(NameLook.objects.values_list("digest", "user_id"))
    assert found == {look_digest("ann"): 301, look_digest("bob"): 303, "before": 304}

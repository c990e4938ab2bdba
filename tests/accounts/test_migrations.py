"""Migrations that change the data of a site in use."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from accounts.models import SCOPES, AccountDeletion, NameLook, Token
from accounts.names import look_digest

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_account_deletion_in_progress_survives_the_renaming_of_its_table(bob):
    call_command("migrate", "accounts", "0004", verbosity=0)
    try:
        older_apps = (
            MigrationExecutor(connection).loader.project_state([("accounts", "0004_permission_groups")]).apps
        )
        older_apps.get_model("accounts", "Departure").objects.create(
            user_id=bob.pk, begun_at=timezone.now(), again=True, step=1, progress="log 0 50"
        )
    finally:
        call_command("migrate", verbosity=0)

    deletion = AccountDeletion.objects.get()
    assert (deletion.pk, deletion.again, deletion.step, deletion.progress) == (bob.pk, True, 1, "log 0 50")


def test_every_change_of_a_model_has_a_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_tokens_of_earlier_versions_keep_what_they_could_do(bob):
    call_command("migrate", "accounts", "0005", verbosity=0)
    try:
        older = MigrationExecutor(connection).loader.project_state([("accounts", "0005_account_deletion")]).apps
        older.get_model("accounts", "Token").objects.create(user_id=bob.pk, name="laptop", digest="0" * 64)
    finally:
        call_command("migrate", verbosity=0)

    token = Token.objects.get()
    assert token.scopes.split() == list(SCOPES)
    assert token.expires_at is None


def test_members_of_earlier_versions_keep_look_alike_names_of_which_the_first_members_is_protected():
    call_command("migrate", "accounts", "0015", verbosity=0)
    try:
        older = MigrationExecutor(connection).loader.project_state([("accounts", "0015_mail_to_moderators")]).apps
        users = older.get_model("accounts", "User").objects
        for pk, name in enumerate(["al1", "all", "bob", "~204"], 201):
            users.create(pk=pk, username=name, canonical_name=name, imported=name == "al1")
    finally:
        call_command("migrate", verbosity=0)

    assert dict(NameLook.objects.values_list("digest", "user_id")) == {
        look_digest("all"): 202,
        look_digest("bob"): 203,
    }


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

    assert dict(NameLook.objects.values_list("digest", "user_id")) == {
        look_digest("ann"): 301,
        look_digest("bob"): 303,
        "before": 304,
    }

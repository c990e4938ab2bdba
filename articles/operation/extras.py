"""What extras have in the accounts database, and how it is removed after their folders were deleted."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CASCADE, SET_NULL, Exists, ForeignKey, Model, OuterRef, Q
from django_tasks_db.models import DBTaskResult

from articles.domain import extras
from articles.models import ExtraRecord, SiteSetting


class ExtraIsHere(Exception):
    """The folder of the extra is not deleted."""


def remember(**_signal: object) -> None:
    """Record what each extra has, after migrations."""
    for name in extras.names():
        rows, models = extras.rows_of(name), apps.get_app_config(name).get_models(include_auto_created=True)
        facts = {
            "tables": [model._meta.db_table for model in models],
            "settings": [setting.name for setting in rows.settings],
            "keys": [
                *(key.name for key in rows.keys),
                *(f"limit:{limit.name}:<subject>" for limit in rows.limits),
            ],
            "article_fields": list(rows.article_fields),
        }
        ExtraRecord.objects.update_or_create(name=name, defaults=facts)


def _relations() -> "Iterator[tuple[type[Model], ForeignKey[Any, Any]]]":
    """Yield the models of extras, each with a field that refers to a row of the core."""
    for name in extras.names():
        for model in apps.get_app_config(name).get_models(include_auto_created=True):
            for one in model._meta.concrete_fields:
                if isinstance(one, ForeignKey) and one.related_model._meta.app_label != name:
                    yield model, one


def delete_rows_of(member: Model, **_signal: object) -> None:
    """Delete the rows that refer to an account, as they would go with its row. Receiver of `deletion_begun`."""
    for model, one in _relations():
        if one.related_model is type(member) and one.remote_field.on_delete is CASCADE:
            model._base_manager.filter(**{one.name: member}).delete()


def delete_stale(**_signal: object) -> None:
    """Do after migrations what was left undone while a folder was not there.

    Rows go whose account was deleted, or whose other row of the core is gone, or they no longer refer to it.
    """
    tables = connection.introspection.table_names()
    for model, one in _relations():
        if model._meta.db_table in tables:
            alive = {"left_at": None} if one.related_model is get_user_model() else {}
            there = Exists(one.related_model._base_manager.filter(pk=OuterRef(one.attname), **alive))
            stale = model._base_manager.filter(~there, **{f"{one.attname}__isnull": False})
            if one.remote_field.on_delete is SET_NULL:
                stale.update(**{one.name: None})
            else:
                stale.delete()


def deleted() -> list[str]:
    """Return the names of the extras whose folders were deleted, but not what they have. One query.

    None if the database does not answer, or has no tables yet.
    """
    try:
        return sorted(set(ExtraRecord.objects.values_list("name", flat=True)) - {*extras.names()})
    except DatabaseError:
        return []


def keys_of_deleted() -> list[str]:
    """Return the kinds of keys that these have in the store. One query."""
    rows = ExtraRecord.objects.exclude(name__in=extras.names()).values_list("keys", flat=True)
    return [key for keys in rows for key in keys]


def sentences() -> Iterator[str]:
    """Yield a sentence for each of these, for the operator."""
    for name in deleted():
        yield (
            f"The folder extras/{name} was deleted, but its data is still here: "
            f"run `manage.py forget_extra {name}`, or put the folder back."
        )


def record_of(name: str) -> ExtraRecord | None:
    """Return what a deleted extra has, but for what another one has now. Raises ExtraIsHere."""
    if name in extras.names():
        raise ExtraIsHere(name)
    record = ExtraRecord.objects.filter(name=name).first()
    if record:
        fields, tables = extras.article_fields(), {model._meta.db_table for model in apps.get_models()}
        record.article_fields = [field for field in record.article_fields if field not in fields]
        record.tables = [table for table in record.tables if table not in tables]
        record.settings = [one for one in record.settings if not hasattr(settings, one)]
    return record


@transaction.atomic
def forget(record: ExtraRecord) -> None:
    """Remove what a deleted extra has in the accounts database, and the record itself. Idempotent."""
    name = record.name
    with connection.cursor() as cursor:
        for table in reversed(record.tables):
            cursor.execute(f"DROP TABLE IF EXISTS {connection.ops.quote_name(table)}")
    SiteSetting.objects.filter(name__in=record.settings).delete()
    own = f"extras.{name}."
    former = [was for was, path in settings.FORMER_TASKS.items() if path.startswith(own)]
    DBTaskResult.objects.filter(Q(task_path__startswith=own) | Q(task_path__in=former)).delete()
    ContentType.objects.filter(app_label=name).delete()  # and with them permissions, and the admin's log
    MigrationRecorder(connection).migration_qs.filter(app=name).delete()
    record.delete()

"""The accounts in a backup: rows of Django's models, which any of its databases can hold.

Sessions are left out: one that has ended since the backup would be valid again. Members log in again
after a restore.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from django.apps import apps as current_apps
from django.apps.registry import Apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, connections, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.dispatch import Signal

from accounts.account_deletion import delete_without_trace
from accounts.models import NameLook, User
from articles.backup import former, former_ballots
from articles.backup.files import BackupDamaged, SiteNotEmpty
from articles.domain import extras
from articles.domain.members import UserId
from articles.repository import Repository

Line: TypeAlias = list[Any]  # a row: the label of its model, and its values by field

RECORD = "articles.ExtraRecord"
"""Restored only of an extra that is not here, of which settings and fields of articles are: see `remember`."""

MODELS = (
    "auth.Group", "accounts.User", "accounts.NameLook", "accounts.User_groups", "accounts.Token",
    "accounts.Passkey", "accounts.Authenticator",
    "accounts.RecoveryCode", "accounts.Ban", "accounts.GroupModerator", "accounts.Sweep", "accounts.Statement",
    "accounts.LegalNotice", "accounts.MemberNote", "accounts.AboutFlag", "accounts.ModeratorRule",
    "accounts.RuleVersion", "accounts.HeldPost", "accounts.TextDigest",
    "accounts.AccountDeletion", "accounts.Block", "accounts.Mute", "accounts.Invitation", "accounts.Vouch",
    "accounts.WaitingAccount", "accounts.BallotKey", "accounts.BallotRecord",
    "articles.ArchivedViews", "articles.SiteText", "articles.BlockedHost",
    "articles.SiteSetting", RECORD, *extras.backed_up(),
)  # fmt: skip
"""Models to copy, each after those that it refers to."""

BY_NAME = ("auth.Group_permissions", "accounts.User_user_permissions", "admin.LogEntry")
"""Also copied: rows that refer to permissions and to content types, whose ids differ between databases."""

OMITTED = (
    "sessions.Session",
    "accounts.MemberSession",
    "articles.KnownStore",
    "auth.Permission",
    "contenttypes.ContentType",
    "django_tasks_database.DBTaskResult",
    *extras.not_backed_up(),
)

_ROWS = 500
_NAMED = 10  # missing accounts that a sentence names
_ALIAS = "backup"


@contextmanager
def snapshot(folder: Path) -> Iterator[str]:
    """Yield the alias of a database with the accounts of one moment, while others keep writing.

    With SQLite a copy in `folder`, which is deleted afterwards; with PostgreSQL a transaction.
    """
    own, copy = connections["default"], folder / "accounts.sqlite3"
    if own.in_atomic_block:  # the caller already sees the database as of one moment
        yield own.alias
        return
    settings = own.settings_dict.copy()
    if own.vendor == "sqlite":
        _copy_sqlite(own, copy)
        settings |= {"NAME": str(copy), "OPTIONS": {}}
    connections.settings[_ALIAS] = settings
    try:
        if own.vendor == "sqlite":
            yield _ALIAS
        else:
            with transaction.atomic(using=_ALIAS), connections[_ALIAS].cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield _ALIAS
    finally:
        connections[_ALIAS].close()
        del connections[_ALIAS], connections.settings[_ALIAS]
        copy.unlink(missing_ok=True)


def _copy_sqlite(own: Any, path: Path) -> None:
    own.ensure_connection()
    path.touch(mode=0o600)
    copy = sqlite3.connect(path)
    try:
        own.connection.backup(copy)
    finally:
        copy.close()


def iterate(alias: str) -> Iterator[Line]:
    """Yield all rows of a database, in the order in which they can be loaded."""
    for label in (*MODELS, *BY_NAME):
        model = current_apps.get_model(label)
        for row in model._base_manager.using(alias).order_by("pk").iterator(chunk_size=_ROWS):
            yield [label, {field.name: _value(field, row) for field in model._meta.local_concrete_fields}]


def _value(field: Any, row: Any) -> Any:
    """Return a field's value as JSON can hold it; a permission or kind of rows by its name."""
    value = field.value_from_object(row)
    if value is not None and field.remote_field and field.remote_field.model in (Permission, ContentType):
        return list(getattr(row, field.name).natural_key())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return field.value_to_string(row)


def last_migrations() -> dict[str, str]:
    """Return the last migration of each app that the accounts database has."""
    loader = MigrationExecutor(connection).loader
    applied = [loader.graph.node_map[key] for key in loader.applied_migrations if key in loader.graph.nodes]
    followed = {parent.key for node in applied for parent in node.parents if parent.key[0] == node.key[0]}
    return dict(sorted(node.key for node in applied if node.key not in followed))


# Restoring

loaded = Signal()
"""The rows of a version before 1.0.0, whose last `migrations` it carries, are in today's tables."""


def check_empty() -> None:
    """Raise SiteNotEmpty if there are accounts."""
    if User._meta.db_table in connection.introspection.table_names() and (count := User.objects.count()):
        raise SiteNotEmpty(f"The accounts database has {count:,} accounts.")


def check_migrations(migrations: Mapping[str, str]) -> None:
    """Raise BackupDamaged for a backup with migrations that this version of the site does not know.

    Those of an app that is not here at all are of an extra: see `load`.
    """
    known = MigrationLoader(None).disk_migrations
    unknown = [f"{app}.{name}" for app, name in _targets(migrations) if (app, name) not in known]
    if unknown:
        raise BackupDamaged(
            f"The backup's accounts are those of a newer version of the site ({', '.join(unknown)}): "
            "restore it with that version or a newer one."
        )


def _targets(migrations: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the migrations that make the tables into which a backup with these last ones is loaded."""
    wanted = {**migrations, **(former.MIGRATIONS if former.is_former(migrations) else {})}
    return [(app, name) for app, name in wanted.items() if app in current_apps.app_configs]


class Loaded(NamedTuple):
    """How many accounts were loaded, and how many rows were left out, by the extra that is not here."""

    accounts: int
    left_out: Mapping[str, int]


def load(lines: Iterator[Line], migrations: Mapping[str, str]) -> Loaded:
    """Load all rows into the accounts database, replacing its content, but for those of an extra that is not here.

    The tables are first made as they were when the backup was made, or as version 1.0.0 has them if it is older,
    and then migrated with the rows in them: also those that this version has no longer.
    Raises BackupDamaged for a row that no backup has.
    """
    delete_all()  # of an interrupted restore
    executor = MigrationExecutor(connection)
    targets, is_former = _targets(migrations), former.is_former(migrations)
    if is_former:
        lines = former.renamed(lines)
    left_out = Counter[str]()
    lines = _without_absent(lines, {*migrations, *former.MIGRATIONS}, left_out)
    is_current = set(targets) >= set(executor.loader.graph.leaf_nodes())
    if is_current:
        call_command("migrate", interactive=False, verbosity=0)
    else:
        executor.migrate(targets)
        executor = MigrationExecutor(connection)
    apps = current_apps if is_current else executor.loader.project_state(targets).apps
    by_name: list[Line] = []
    with transaction.atomic():
        apps.get_model("auth.Group")._base_manager.all().delete()  # the migration has made the moderators' one
        for label, rows in groupby((_checked(line, apps) for line in lines), key=lambda line: line[0]):
            if label in BY_NAME:
                by_name += rows
            else:
                _load_rows(apps.get_model(label), rows)
    if not is_current:
        call_command("migrate", interactive=False, verbosity=0)
    if is_former:
        _complete(migrations)
    with transaction.atomic():
        for label, rows in groupby(by_name, key=lambda line: line[0]):
            _load_rows(current_apps.get_model(label), rows)
        _reset_sequences()
        connection.check_constraints()
    return Loaded(User.objects.count(), left_out)


def _without_absent(lines: Iterator[Line], apps: Set[str], left_out: Counter[str]) -> Iterator[Line]:
    """Yield the rows but for those of these apps that are not here, which are counted, and records of others."""
    for line in lines:
        match line:
            case [label, {"name": name}] if label == RECORD and name in extras.names():
                pass
            case [str() as label, _] if (app := label.partition(".")[0]) in apps - current_apps.app_configs.keys():
                left_out[app] += 1
            case _:
                yield line


@transaction.atomic
def _complete(migrations: Mapping[str, str]) -> None:
    """Do what former migrations did with rows, if the backup lacks them."""
    if former.is_before(migrations, "0031_looks_without_separators"):
        members = User.objects.exclude(username__startswith="~").order_by("imported", "pk")
        NameLook.note(dict(members.values_list("username", "pk")))
    if migrations.get("integrity") == "0001_initial":
        former_ballots.remake()
    loaded.send(sender=User, migrations=migrations)


def _checked(line: Any, apps: Apps) -> Line:
    match line:
        case [str() as label, dict()] if label in MODELS or label in BY_NAME:
            return line  # type: ignore[no-any-return]
        case [str() as label, dict()] if _has(apps, label) and not _has(current_apps, label):  # a former model
            return line  # type: ignore[no-any-return]
    raise BackupDamaged(f"this is not an account, nor what belongs to one: {str(line)[:80]!r}")


def _has(apps: Apps, label: str) -> bool:
    with suppress(LookupError, ValueError):
        return bool(apps.get_model(label))
    return False


def delete_all() -> None:
    """Delete all accounts and what belongs to them, without a trace."""
    if User._meta.db_table not in connection.introspection.table_names():
        return
    with transaction.atomic():
        for label in reversed((*MODELS, *BY_NAME)):
            delete_without_trace(current_apps.get_model(label)._base_manager.all())


def _load_rows(model: Any, lines: Iterator[Line]) -> None:
    while batch := list(islice(lines, _ROWS)):
        try:
            rows = [_row(model, values) for _label, values in batch]
        except (FieldDoesNotExist, ValidationError, TypeError, AttributeError, ValueError) as error:
            raise BackupDamaged(f"a row of {model._meta.label} cannot be read: {error}") from error
        model._base_manager.bulk_create([row for row in rows if row is not None])


def _row(model: Any, values: Mapping[str, Any]) -> Any:
    """Return a row; None if it refers to a permission, or a kind of rows, that no longer exists."""
    given: dict[str, Any] = {}
    for name, value in values.items():
        field = model._meta.get_field(name)
        if isinstance(value, list) and field.remote_field:
            try:
                value = field.remote_field.model._base_manager.model.objects.get_by_natural_key(*value).pk  # noqa: PLW2901
            except models.ObjectDoesNotExist:
                return None
        read_by = field.target_field if field.remote_field else field
        given[field.attname] = read_by.to_python(value)
    return model(**given)


def _reset_sequences() -> None:
    """Let the database continue counting from the highest ids."""
    tables: Sequence[Any] = [current_apps.get_model(label) for label in (*MODELS, *BY_NAME)]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), tables):
            cursor.execute(statement)


def missing(repo: Repository) -> Iterator[str]:
    """Yield a sentence if members with lists in the store have no account. Reads the names of all keys."""
    missing: set[UserId] = set()
    for batch in repo.account_ids.iterate():
        missing |= batch.difference(User.objects.filter(pk__in=batch).values_list("pk", flat=True))
    if missing:
        listed = ", ".join(map(str, sorted(missing)[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        yield (
            f"accounts: members of the store without an account: {len(missing):,} ({listed}); "
            "the accounts are older than the store"
        )

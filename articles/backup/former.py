"""Former names: what versions before 1.0.0 called the models, fields and tasks that have other names today.

A rename before the release of 1.0.0 adds its row here. Backups of 0.5.0 and later are loaded into the tables of
1.0.0 by these names; later versions migrate on from there. Keys of the store have kept theirs. Knows no framework.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

ACCOUNTS = (
    "0026_vouches", "0027_devices", "0028_webhooks", "0029_oauth", "0030_synced_passkeys",
    "0031_looks_without_separators", "0032_reversed_decisions", "0033_no_branch_acts", "0034_no_device_codes",
)  # fmt: skip
"""The last migration of `accounts`, in order, of versions from 0.5.0 to before 1.0.0: by it they are known."""

_APPS = ("accounts", "articles", "integrity", "oauth", "providers", "push", "webhooks")

MIGRATIONS = dict.fromkeys(_APPS, "0001_initial")
"""The migrations of 1.0.0, one an app, into whose tables their rows are loaded."""

MODELS: dict[str, str | None] = {
    "accounts.App": "oauth.App",
    "accounts.BranchAct": None,
    "accounts.Grant": "oauth.Grant",
    "accounts.Identity": "providers.Identity",
    "accounts.Webhook": "webhooks.Webhook",
    "integrity.BallotKey": "accounts.BallotKey",
    "integrity.BallotRecord": "accounts.BallotRecord",
}
"""Present labels of models by former ones; None for one that is gone."""

FIELDS: dict[str, dict[str, str | None]] = {
    "accounts.AccountDeletion": {"step": None, "progress": None},  # its pass begins again
    "accounts.User": {"push_kinds": None, "pushed_until": None},
    "integrity.ChainDay": {"previous": None, "digests": None},
}
"""Present names of a model's fields by former ones, by its former label; None for one that is gone."""


def _push_choice(member: Mapping[str, Any]) -> list[Any] | None:
    kinds, default = member.get("push_kinds"), "reply,mention,waiting"
    is_own = kinds not in (None, default) and member["left_at"] is None
    return ["push.Choice", {"member": member["id"], "kinds": kinds}] if is_own else None


SPLIT: dict[str, Callable[[Mapping[str, Any]], list[Any] | None]] = {"accounts.User": _push_choice}
"""What makes a row of its own of a part of a row, if it differs from the default, by the row's former label."""

NEW: dict[str, dict[str, Any]] = {"integrity.ChainDay": {"number": 0}}
"""Values of a model's fields that it did not have, by its former label, where the field has no default."""

TASKS: dict[str, str] = {
    "push.sending.deliver": "extras.push.sending.deliver",
    "webhooks.sending.deliver": "extras.webhooks.sending.deliver",
}
"""Present dotted paths of tasks by former ones, which rows of the queue still have."""

FIRST_CHANGE = ("accounts", "0002_preferences")
"""A migration that each database has that a version before 1.0.0 made."""

REFUSAL = (
    "The accounts database is of a version before 1.0.0, which this version does not migrate: make a backup with "
    "that version, 0.5.0 or newer, and restore it with this one into an empty DATA_DIR (docs/upgrading.md)."
)
"""What the operator reads who starts this version on such a database."""


def is_former(migrations: Mapping[str, str]) -> bool:
    """Return whether a backup with these last migrations is of a version before 1.0.0."""
    return migrations.get("accounts") in ACCOUNTS


def is_before(migrations: Mapping[str, str], name: str) -> bool:
    """Return whether such a backup lacks one of `ACCOUNTS`."""
    return ACCOUNTS.index(migrations["accounts"]) < ACCOUNTS.index(name)


def renamed(lines: Iterable[Any]) -> Iterator[Any]:
    """Yield a former backup's rows by their present names, without those that are gone; then those of `SPLIT`."""
    split = []
    for line in lines:
        match line:
            case [str() as label, dict() as values]:
                if label in SPLIT and (part := SPLIT[label](values)):
                    split.append(part)
                fields, present = FIELDS.get(label, {}), MODELS.get(label, label)
                if present is not None:
                    names = ((fields.get(name, name), value) for name, value in values.items())
                    yield [
                        present,
                        NEW.get(label, {}) | {name: value for name, value in names if name is not None},
                    ]
            case _:
                yield line
    yield from split

"""`manage.py backup` and `manage.py restore`: what the operator sees, and which backups are refused."""

import gzip
import hashlib
import json
import os
import shutil
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError
from django.db import transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.base import Task

from accounts.models import (
    AboutFlag,
    AccountDeletion,
    Authenticator,
    BallotKey,
    BallotRecord,
    Ban,
    BanScope,
    GroupModerator,
    HeldPost,
    Invitation,
    LegalNotice,
    MemberNote,
    ModeratorRule,
    NameLook,
    Passkey,
    PermissionGroup,
    RecoveryCode,
    RuleVersion,
    Statement,
    Sweep,
    TextDigest,
    Token,
    User,
    Vouch,
    WaitingAccount,
)
from articles import known_store
from articles.backup import accounts, files as manifest, folders, former, making, restoring
from articles.configuration.encryption import encrypt
from articles.domain.articles import Choice
from articles.models import ArchivedViews, BlockedHost, ExtraRecord, SiteSetting, SiteText
from articles.operation import extras as of_extras
from articles.web import wiring
from tests import extras
from tests.internals import HeldLease, failing
from tests.store_state import DEEP, FORGED_RECORDS, client_of, contents, damage_article, damage_votes_of
from tests.topologies import of_this_run

OLDER = "start version 0.5.0 on that site, which upgrades it, and make a backup with that"
"""What the operator of an older version reads."""


@pytest.fixture
def used(run, site_store, alice, carol):
    """A site with an article that alice posted, and rows of every model."""
    site_store.articles.post(alice.pk, "alice", "Redis 数据库", "https://example.org/1")
    Token.objects.issue(alice, "script", scopes=["vote"])
    Passkey.objects.create(user=alice, name="phone", credential_id="Aa-_", public_key="pQEC")
    Authenticator.objects.create(user=alice, secret=encrypt("JBSWY3DPEHPK3PXP"), last_step=58_000_000)
    RecoveryCode.objects.create(user=alice, digest="d" * 64)
    for fill in extras.all_of("fill"):
        fill(alice)
    group = PermissionGroup.objects.create(name="Editors")
    group.permissions.add(Permission.objects.get(codename="edit_any_article"))
    alice.groups.add(group)
    alice.user_permissions.add(Permission.objects.get(codename="see_operation"))
    alice.blocks.create(blocked=carol)
    alice.mutes.create(article=1)
    gone = User.objects.create_user("gone")
    gone.left_at = timezone.now()
    gone.save()
    AccountDeletion.objects.create(user=gone, begun_at=gone.left_at, progress={"articles": "log 0 50"})
    ArchivedViews.objects.create(
        article_id=1,
        pv=3,
        uv=2,
        sketch=b"HYLL\x00\xff",
        suspects={"bot": 1},
        viewed_at=1.5,
        archived_at=timezone.now(),
    )
    rule = ModeratorRule.objects.create(name="Night")
    RuleVersion.objects.create(rule=rule, number=1, definition={"words": ["x"]}, author=carol)
    HeldPost.objects.create(author=alice, rule=rule, title="Held")
    TextDigest.objects.create(digest="d" * 32, author=alice)
    BallotKey.objects.create(member=alice)
    day, packed = date(2026, 1, 1), b"\x1f\x8b"
    BallotRecord.objects.create(article_id=1, version=1, day=day, digest="d", head="1 1", ballots=packed)
    Invitation.objects.create(inviter=alice, code="code", expires_at=timezone.now(), invited=carol)
    WaitingAccount.objects.create(user=alice)
    Vouch.objects.create(by=alice, member=carol)
    SiteText.objects.create(name="rules", language="en", text="Be kind.")
    BlockedHost.objects.create(host="spam.example", reason="spam")
    SiteSetting.objects.create(name="SIGN_UP", text="approval")
    ExtraRecord.objects.create(name="gongs", settings=["GONGS"])
    Sweep.objects.create(member=alice, moderator=carol, reason="Spam", since=timezone.now())
    AboutFlag.objects.create(member=alice, flagger=carol, reason="spam")
    User.objects.filter(pk=alice.pk).update(about="A *gardener*")
    GroupModerator.objects.create(member=alice, group="python", by=carol)
    MemberNote.objects.create(member=alice, author=carol, text="Asked for patience")
    ban = Ban.objects.begin(alice, BanScope.VOTING, "Spam", ends_at=None, moderator_id=carol.pk)
    Statement.objects.create(member=alice, act="ban", ban=ban, reason="Spam", moderator=carol, appeal="Please")
    LegalNotice.objects.create(address="/users/alice/", member=alice, reason="rules", explanation="Spam")
    LogEntry.objects.create(
        user=carol,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(alice.pk),
        object_repr="alice",
        action_flag=ADDITION,
    )
    return site_store


@pytest.fixture
def elsewhere(store_paths, settings, tmp_path):
    """A function that turns this process into an empty site with another store, which knows no accounts."""
    url = store_paths.url(of_this_run.OTHER_DATABASE)

    def move() -> None:
        client_of(url).flushdb()
        settings.STORE_URL = url
        settings.SECRET_KEY_FILE = tmp_path / "restored_key"
        wiring.forget_repositories()
        accounts.delete_all()
        known_store.accept_any()

    yield move
    client_of(url).flushdb()


def rows() -> dict[str, list[dict[str, object]]]:
    models = [apps.get_model(label) for label in (*accounts.MODELS, *accounts.BY_NAME)]
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in models}


def forget_new() -> None:
    """Delete rows of models that 0.5.0 did not have in any form."""
    for label in chain.from_iterable(extras.all_of("NEW_MODELS")):
        apps.get_model(label).objects.all().delete()


def only(folder: Path) -> Path:
    (made,) = folders.list_backups(folder)
    return made


def test_a_site_is_restored_with_its_accounts_and_articles(run, used, elsewhere, tmp_path, alice, settings):
    before = rows()
    assert all(before.values())

    assert "1 articles and 3 accounts" in run("backup", tmp_path / "backups")
    elsewhere()
    output = run("restore", tmp_path / "backups")

    assert "1 articles and 3 accounts restored" in output
    assert "The audit found nothing." in output
    assert rows() == before
    restored = wiring.unprepared_repository()
    assert restored.articles.get(1, reader=alice.pk).choice is Choice.VOTE
    assert known_store.known_site() == restored.site_id == used.site_id
    assert Path(settings.SECRET_KEY_FILE).read_text() == settings.SECRET_KEY
    assert User.objects.create_user("newcomer").pk > max(row["id"] for row in before["User"])


def test_only_the_operator_can_read_a_backup(run, used, tmp_path):
    run("backup", tmp_path / "backups")

    made = only(tmp_path / "backups")
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (made.parent, made, *made.iterdir())}
    assert modes.pop("backups") == modes.pop(made.name) == "0o700"
    assert set(modes.values()) == {"0o600"}


def test_every_model_is_in_a_backup_or_left_out_on_purpose():
    known = {label.lower() for label in (*accounts.MODELS, *accounts.BY_NAME, *accounts.OMITTED)}
    stored = {
        model._meta.label_lower
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    }

    assert stored == known


@pytest.mark.parametrize("name", [manifest.STORE, manifest.ACCOUNTS, manifest.SECRET_KEY])
@pytest.mark.parametrize("damage", ["flipped", "cut", "missing"])
def test_a_damaged_backup_is_refused_and_changes_nothing(run, used, elsewhere, tmp_path, name, damage):
    run("backup", tmp_path / "backups")
    path = only(tmp_path / "backups") / name
    content = path.read_bytes()
    middle = len(content) // 2
    match damage:
        case "flipped":
            path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        case "cut":
            path.write_bytes(content[:-1])
        case "missing":
            path.unlink()
    elsewhere()

    for options in ((), ("--check",)):
        with pytest.raises(CommandError, match=rf"is damaged and was not restored: {name}: "):
            run("restore", tmp_path / "backups", *options)
    assert not User.objects.exists()
    assert contents(wiring.unprepared_repository()) == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"site": "another"}, "its digest differs"),
        ({"format": 2}, "which writes other backups"),
        ({"files": 3}, "is damaged"),
        ("[]", "is not the manifest of a backup"),
        (DEEP, "is not the manifest of a backup"),
        ('{"digest": "' + "a" * (1 << 20), "is not the manifest of a backup"),
    ],
)
def test_a_manifest_that_was_changed_is_refused(run, used, tmp_path, changes, sentence):
    run("backup", tmp_path / "backups")
    path = only(tmp_path / "backups") / manifest.MANIFEST
    values = json.loads(path.read_text())
    path.write_text(changes if isinstance(changes, str) else json.dumps(values | changes))

    with pytest.raises(CommandError, match=sentence):
        run("restore", tmp_path / "backups", "--check")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"layout": 99}, "layout 99"), ({"version": "0.2.0", "layout": 6}, OLDER),
        ({"version": "0.3.0"}, OLDER), ({"version": "0.4.0"}, OLDER), ({"version": ""}, OLDER),
        ({"migrations": {"accounts": "0099_later"}}, r"newer version of the site \(accounts\.0099_later\)"),
    ],
)  # fmt: skip
def test_a_backup_of_another_version_is_refused(run, used, elsewhere, tmp_path, changes, sentence):
    run("backup", tmp_path / "backups")
    sign(only(tmp_path / "backups"), changes)
    elsewhere()
    before = rows()

    for more in (["--check"], []):
        with pytest.raises(CommandError, match=sentence):
            run("restore", tmp_path / "backups", *more)
    assert contents(wiring.unprepared_repository()) == {}
    assert rows() == before


def sign(folder: Path, changes: dict[str, object]) -> None:
    """Write another manifest, with its digest."""
    values = json.loads((folder / manifest.MANIFEST).read_text()) | changes
    del values["digest"]
    text = json.dumps(values | {"digest": manifest._digest(values)})
    (folder / manifest.MANIFEST).write_text(text)


def tamper(folder: Path, name: str, lines: list[object]) -> None:
    """Put lines before those of a file of a backup, and write its digest into the manifest."""
    path, files = folder / name, json.loads((folder / manifest.MANIFEST).read_text())["files"]
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_bytes(gzip.compress("\n".join([*texts, gzip.decompress(path.read_bytes()).decode()]).encode()))
    content = path.read_bytes()
    files[name] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    sign(folder, {"files": files})


@pytest.mark.parametrize("last", ["0026_vouches", "0034_no_device_codes"])
def test_rows_of_earlier_versions_get_their_present_names_and_what_they_lack(
    run, used, elsewhere, tmp_path, last, carol
):
    NameLook.objects.all().delete()
    forget_new()
    before = rows()
    run("backup", tmp_path / "backups")
    folder = only(tmp_path / "backups")
    sign(folder, {"version": "0.5.0", "migrations": {"accounts": last, "integrity": "0001_initial"}})
    left = {"user": carol.pk, "begun_at": "2026-01-01T00:00:00Z", "again": True, "step": 2, "progress": "log 0 50"}
    former_rows = {"accounts.BranchAct": {"id": 1, "root": 1}, "accounts.AccountDeletion": left}
    tamper(folder, manifest.ACCOUNTS, [*former_rows.items()])
    elsewhere()

    run("restore", folder)

    restored = rows()
    kept = before.keys() - {"NameLook", "BallotRecord", "AccountDeletion"}.union(*extras.all_of("REMADE"))
    assert {name: restored[name] for name in kept} == {name: before[name] for name in kept}
    deletions = {row["user_id"]: (row["again"], row["progress"]) for row in restored["AccountDeletion"]}
    assert deletions[carol.pk] == (True, {})
    members = {row["id"] for row in before["User"]} if last == "0026_vouches" else set()
    assert {row["user_id"] for row in restored["NameLook"]} == members


def test_rows_of_an_extra_that_is_not_here_are_left_out_and_what_is_left_of_it_is_named(
    run, used, elsewhere, tmp_path
):
    run("backup", tmp_path / "backups")
    folder = only(tmp_path / "backups")
    sign(folder, {"migrations": accounts.last_migrations() | {"gongs": "0001_initial"}})
    tamper(folder, manifest.ACCOUNTS, [["gongs.Gong", {"id": 1}], ["gongs.Gong", {"id": 2}]])
    elsewhere()

    assert "2 rows of the extra gongs were left out: it is not installed here." in run("restore", folder)

    assert of_extras.deleted() == ["gongs"]


def test_what_former_names_stand_for_exists():
    labels = {label: former.MODELS.get(label, label) for label in {*former.MODELS, *former.FIELDS, *former.NEW}}
    here = {label: name for label, name in labels.items() if name and name.partition(".")[0] in apps.app_configs}
    present = {label: apps.get_model(name) for label, name in here.items()}
    fields = {(label, name) for label, names in former.FIELDS.items() for name in names.values() if name}
    fields |= {(label, name) for label, values in former.NEW.items() for name in values}
    tasks = [path for path in former.TASKS.values() if path.split(".")[1] in apps.app_configs]

    assert all(present[label]._meta.get_field(name) for label, name in fields)
    assert all(isinstance(import_string(path), Task) for path in tasks)


@pytest.fixture
def later_version(run, tmp_path, settings, monkeypatch):
    """A function that turns this process into a later version, whose one migration more changes a text."""
    package = tmp_path / "later" / "migrations_of_a_later_version"
    package.mkdir(parents=True)

    def become():
        shutil.copytree(Path(settings.BASE_DIR, "articles", "migrations"), package, dirs_exist_ok=True)
        (package / "0002_later.py").write_text(LATER)
        monkeypatch.syspath_prepend(package.parent)
        settings.MIGRATION_MODULES = {"articles": package.name}

    yield become
    MigrationRecorder.Migration.objects.filter(name="0002_later").delete()


LATER = """
from django.db import migrations

def shout(apps, _editor):
    for text in apps.get_model("articles", "SiteText").objects.all():
        text.text = text.text.upper()
        text.save()

class Migration(migrations.Migration):
    dependencies = [("articles", "0001_initial")]
    operations = [migrations.RunPython(shout)]
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("former_migration", ["", "0029_oauth"])
def test_a_later_version_migrates_the_rows_of_a_backup(
    run, used, elsewhere, later_version, tmp_path, former_migration
):
    forget_new()
    with transaction.atomic():  # a snapshot needs no other connection
        run("backup", tmp_path / "backups")
    if former_migration:
        sign(only(tmp_path / "backups"), {"version": "0.5.0", "migrations": {"accounts": former_migration}})
    elsewhere()
    later_version()

    run("restore", tmp_path / "backups")

    assert SiteText.objects.get().text == "BE KIND."
    assert accounts.last_migrations()["articles"] == "0002_later"


ROW = {"id": 9, "username": "eve"}


@pytest.mark.deep
@pytest.mark.parametrize("line", FORGED_RECORDS, ids=lambda line: str(line)[:60])
def test_a_record_that_no_backup_has_is_refused_and_leaves_the_site_empty(run, used, elsewhere, tmp_path, line):
    run("backup", tmp_path / "backups")
    tamper(only(tmp_path / "backups"), manifest.STORE, [line])
    elsewhere()

    with pytest.raises(CommandError, match="is damaged and was not restored"):
        run("restore", tmp_path / "backups")
    assert contents(wiring.unprepared_repository()) == {}
    assert not User.objects.exists()


@pytest.mark.deep
@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        7,
        ["sessions.Session", {"session_key": "mine", "session_data": "", "expire_date": "2099-01-01T00:00:00Z"}],
        ["accounts.User", ROW | {"is_emperor": True}],
        ["accounts.User", ROW | {"date_joined": "yesterday"}],
        ["accounts.User", ROW | {"id": [1, 2, 3]}],
        ["accounts.User", ROW | {"id": "9" * 30}],
        ["accounts.Token", {"id": 9, "user": 4711}],
        ["accounts.User_user_permissions", {"id": 9, "user": 1, "permission": ["a", {}, 3, 4]}],
    ],
    ids=lambda line: str(line)[:60],
)
def test_a_row_that_no_backup_has_is_refused_and_leaves_the_site_empty(run, used, elsewhere, tmp_path, line):
    run("backup", tmp_path / "backups")
    tamper(only(tmp_path / "backups"), manifest.ACCOUNTS, [line])
    elsewhere()

    with pytest.raises(CommandError, match="is damaged and was not restored"):
        run("restore", tmp_path / "backups")
    assert contents(wiring.unprepared_repository()) == {}
    assert not User.objects.exists()


def test_only_plain_files_that_a_backup_has_are_opened(run, used, tmp_path):
    run("backup", tmp_path / "backups")
    folder = only(tmp_path / "backups")
    secret, files = tmp_path / "secret", json.loads((folder / manifest.MANIFEST).read_text())["files"]
    secret.write_bytes((folder / manifest.STORE).read_bytes())

    sign(folder, {"files": files | {"../../secret": files[manifest.STORE]}})
    with pytest.raises(CommandError, match="it names other files than a backup has"):
        run("restore", folder, "--check")

    sign(folder, {"files": files})
    for make in (lambda path: path.symlink_to(secret), os.mkfifo, Path.mkdir):
        (folder / manifest.STORE).unlink()
        make(folder / manifest.STORE)
        with pytest.raises(CommandError, match=f"is damaged and was not restored: {manifest.STORE}: "):
            run("restore", folder, "--check")


def test_a_site_with_articles_or_accounts_is_not_overwritten(run, used, elsewhere, tmp_path):
    run("backup", tmp_path / "backups")
    before = contents(used), rows()

    with pytest.raises(CommandError, match=r"The accounts database has 3 accounts\. A backup is"):
        run("restore", tmp_path / "backups")
    assert (contents(used), rows()) == before

    elsewhere()
    wiring.unprepared_repository().prepare()
    with pytest.raises(CommandError, match=r"The store holds \d+ keys\. A backup is restored into an empty site"):
        run("restore", tmp_path / "backups")
    assert not User.objects.exists()


@pytest.mark.deep
@pytest.mark.parametrize("step", ["load", "_restore_secret_key", "read_lines"])
def test_an_interrupted_restore_keeps_the_site_from_starting_until_repeated(run, used, elsewhere, tmp_path, step):
    run("backup", tmp_path / "backups")
    before = rows()
    elsewhere()

    owner = {"load": accounts, "read_lines": restoring.files}.get(step, restoring)
    with failing(owner, step), pytest.raises(CommandError, match="Run it again to finish"):
        run("restore", tmp_path / "backups")
    with pytest.raises(CommandError, match="its restore was interrupted"):
        run("audit")
    assert "The audit found nothing" in run("restore", tmp_path / "backups")

    assert rows() == before
    run("forget_extra", "gongs")
    assert "1 articles, no findings" in run("audit")


def test_the_newest_backups_are_kept(run, used, tmp_path):
    folder = tmp_path / "backups"
    for _ in range(3):
        run("backup", folder)
    sign(folders.list_backups(folder)[0], {"site": "another"})
    (folder / "notes").mkdir()
    oldest, *_, newest = folders.list_backups(folder)

    run("backup", folder, "--keep", "2")

    kept = folders.list_backups(folder)
    assert len(kept) == 3
    assert {oldest, newest} <= set(kept), "another site's, and one of the newest two"
    assert (folder / "notes").is_dir()


def test_an_interrupted_backup_leaves_nothing(run, used, tmp_path):
    told = pytest.raises(CommandError, match="Interrupted: no backup was made")
    with failing(accounts, "iterate"), told:
        run("backup", tmp_path / "backups")

    assert [path.name for path in (tmp_path / "backups").iterdir()] == [".lock"]


def test_what_a_killed_backup_left_is_dropped_by_the_next_one(run, used, tmp_path):
    stale = tmp_path / "backups" / ".partial-2026-01-01T00-00-00Z"
    stale.mkdir(parents=True)
    assert folders.newest_in(tmp_path / "backups") is None

    run("backup", tmp_path / "backups")

    assert not stale.exists()
    assert only(tmp_path / "backups")


def test_a_damaged_key_is_named_and_the_rest_is_backed_up(run, used, elsewhere, tmp_path, alice, capsys):
    name = damage_votes_of(used, 1, alice.pk)

    with pytest.raises(SystemExit):
        run("backup", tmp_path / "backups")

    assert f"because they are damaged: {name}" in capsys.readouterr().err
    elsewhere()
    assert "The audit found nothing" in run("restore", tmp_path / "backups")


def test_an_article_that_cannot_be_read_keeps_no_other_from_being_backed_up(run, used, tmp_path, alice, capsys):
    other = used.articles.post(alice.pk, "alice", "Another", "https://example.org/2").id
    name = damage_article(used, other)

    with pytest.raises(SystemExit):
        run("backup", tmp_path / "backups")

    assert f"because they are damaged: {name}" in capsys.readouterr().err
    assert manifest.read_manifest(only(tmp_path / "backups")).counts["articles"] == 1


def test_housekeeping_is_kept_away_as_long_as_a_backup_takes(used, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "_LEASE_SECONDS", 0.0)
    renewals = []
    with used.lease.acquire() as lease:
        monkeypatch.setattr(HeldLease, "renew", lambda held: renewals.append(held) or True)
        made = making.make(used, tmp_path / "backups")

    lines = sum(file.lines for file in manifest.read_manifest(made).files.values())
    assert renewals == [lease] * lines


def test_a_backup_is_due_by_the_age_of_the_newest(tmp_path, time_machine):
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    time_machine.move_to(now, tick=False)
    assert folders.is_due(tmp_path)
    for name in ("2026-02-28T12-00-01Z", "2026-02-01T00-00-00Z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / manifest.MANIFEST).touch()

    assert not folders.is_due(tmp_path)
    time_machine.shift(1)
    assert folders.is_due(tmp_path)
    shutil.rmtree(tmp_path / "2026-02-28T12-00-01Z")
    (tmp_path / "2031-01-01T00-00-00Z").mkdir()
    (tmp_path / "2031-01-01T00-00-00Z" / manifest.MANIFEST).touch()
    assert folders.is_due(tmp_path), "made when the clock was wrong"

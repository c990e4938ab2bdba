"""`manage.py export_site`: what the files have, what they must not have, and what the command refuses."""

import hashlib
import json
import re
import stat

import pytest
from django.core.management.base import CommandError
from jsonschema import Draft202012Validator

from accounts import account_deletion
from articles.configuration import choices
from articles.domain.moderation_log import Action, Actor
from extras.moving_in import exporting
from extras.moving_in.staging import COLUMNS
from extras.moving_in.tests.readme import follow, part
from extras.moving_in.tests.used_site import SECRET, fill
from tests.factories import browser_of, member


def rows_of(folder, table):
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path, settings):
    settings.NAMES, settings.DATA_DIR = "any", tmp_path
    return tmp_path / "exports" / "out"


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
def test_every_line_fits_its_schema_and_the_manifest(run, site_store, folder, private):
    fill(site_store)
    run("export_site", folder, private=private)

    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert (manifest["format"], manifest["version"], manifest["is_private"]) == ("article-voting-site", 1, private)
    for table in exporting.tables(is_private=private):
        schema = json.loads((folder / f"schemas/{table}.schema.json").read_text("utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        rows = rows_of(folder, table)
        for row in rows:
            validator.validate(row)
        digest = hashlib.sha256((folder / f"{table}.jsonl").read_bytes()).hexdigest()
        assert manifest["files"][f"{table}.jsonl"] == {"rows": len(rows), "sha256": digest}
        assert rows
    assert {one.name for one in folder.glob("*.*")} == {"manifest.json", *manifest["files"]}


def test_nothing_that_no_reader_sees_is_public(run, site_store, folder):
    fill(site_store)
    run("export_site", folder)

    found = [
        (one.name, line)
        for one in folder.rglob("*.*")
        for line in one.read_text("utf-8").splitlines()
        if '"sha256"' not in line  # its digits can be any
        if SECRET in line.lower() or "dee" in line or "pbkdf2" in line or "argon2" in line
    ]
    assert found == []


def test_a_private_export_can_be_read_by_its_owner_alone(run, site_store, folder):
    fill(site_store)
    assert "Only you can read it" in run("export_site", folder, private=True)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.glob("*.jsonl")} == {0o600}


def test_a_folder_that_has_something_is_refused(run, site_store, folder):
    folder.mkdir(parents=True)
    (folder / "mine").write_text("kept")
    with pytest.raises(CommandError, match="exists and is not empty"):
        run("export_site", folder)
    (folder / "mine").unlink()
    run("export_site", folder)
    assert (folder / "manifest.json").exists()


def test_an_interrupted_export_leaves_nothing(run, site_store, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(exporting.Export, "_write_log", lambda _self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(CommandError, match="nothing was written"):
            run("export_site", folder)
    assert [*folder.parent.iterdir()] == []
    run("export_site", folder)
    assert (folder / "manifest.json").exists()


def test_the_readme_names_each_field_of_each_file():
    written = dict(re.findall(r"^\| `(\w+)\.jsonl` \| (.*) \|$", part("Leaving"), re.MULTILINE))
    assert written == {
        table: ", ".join(f"*{name}*" if one.is_private else name for name, one in columns.items())
        for table, columns in COLUMNS.items()
        if table != "bad"
    }


def test_the_commands_of_the_readme_write_files_and_redirects(run, site_store, folder, monkeypatch):
    ids = fill(site_store)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    said = list(follow("Leaving", run))
    assert ["Only you can read it" in one for one in said] == [False, True]
    redirects = dict(line.split() for line in (folder / "moved.map").read_text().splitlines())
    assert redirects[f"/articles/{ids['open']}/"] == f"/a/{ids['open']};"
    assert redirects[f"/articles/{ids['merged']}/"] == f"/a/{ids['target']};"
    assert f"/articles/{ids['secret']}/" not in redirects
    for line in (folder / "out" / "redirects.tsv").read_text("utf-8").splitlines():
        path, _kind, _id = line.split("\t")
        assert browser_of().get(path).status_code in (200, 302), path


def test_a_member_whose_account_is_being_deleted_has_no_name(run, site_store, folder):
    one, judge = member("zqx-leaving"), member("judge")
    site_store.articles.post(one.pk, one.username, "Mine", "https://example.org/mine")
    site_store.moderation_log.note(Action.BAN, Actor(judge.pk, "judge"), one.username, "Rude")
    site_store.moderation_log.note(Action.LIFT_BAN, Actor(one.pk, one.username), "judge", "Sorry")
    account_deletion.begin(one.pk)
    run("export_site", folder)

    assert "zqx" not in "".join(one.read_text("utf-8") for one in folder.glob("*.*"))
    assert [row["author"] for row in rows_of(folder, "article")] == ["~"]
    assert sorted((row["actor"], row["member"]) for row in rows_of(folder, "log")) == [
        ("judge", "~"),
        ("~", "judge"),
    ]


def test_of_a_site_for_members_it_writes_what_they_see(run, site_store, folder, settings):
    settings.READING = "members"
    choices.forget()
    fill(site_store)
    assert "what all members see" in run("export_site", folder)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {row["id"]: row.get("is_closed") for row in rows_of(folder, "tag")}[f"{SECRET}-closed"] == 1
    assert f"{SECRET}closedarticletext" in (folder / "article.jsonl").read_text("utf-8")
    for word in ("removedtext", "withdrawntext", "removedcomment", "lurker", "aboutbanned", "@"):
        assert f"{SECRET}{word}" not in "".join(one.read_text("utf-8") for one in folder.glob("*.*"))

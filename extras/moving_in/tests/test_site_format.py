"""Exports of this software, as they are read: whole, damaged, of other software and of later versions."""

import json

import pytest

from extras.moving_in.sources import BadSource, format_of
from extras.moving_in.staging import staged


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "article.jsonl").write_text('{"id":"1","title":"One","time":1600000000,"more":1}\nno JSON\n')
    (tmp_path / "alias.jsonl").write_text('{"kind":"other","old_id":"1","id":"2"}\n')
    files = {
        name: {"rows": 1, "sha256": "0"} for name in ("article.jsonl", "alias.jsonl", "redirects.tsv", "/etc/x")
    }
    write(tmp_path, files=files)
    return tmp_path


def write(folder, **more):
    facts = {"format": "article-voting-site", "version": 1, "software": "9", "files": {}} | more
    (folder / "manifest.json").write_text(json.dumps(facts))


def read(folder):
    with staged(folder / "staging.sqlite3") as staging:
        format_of("site").fill(str(folder), staging, {}, lambda _: None)
        bad = {row["place"]: row["reason"] for row in staging.rows("bad")}
        return [row["title"] for row in staging.rows("article")], bad


def test_damaged_lines_and_changed_files_are_reported_and_the_rest_comes(folder):
    titles, bad = read(folder)
    assert titles == ["One"]
    assert "not as it was exported" in bad["article.jsonl"]
    assert bad["article.jsonl:2"] == "The line is not valid JSON."
    assert bad["alias.jsonl:1"] == "The kind is unknown."


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        ({"version": 2}, "an export of version 9"),
        ({"format": "other"}, "of other software"),
        ({"files": 5}, "is damaged"),
        ({"files": {"tag.jsonl": {}}}, "tag.jsonl cannot be read"),
        (None, "is not an export of this software"),
    ],
)
def test_what_is_no_export_of_this_version_is_refused(folder, manifest, sentence):
    if manifest is None:
        (folder / "manifest.json").unlink()
    else:
        write(folder, **manifest)
    with pytest.raises(BadSource, match=sentence):
        read(folder)

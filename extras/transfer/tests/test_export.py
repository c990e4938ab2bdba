"""`manage.py export_articles`, and importing the export again."""

import json
import os
import time

import pytest
from django.core.management.base import CommandError

from accounts.models import User
from articles.domain.articles import Choice
from articles.domain.moderation_log import Actor
from extras.transfer import lines
from extras.transfer.tests.rows import contents, row
from tests.internals import failing
from tests.store_state import empty

CAROL = Actor(99, "carol")


@pytest.fixture
def used(run, site_store, write):
    """A store with every kind of article: old, open, opposed, without votes, without poster, removed."""
    now = time.time()
    run(
        "import_articles",
        write(
            [
                row(1, title="Redis 数据库", votes=-4),
                row(2, poster=None, groups=[]),
                row(3, time=now - 5000.5, votes=7, opposes=2),
                row(4, votes=0, opposes=0, groups=["python", "redis"]),
                row(5, votes=0, opposes=3), row(6, poster="no such name!"), row(7, time=now - 6000), row(8),
            ]
        ),
    )  # fmt: skip
    alice = User.objects.create_user("alice")
    mine = site_store.articles.post(alice.pk, "alice", "Posted here", "https://example.org/here", ["redis"])
    site_store.votes.cast(mine.id, alice.pk, Choice.NONE)
    by_title = {article.title: article.id for article in site_store.imports.iterate()}
    for number in (7, 8):
        site_store.articles.remove(by_title[f"Article {number}"], CAROL, "Spam & 广告")
    return site_store


def exported(text):
    return {fields["title"]: fields for fields in map(json.loads, text.splitlines())}


def test_every_article_but_the_removed_ones_is_exported_as_one_row(run, used):
    rows = exported(run("export_articles"))
    assert set(rows) == {"Redis 数据库", *(f"Article {n}" for n in range(2, 7)), "Posted here"}
    assert rows["Redis 数据库"] == {
        "title": "Redis 数据库",
        "link": "https://example.org/1",
        "poster": "poster1",
        "time": 1_700_000_060,
        "closes": 1_700_604_860,
        "votes": 1,
        "groups": ["python"],
        "opposes": 5,
    }
    assert rows["Article 2"]["poster"] is None
    assert "opposes" not in rows["Article 2"]
    assert (rows["Posted here"]["votes"], rows["Posted here"]["opposes"]) == (0, 0)


def test_removed_articles_are_exported_with_their_reason_on_request(run, used):
    rows = exported(run("export_articles", removed=True))
    assert len(rows) == 9
    assert rows["Article 8"]["removed"] == "Spam & 广告"


@pytest.mark.parametrize("name", ["export.jsonl", "export.jsonl.gz"])
def test_an_export_imported_into_an_empty_store_gives_the_same_articles(run, used, tmp_path, name):
    file = tmp_path / name
    out = run("export_articles", file, removed=True)
    assert out == f"9 articles and 0 comments written to {file}.\n"
    assert file.read_bytes().startswith(b"\x1f\x8b") is name.endswith(".gz")
    before = contents(used)
    empty(used, keep_settings=True)
    run("import_articles", file)
    assert contents(used) == before
    assert list(used.audit.run()) == []


def test_importing_an_export_into_its_own_site_adds_nothing(run, used, tmp_path):
    run("export_articles", tmp_path / "export.jsonl", removed=True)
    assert "0 articles imported, 9 already present." in run("import_articles", tmp_path / "export.jsonl")


def test_an_interrupted_export_keeps_the_old_file(run, used, tmp_path):
    (tmp_path / "export.jsonl").write_text("old")
    told = pytest.raises(CommandError, match="Interrupted: no file was written")
    with failing(lines, "format_line"), told:
        run("export_articles", tmp_path / "export.jsonl")
    assert os.listdir(tmp_path / "") == [name for name in os.listdir(tmp_path) if "part" not in name]
    assert (tmp_path / "export.jsonl").read_text() == "old"


def test_a_file_that_cannot_be_written_is_named(run, used, tmp_path):
    with pytest.raises(CommandError, match="No such file or directory"):
        run("export_articles", tmp_path / "none" / "export.jsonl")

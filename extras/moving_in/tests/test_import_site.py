"""`manage.py import_site`: what it reads again, what it leaves, and what it says."""

import os
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from articles.management.base import Progress
from extras.moving_in.management.commands import import_site
from extras.moving_in.models import Source
from extras.moving_in.sources import BadSource, Format
from tests.store_state import hold_import_lock, problems


@pytest.fixture
def lines(tmp_path, settings, monkeypatch):
    """A source whose lines are titles of articles; it is read as often as `lines.reads` says."""
    settings.DATA_DIR = tmp_path
    source = tmp_path / "titles"
    source.write_text("One\nTwo\n")

    class Lines:
        reads, path = 0, source

    def fill(path, staging, options, reach):
        Lines.reads += 1
        titles = Path(path).read_text().split()
        if "bad" in titles:
            raise BadSource("Line 1 is bad.")
        staging.fill("member", ["id", "name"], [("1", "admin")])
        rows = [(title, title, "Text", "1", 1_600_000_000 + n, 5) for n, title in enumerate(titles)]
        staging.fill("article", ["id", "title", "text", "author", "time", "votes"], rows, reach)

    monkeypatch.setattr(import_site, "format_of", lambda _: Format(fill))
    return Lines


def test_a_source_moves_in_and_again_only_with_what_is_new(run, site_store, lines, tmp_path):
    out = run("import_site", "lines", lines.path, name="old", host="old.example")
    assert "2  articles" in out
    assert "admin → admin-" in out
    source = Source.objects.get()
    assert (source.host, source.format, source.completed_at is not None) == ("old.example", "lines", True)
    assert [*(tmp_path / "moving_in").iterdir()] == []

    lines.path.write_text("One\nTwo\nThree\n")
    out = run("import_site", "lines", lines.path, name="old")
    assert "1  articles (2 already present)" in out
    assert Source.objects.get().host == "old.example"
    assert sorted(one.title for one in site_store.imports.iterate()) == ["One", "Three", "Two"]
    assert problems(site_store) == []


def test_a_dry_run_reads_the_source_for_the_import_unless_it_changes(run, site_store, lines):
    out = run("import_site", "lines", lines.path, "--dry-run", name="old")
    assert "2  articles" in out
    assert "About 0 minutes for 3 rows" in out
    assert (site_store.imports.count(), Source.objects.count()) == (0, 0)
    run("import_site", "lines", lines.path, "--dry-run", name="old")
    assert lines.reads == 1

    lines.path.write_text("Other\n")
    run("import_site", "lines", lines.path, name="old")
    assert lines.reads == 2
    assert [one.title for one in site_store.imports.iterate()] == ["Other"]


def test_what_cannot_be_imported_is_said(run, site_store, lines):
    with pytest.raises(CommandError, match="nowhere: No such file"):
        run("import_site", "lines", "nowhere", name="old")
    with pytest.raises(CommandError, match="--name takes"):
        run("import_site", "lines", lines.path, name="../old")
    hold_import_lock(site_store)
    with pytest.raises(CommandError, match="Another import is running"):
        run("import_site", "lines", lines.path, name="old")
    lines.path.write_text("bad\n")
    with pytest.raises(CommandError, match=r"Line 1 is bad\."):
        run("import_site", "lines", lines.path, name="old")


def test_a_signal_ends_it_after_a_batch_and_it_goes_on(run, site_store, lines, monkeypatch):
    reached = Progress.reach
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "reach", lambda bar, done: (reached(bar, done), os.kill(os.getpid(), 15)))
        with pytest.raises(CommandError, match="Run it again to continue"):
            run("import_site", "lines", lines.path, name="old")
    assert site_store.imports.count() == 0
    run("import_site", "lines", lines.path, name="old")
    assert lines.reads == 1
    assert site_store.imports.count() == 2

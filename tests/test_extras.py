"""The contract of extras: what is refused at start, and what a deleted folder leaves behind."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

import extras
from articles.models import ExtraRecord, SiteSetting
from articles.operation import extras as of_extras

SETTING = "from extras import Rows, Setting\nROWS = Rows(settings=(Setting('BELLS', 'yes/no', '1'),))\n"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what makes folders of extras, by name with the text of `rows.py`, the only ones that are there."""

    def make(**rows: str) -> None:
        for name, text in rows.items():
            (tmp_path / name).mkdir()
            for file in ("__init__.py", "apps.py"):
                (tmp_path / name / file).touch()
            (tmp_path / name / "rows.py").write_text(text)
        extras.names.cache_clear()
        extras._rows.cache_clear()

    monkeypatch.setattr(extras, "FOLDER", tmp_path)
    monkeypatch.setattr(extras, "__path__", [str(tmp_path)])
    yield make
    monkeypatch.undo()
    make()


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"bells": SETTING, "chimes": SETTING}, "extras/bells and extras/chimes both have the setting BELLS."),
        ({"gongs": "from django.db import models\n"}, "extras/gongs/rows.py imports django.db: rows import only"),
        (
            {"horns": "import articles.repository\n"},
            "extras/horns/rows.py imports articles.repository:",
        ),
        ({"drums": "ROWS = {}\n"}, "extras/drums/rows.py has no ROWS of the type extras.Rows."),
    ],
)
def test_rows_that_cannot_be_right_are_refused_in_a_sentence(folders, rows, sentence):
    folders(**rows)

    with pytest.raises(extras.BadExtra) as refused:
        extras.settings()
    assert str(refused.value).startswith(sentence)


@pytest.fixture
def gone(db: None) -> None:
    """What a site has of an extra whose folder was deleted."""
    with connection.cursor() as cursor:
        for table in ("gongs_gong", "gongs_stroke"):
            cursor.execute(f"CREATE TABLE {table} (id integer)")
    ExtraRecord.objects.create(name="gongs", tables=["gongs_gong", "gongs_stroke"], settings=["GONGS"])
    SiteSetting.objects.create(name="GONGS", text="loud")
    SiteSetting.objects.create(name="SITE_NAME", text="Gongs")
    ContentType.objects.create(app_label="gongs", model="gong")
    MigrationRecorder(connection).record_applied("gongs", "0001_initial")


def test_what_a_deleted_extra_has_is_named_and_then_forgotten(gone, capsys):
    sentence = (
        "The folder extras/gongs was deleted, but its data is still here: run `manage.py forget_extra gongs`"
    )
    assert [text.startswith(sentence) for text in of_extras.sentences()] == [True]

    call_command("forget_extra", "gongs")
    call_command("forget_extra", "gongs")

    assert capsys.readouterr().out.splitlines() == ["All data of gongs is removed.", "There is no data of gongs."]
    assert list(of_extras.sentences()) == []
    assert {"gongs_gong", "gongs_stroke"}.isdisjoint(connection.introspection.table_names())
    assert list(SiteSetting.objects.values_list("name", flat=True)) == ["SITE_NAME"]
    assert not ContentType.objects.filter(app_label="gongs").exists()
    assert ("gongs", "0001_initial") not in MigrationRecorder(connection).applied_migrations()


@pytest.mark.parametrize("name", extras.names())
def test_the_data_of_an_extra_that_is_here_is_not_removed(db, name):
    with pytest.raises(CommandError, match="delete the folder first"):
        call_command("forget_extra", name)

    assert ExtraRecord.objects.get(name=name).tables

"""The contract of extras: what is refused at start, and what a deleted folder leaves behind."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import ForeignKey, Model
from django.urls import path
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

import extras as folder_of_extras
import tasks
from accounts import account_deletion
from accounts.models import Token, User
from accounts.sessions import MemberSession
from articles.domain import extras
from articles.models import ExtraRecord, SiteSetting
from articles.operation import extras as of_extras
from articles.web import extras as running
from tests import extras as for_tests
from tests.factories import member, post, vote
from tests.source import ROOT, modules, within
from tests.tasks.noted import note

SETTING = (
    "from articles.domain.extras import Rows, Setting\nROWS = Rows(settings=(Setting('BELLS', 'yes/no', '1'),))\n"
)


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
    monkeypatch.setattr(folder_of_extras, "__path__", [str(tmp_path)])
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
        ({"drums": "ROWS = {}\n"}, "extras/drums/rows.py has no ROWS of the type Rows."),
    ],
)
def test_rows_that_cannot_be_right_are_refused_in_a_sentence(folders, rows, sentence):
    folders(**rows)

    with pytest.raises(extras.BadExtra) as refused:
        extras.settings()
    assert str(refused.value).startswith(sentence)


def test_what_the_core_has_is_refused_in_a_sentence(folders):
    folders(bells=SETTING)

    extras.refuse_doubles("setting", ["BELLS", "SITE_NAME"])
    with pytest.raises(extras.BadExtra) as refused:
        extras.refuse_doubles("setting", ["BELLS", "SITE_NAME", "BELLS"])
    assert str(refused.value) == "the core and extras/bells both have the setting BELLS."


@pytest.mark.parametrize(
    ("name", "apps", "sentence"),
    [
        ("my-gongs", "", "extras/my-gongs: the name of a folder here is letters, digits and _, such as my_extra."),
        ("class", "", "extras/class: the name of a folder here is"),
        ("auth", "", "extras/auth has the label of the app django.contrib.auth: give the folder another name."),
        ("gongs", "", "extras/gongs/apps.py needs one class of articles.web.extras.Extra, and has none."),
        (
            "gongs",
            "class One(Extra):\n    name = 'extras.gongs'\nclass Two(apps.Extra):\n    name = 'extras.gongs'\n",
            "extras/gongs/apps.py needs one class of articles.web.extras.Extra, and has One and Two.",
        ),
        (
            "gongs",
            "class Gongs(Extra):\n    name = 'extras.bells'\n",
            "extras/gongs/apps.py: the class Gongs needs the name 'extras.gongs'.",
        ),
    ],
)
def test_folders_and_classes_that_cannot_be_right_are_refused_in_a_sentence(
    folders, tmp_path, name, apps, sentence
):
    folders(**{name: "from articles.domain.extras import Rows\nROWS = Rows()\n"})
    (tmp_path / name / "apps.py").write_text(apps)

    with pytest.raises(extras.BadExtra) as refused:
        extras.installed_apps(settings.INSTALLED_APPS)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("pages", "bars", "sentence"),
    [
        ({"bells": "x/ hum", "gongs": "y/ hum"}, (), "extras/bells and extras/gongs both have the address hum."),
        ({"bells": "x/ ring", "gongs": "x/ hit"}, (), "extras/bells and extras/gongs both have the address /x/."),
        ({"gongs": "x/ about"}, (), "the core and extras/gongs both have the address about."),
        ({}, ("cellar",), f"extras.gongs has a link in the bar 'cellar'; the bars are {', '.join(running.BARS)}."),
    ],
)  # fmt: skip
def test_addresses_that_two_have_and_links_in_no_bar_are_refused_in_a_sentence(
    folders, tmp_path, monkeypatch, pages, bars, sentence
):
    folders(**dict.fromkeys(pages, ""))
    for name, address in pages.items():
        route, called = address.split()
        text = f"from django.urls import path\nurlpatterns = [path('{route}', print, name='{called}')]\n"
        (tmp_path / name / "pages.py").write_text(text)
        monkeypatch.delitem(sys.modules, f"extras.{name}", raising=False)
        monkeypatch.delitem(sys.modules, f"extras.{name}.pages", raising=False)
    entries = [running.Entry(bar, "articles:about", "", lambda: True) for bar in bars]
    monkeypatch.setattr(
        running, "installed", lambda: [SimpleNamespace(name="extras.gongs", entries=lambda: entries)]
    )

    with pytest.raises(extras.BadExtra) as refused:
        running.urlpatterns([path("about/", print, name="about")])
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("views=(View('articles:hum'),)", "extras/gongs has a row of the view articles:hum, but no address"),
        ("views=(View('gongs:hum', limits=('hums',)),)", "extras/gongs: there is no limit hums, which gongs:hum"),
        ("buttons=(FormButton('articles:hum', 'ring', ()),)", "extras/gongs has a row of the view articles:hum,"),
    ],
)
def test_rows_of_views_and_limits_that_are_not_there_are_refused_in_words(folders, monkeypatch, row, sentence):
    folders(gongs=f"from articles.domain.extras import FormButton, Rows, View\nROWS = Rows({row})\n")
    for module in ("gongs", "gongs.rows", "gongs.pages"):
        monkeypatch.delitem(sys.modules, f"extras.{module}", raising=False)
    monkeypatch.setattr(running, "installed", list)

    with pytest.raises(extras.BadExtra) as refused:
        running.urlpatterns([])
    assert str(refused.value).startswith(sentence)


def test_addresses_of_their_own_that_two_have_are_refused_in_a_sentence(monkeypatch):
    of_both = dict.fromkeys(("tower/", ""), "some.module")
    both = [SimpleNamespace(label=name, addresses=lambda: of_both) for name in ("bells", "chimes")]
    monkeypatch.setattr(running, "installed", lambda: both)

    with pytest.raises(extras.BadExtra, match=r"^extras/bells and extras/chimes both have the address tower/[.]$"):
        running.addresses()


def test_rows_are_pure_also_by_what_they_import():
    """In a process of its own, which has loaded nothing else."""
    read = "import sys; from articles.domain import extras; extras.settings()"
    look = f"{read}; sys.exit(sorted({{'django', 'redis'}} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def gone(db: None) -> None:
    """What a site has of an extra whose folder was deleted."""
    with connection.cursor() as cursor:
        for table in ("gongs_gong", "gongs_stroke"):
            cursor.execute(f"CREATE TABLE {table} (id integer)")
    ExtraRecord.objects.create(
        name="gongs",
        tables=["gongs_gong", "gongs_stroke", "articles_sitesetting"],  # the last belongs to the core meanwhile
        settings=["GONGS", "SITE_NAME"],
        keys=["gonged:<user>", "limit:gongs:<subject>", "voted:<id>"],
        article_fields=["gongs"],
    )
    SiteSetting.objects.create(name="GONGS", text="loud")
    SiteSetting.objects.create(name="SITE_NAME", text="Gongs")
    ContentType.objects.create(app_label="gongs", model="gong")
    MigrationRecorder(connection).record_applied("gongs", "0001_initial")
    for was in ("extras.gongs.sending.strike", "gongs.sending.strike"):
        tasks.add(note, "gong")
        DBTaskResult.objects.filter(task_path=note.module_path).update(task_path=was)


def test_what_a_deleted_extra_has_is_named_and_then_forgotten(gone, site_store, capsys, settings):
    settings.FORMER_TASKS = {"gongs.sending.strike": "extras.gongs.sending.strike"}
    posted = post(site_store, 1)
    vote(site_store, posted)
    shard, client = site_store.store.shards.of(posted), site_store.store.client
    client.hset(shard.article(posted), "gongs", "3")
    left = [f"{shard.prefix}gonged:7", "limit:gongs:7"]
    for name in left:
        client.set(name, "1")
    sentence = (
        "The folder extras/gongs was deleted, but its data is still here: run `manage.py forget_extra gongs`"
    )
    assert [text.startswith(sentence) for text in of_extras.sentences()] == [True]

    assert list(site_store.audit.run(left_behind=of_extras.keys_of_deleted())) == []
    call_command("forget_extra", "gongs")
    call_command("forget_extra", "gongs")

    assert not client.exists(*left)
    assert not client.hexists(shard.article(posted), "gongs")
    assert client.exists(shard.voted(posted))

    assert capsys.readouterr().out.splitlines() == ["All data of gongs is removed.", "There is no data of gongs."]
    assert list(of_extras.sentences()) == []
    assert {"gongs_gong", "gongs_stroke"}.isdisjoint(connection.introspection.table_names())
    assert list(SiteSetting.objects.values_list("name", flat=True)) == ["SITE_NAME"]
    assert not DBTaskResult.objects.exists()
    assert not ContentType.objects.filter(app_label="gongs").exists()
    assert ("gongs", "0001_initial") not in MigrationRecorder(connection).applied_migrations()


@pytest.mark.parametrize("name", extras.names())
def test_the_data_of_an_extra_that_is_here_is_not_removed(db, name):
    with pytest.raises(CommandError, match="delete the folder first"):
        call_command("forget_extra", name)

    assert ExtraRecord.objects.filter(name=name).exists()


def importers() -> dict[str, set[str]]:
    """Return which parts of the site, the core or an extra, import each installed package."""
    found, packages = defaultdict[str, set[str]](set), packages_distributions()
    for name, file in modules().items():
        if within(name, "bench"):
            continue
        part = "/".join(name.split(".")[:2]) if within(name, "extras") and name.count(".") > 1 else "the core"
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                imported = [node.module or ""]
            for package in {one for module in imported for one in packages.get(module.partition(".")[0], ())}:
                found[package.lower()].add(part)
    return found


@pytest.mark.source
def test_requirements_say_which_extras_need_them_and_nothing_else_imports_those():
    lines = (ROOT / "requirements.in").read_text("utf-8").splitlines()
    needed = {line: set(re.findall(r"extras/\w+", line)) for line in lines if line and not line.startswith("#")}
    here = {f"extras/{name}" for name in extras.names()}

    used = importers()
    wrong = {}
    for line, wanted in needed.items():
        users = used[re.split(r"[^\w-]", line)[0]]
        if (users != wanted & here) if wanted else (users and "the core" not in users):
            wrong[line] = users
    assert wrong == {}


@pytest.mark.parametrize("name", extras.names())
def test_rows_of_an_extra_do_not_keep_those_of_the_core_from_being_deleted(name):
    """Accounts alone are never deleted from the database."""
    relations = [
        field
        for model in apps.get_app_config(name).get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if isinstance(field, ForeignKey) and field.related_model._meta.app_label != name
    ]

    assert [field for field in relations if field.db_constraint and field.related_model is not User] == []


def test_sign_ups_elsewhere_are_relations_of_members(db):
    assert [name for name in extras.sign_ups() if User.objects.exclude(**{name: None}).exists()] == []


def own_rows(*, of: type[Model]) -> dict[tuple[type[Model], str], int]:
    """Return how many rows of extras refer to rows of this model, by model and field."""
    models = [model for name in extras.names() for model in apps.get_app_config(name).get_models()]
    fields = [(model, one) for model in models for one in model._meta.concrete_fields if one.related_model is of]
    return {
        (model, one.name): model._base_manager.filter(**{f"{one.attname}__isnull": False}).count()
        for model, one in fields
    }


@pytest.fixture
def filled(site_store):
    """A member with rows in every extra."""
    one = member("carol")
    for fill in (*for_tests.all_of("fill"), *for_tests.all_of("use")):
        fill(one)
    return one


def test_rows_of_extras_go_with_a_deleted_account(filled):
    before = own_rows(of=User)

    account_deletion.begin(filled.pk)

    assert not before or any(before.values())
    assert not any(own_rows(of=User).values())


def test_rows_of_an_account_that_was_deleted_while_a_folder_was_not_there_go_at_the_next_start(filled):
    before = own_rows(of=User)
    of_extras.delete_stale()
    assert own_rows(of=User) == before

    User.objects.filter(pk=filled.pk).update(left_at=timezone.now())
    of_extras.delete_stale()

    assert not any(own_rows(of=User).values())


@pytest.mark.parametrize("related", [Token, MemberSession])
def test_no_row_refers_to_what_went_while_its_folder_was_not_there(filled, related):
    before = own_rows(of=related)
    related._base_manager.all()._raw_delete(related._base_manager.db)  # without what cascades

    of_extras.delete_stale()

    assert not before or any(before.values())
    assert not any(own_rows(of=related).values())


def test_each_start_looks_for_rows_that_are_stale(filled):
    User.objects.filter(pk=filled.pk).update(left_at=timezone.now())

    call_command("migrate", verbosity=0)

    assert not any(own_rows(of=User).values())

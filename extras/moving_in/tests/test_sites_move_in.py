"""Sites of other software move in by the command; plain reads of this site find what their databases have."""

import sqlite3
import time
from contextlib import closing

import pytest

from accounts.models import User
from articles.domain.comments import CommentOrder
from extras.moving_in.models import Arrival, Kind
from extras.moving_in.sources import lemmy
from extras.moving_in.tests.lemmy_api import Api, of_api, serving
from extras.moving_in.tests.lobsters_rows import COLUMNS, STAGED, lobsters_sqlite
from tests.store_state import problems

pytest.importorskip("extras.moving_in.importing", reason="nothing enters what is staged")


def ids(kind):
    return {old: int(new) for old, new in Arrival.objects.filter(kind=kind).values_list("old_id", "new_id")}


def look(store, left_out=()):
    """Return articles and comments as readers of this site see them, by their old ids."""
    comments, found = {new: old for old, new in ids(Kind.COMMENT).items()}, {}
    for old, number in ids(Kind.ARTICLE).items():
        if old in left_out:
            continue
        one = store.articles.get(number, with_text=True)
        counts, facts = (one.votes, one.opposes), (one.title, one.link, one.text, one.poster_name)
        found[old] = (*facts, one.posted_at, counts, one.edited_at, one.removed)
        if one.removed is None:
            for each in store.comments.get_thread(number, CommentOrder.OLDEST).comments:
                parent = comments[each.parent] if each.parent else None
                counts, facts = (each.votes, each.opposes), (old, parent, each.text, each.author_name)
                found[comments[each.id]] = (*facts, each.posted_at, counts, each.edited_at, each.removed)
    return found


def expected(staged, later=0):
    """Return what has to be seen of rows written beside those of the source, at times that are `later`."""
    users = {one.pk: one.username for one in User.objects.all()}
    names = {old: users[new] for old, new in ids(Kind.MEMBER).items()}
    parents = {row[2] for row in staged["comment"]}
    found = {}
    for id_, title, link, text, author, at, *counts, _, edited, removed, _, _ in staged["article"]:
        facts = (" ".join(title.split()), link or "", text.replace("\r\n", "\n"), names.get(author, ""))
        found[id_] = (*facts, at + later, tuple(counts), edited and edited + later, removed)
    for id_, article, parent, author, at, text, *counts, _, edited, removed, is_deleted, _ in staged["comment"]:
        if is_deleted and id_ not in parents:  # it keeps no place
            continue
        facts = (article, parent, text.replace("\r\n", "\n"), "" if is_deleted else names.get(author, ""))
        points = (0, 0) if is_deleted else tuple(counts)
        found[id_] = (*facts, at + later, points, edited and edited + later, removed)
    return found


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path


def test_a_site_of_lobsters_moves_in_with_its_voters(run, site_store, folder):
    path = folder / "primary.sqlite3"
    lobsters_sqlite(path)
    later = int(time.time()) - 1578657600  # the first story is six days old, and open
    with closing(sqlite3.connect(path)) as db:
        for table, columns in COLUMNS.items():
            for column in (name for name in columns.split() if name.endswith("_at")):
                db.execute(f"UPDATE {table} SET {column} = datetime({column}, '+{later} seconds')")
        db.commit()

    for _ in range(2):
        run("import_site", "lobsters", path, name="old", host="old.example")

        assert look(site_store, ["ddddd4", "eeeee5"]) == expected(STAGED, later)
        assert ids(Kind.ARTICLE)["ddddd4"] == ids(Kind.ARTICLE)["eeeee5"] == ids(Kind.ARTICLE)["aaaaa1"]
        number, members = ids(Kind.ARTICLE)["aaaaa1"], ids(Kind.MEMBER)
        client, keys = site_store.store.client, site_store.store.shards.of(number)
        assert client.smembers(keys.voted(number)) == {str(members["Alice"]), str(members["bob-2"])}
        assert client.smembers(keys.comment_voted(ids(Kind.COMMENT)["xaaaaa"])) == {str(members["Alice"])}
        assert members["alicia"] == members["Alice"]
        assert site_store.articles.get(number, with_html=True).groups == ("cpp", "programming")
        assert problems(site_store) == []


def test_a_server_of_lemmy_moves_in_by_its_api(run, site_store, monkeypatch):
    monkeypatch.setattr(lemmy, "PAUSE_SECONDS", 0)
    for _ in range(2):
        with serving(Api()) as address:
            run("import_site", "lemmy", address, name="old", host="lemmy.example")

        assert look(site_store) == expected(of_api())
        assert problems(site_store) == []

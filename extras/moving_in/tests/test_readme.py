"""The commands of the README, as they stand there: what they name moves in once, and is here as it was there."""

import os
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing

import psycopg
import pytest
from django.core.management.base import CommandError

from accounts.models import HeldPost, User
from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder
from articles.domain.moderation_log import Action
from articles.web import wiring
from extras.moving_in.models import Arrival, FollowedFeed, Kind
from extras.moving_in.sources import feed, lemmy
from extras.moving_in.staging import COLUMNS as COLUMNS_STAGED
from extras.moving_in.tests import files, mariadb_server
from extras.moving_in.tests.lemmy_api import Api, of_api, serving
from extras.moving_in.tests.lemmy_rows import STAGED as LEMMY, at_times_later, lemmy_sql
from extras.moving_in.tests.lobsters_rows import COLUMNS, STAGED as LOBSTERS, lobsters_mysql, lobsters_sqlite
from extras.moving_in.tests.readme import follow
from extras.moving_in.tests.staging_rows import staged_rows
from extras.moving_in.tests.test_feeds import blog, later, served  # noqa: F401 - a fixture
from tests import waiting
from tests.postgres_server import PostgresServer, missing
from tests.store_state import problems

no_postgres = missing() or ("" if shutil.which("pg_dump") else "pg_dump is not installed")


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.deep), 4], ids=["1 shard", "4 shards"])
def site_store(request, settings, new_site, tmp_path, monkeypatch):
    """The store on so many shards, and the working directory, with the files that the README names."""
    settings.STORE_SHARDS = max(request.param, settings.STORE_SHARDS)
    new_site()
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    monkeypatch.chdir(tmp_path)
    files.write_files(tmp_path)
    return wiring.patient_repository()


# An independent reader: of this site, and of rows that are written beside those of the source


def ids(kind):
    return {old: int(new) for old, new in Arrival.objects.filter(kind=kind).values_list("old_id", "new_id")}


def look(store):
    """Return articles and comments as readers of this site see them, and which others voted, by their old ids."""
    comments, found = {new: old for old, new in ids(Kind.COMMENT).items()}, {}
    members = {str(one.pk): one.username for one in User.objects.all()}
    for old, number in ids(Kind.ARTICLE).items():
        if old in ("ddddd4", "eeeee5"):  # they were merged
            continue
        keys, one = store.store.shards.of(number), store.articles.get(number, with_text=True)

        def note(name, each, sets, *facts):
            found[name] = (*facts, each.posted_at, (each.votes, each.opposes), each.edited_at, each.removed)
            named = [{members.get(id_) for id_ in store.store.client.smembers(key)} for key in sets]
            found["voters", name] = [sorted(ids_ - {None, facts[-1]}) for ids_ in named]

        note(old, one, (keys.voted(number), keys.oppose(number)), one.title, one.link, one.text, one.poster_name)
        for each in store.comments.get_thread(number, CommentOrder.OLDEST).comments if one.removed is None else ():
            sets = keys.comment_voted(each.id), keys.comment_oppose(each.id)
            parent = comments[each.parent] if each.parent else None
            note(comments[each.id], each, sets, old, parent, each.text, each.author_name)
    return found


def expected(staged, later=0, *, is_open=False):
    """Return what has to be seen of these rows, at times that are `later`; only what is open has voters."""
    users, found = {one.pk: one.username for one in User.objects.all()}, {}
    names, comments = {old: users[new] for old, new in ids(Kind.MEMBER).items()}, staged.get("comment", ())
    votes, parents = staged.get("vote", ()) if is_open else (), {row[2] for row in comments}

    def note(name, at, counts, edited, removed, *facts):
        found[name] = (*facts, at + later, counts, edited and edited + later, removed)
        cast = [(names[who], value) for who, *on, value, _ in votes if name in on and names[who] != facts[-1]]
        found["voters", name] = [sorted(who for who, value in cast if value == side) for side in (1, -1)]

    for name, title, link, text, author, at, *counts, _, edited, removed, _, _ in staged["article"]:
        shown = (text or "").replace("\r\n", "\n") or ("" if link else "[removed]")
        facts = (" ".join(title.split()), link or "", shown, names.get(author, ""))
        note(name, at, points(*counts, 1), edited, removed, *facts)
    for name, article, parent, author, at, text, *counts, _, edited, removed, is_deleted, _ in comments:
        facts = (article, parent, text.replace("\r\n", "\n"), "" if is_deleted else names.get(author, ""))
        if not is_deleted or name in parents:  # others keep no place
            note(name, at, (0, 0) if is_deleted else points(*counts, 0), edited, removed, *facts)
    return found


def points(votes, opposes, least):
    """Return the votes for and against; a net number has no more of them than it needs."""
    if opposes is None and votes is not None:
        return max(votes, least), max(0, least - votes)
    return votes or 0, opposes or 0


# Each source


def check(store, out, staged, *later, **how):
    assert look(store) == expected(staged, *later, **how)
    assert store.imports.count() == len(staged["article"])
    assert problems(store) == []
    return f"{len(staged['article']):,} already present" in out


@pytest.mark.parametrize(
    ("title", "staged"),
    [
        ("From Reddit", files.REDDIT_STAGED),
        ("From Hacker News", files.NEWS_STAGED),
        ("From anything else", files.LINES_STAGED),
    ],
)
def test_files_move_in(run, site_store, title, staged):
    for is_again in (False, True):
        for out in follow(title, run):
            assert check(site_store, out, staged) is is_again
            assert all(place in out for place, _reason in staged["bad"][:1])


def test_a_feed_moves_in_or_is_followed(run, site_store, blog, monkeypatch):  # noqa: F811 - the fixture
    blog.certificate = None
    monkeypatch.setattr(feed, "World", blog.world)
    User.objects.create_user("planet", password="a long password")
    site_store.groups.create("news", "News")
    for is_again in (False, True):
        said = follow("From a feed", run, **{"https:": "http://blog.example/feed"})
        assert check(site_store, next(said), files.FEED_STAGED) is is_again
        assert "is followed" in next(said)
        assert "as planet, group news" in next(said)
        blog.says = served([1 + is_again, 0])
        later()
        assert feed.hold_new(site_store, 9) == 1
        assert "no longer" in next(said)
        assert not FollowedFeed.objects.exists()
    assert [one.title for one in HeldPost.objects.order_by("pk")] == ["Entry 0", "Entry 2"]


def test_a_server_of_lemmy_moves_in_by_its_api(run, site_store, monkeypatch):
    monkeypatch.setattr(lemmy, "PAUSE_SECONDS", 0)
    for is_again in (False, True):
        with serving(Api()) as address:
            out = run("import_site", "lemmy", address, "--name", "old")
        assert check(site_store, out, of_api()) is is_again


@pytest.mark.deep
@pytest.mark.skipif(bool(no_postgres), reason=no_postgres or "-")
@pytest.mark.parametrize("site_store", [4], indirect=True)
def test_a_server_of_lemmy_moves_in_by_its_database(run, site_store, tmp_path, monkeypatch):
    monkeypatch.setattr(lemmy, "PAUSE_SECONDS", 0)
    delay = int(time.time()) - 1688990400  # the first post is six days old, and open
    server = PostgresServer()
    waiting.until(server.answers)
    try:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE lemmy")
        url = server.url.replace("@/postgres?", "@/lemmy?").replace("postgres://", "postgresql://")
        with psycopg.connect(url) as connection:
            connection.execute(lemmy_sql() + at_times_later(delay))
        environment = {**os.environ, "PGHOST": str(server.folder), "PGUSER": "postgres"}
        subprocess.run(["pg_dump", "--format=custom", "--file=lemmy.dump", "lemmy"], env=environment, check=True)
        with serving(Api()) as address:
            said = follow("From Lemmy", run, environment, **{"postgresql:": url, "https:": address})
            answers = [check(site_store, next(said), LEMMY, delay, is_open=True) for _ in range(3)]
            assert answers == [False, True, True]
    finally:
        server.stop()


@pytest.mark.parametrize("site_store", [4], indirect=True)
def test_a_site_of_lobsters_moves_in_by_its_file(run, site_store, tmp_path):
    path, delay = tmp_path / "primary.sqlite3", int(time.time()) - 1578657600  # the first story is six days old
    lobsters_sqlite(path)
    with closing(sqlite3.connect(path)) as db:
        for table, columns in COLUMNS.items():
            for column in (name for name in columns.split() if name.endswith("_at")):
                db.execute(f"UPDATE {table} SET {column} = datetime({column}, '+{delay} seconds')")
        db.commit()
    for is_again in (False, True):
        out = run("import_site", "lobsters", str(path), "--name", "old", "--host", "old.example")

        assert check(site_store, out, LOBSTERS, delay, is_open=True) is is_again
        articles, members = ids(Kind.ARTICLE), ids(Kind.MEMBER)
        assert articles["ddddd4"] == articles["eeeee5"] == articles["aaaaa1"]
        assert members["alicia"] == members["Alice"]
        assert site_store.articles.get(articles["aaaaa1"], with_html=True).groups == ("cpp", "programming")
        assert site_store.votes.cast(articles["aaaaa1"], members["Alice"], Choice.VOTE).votes == 2  # as before
        log = [one for one in site_store.moderation_log.iterate() if one.action != Action.TUNE]
        assert sorted((round(one.at), one.action, one.actor_name, one.reason) for one in log) == [
            (at + delay, action, actor, reason or "") for at, actor, action, *_, reason in LOBSTERS["log"]
        ]


@pytest.mark.deep
@pytest.mark.skipif(bool(mariadb_server.missing()), reason=mariadb_server.missing() or "-")
@pytest.mark.parametrize("site_store", [1], indirect=True)
def test_a_site_of_lobsters_moves_in_by_a_dump_of_mariadb(run, site_store, tmp_path):
    with mariadb_server.started() as environment:
        (tmp_path / "made.sql").write_text(lobsters_mysql(), "utf-8")
        for line in ("mariadb --default-character-set=utf8mb4 < made.sql",
                     "mariadb-dump --complete-insert --skip-extended-insert lobsters > careful.sql"):  # fmt: skip
            subprocess.run(line, env=environment, check=True, shell=True)
        for is_again in (False, True):
            for out in follow("From lobsters", run, environment):
                assert check(site_store, out, LOBSTERS) is is_again
    assert staged_rows("lobsters", tmp_path / "lobsters.sql.gz") == LOBSTERS
    assert staged_rows("lobsters", tmp_path / "careful.sql") == LOBSTERS


TEXTS = [
    "javascript:alert(1)", "data:text/html,x", "http://x.example/" + "a" * 100_000, "http://[", "//evil.example",
    "\u202eab", "\u200b\u2060", "e" + "\u0301" * 50_000, "admin", "Admin", "adm\u0456n", "C++", "cpp", "c p p",
    "..", "score:", "\U0001f980", "\0", "\ud800", "<script>", "{{7*7}}", "x" * 199, "a\r\nb: c", "\x1b[2J", "~",
    "1", "-1",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2**53 - 1, -(2**53) + 1, files.T, 9_999_999_999, 0.1, 700_000_000]
PLAIN = {
    "id": "a", "title": "A", "text": "Text", "name": "Ann", "time": files.T, "article": "a", "member": "a",
    "tag": "a", "value": 1, "kind": "member", "old_id": "b",
}  # fmt: skip


def test_what_a_stranger_writes_into_any_field_comes_in_bounds_or_not_at_all(run, site_store, tmp_path):
    """Columns have strange values in turn, so that ids collide; inviters, replies and aliases go in circles."""
    parts = []
    (tmp_path / "strange").mkdir()
    for table, columns in COLUMNS_STAGED.items():
        if table in ("site", "bad", "log", "former"):
            continue
        mapped = "".join(f'{name} = "{name}"\n' for name in columns)
        parts.append(f'[[rows]]\ntable = "{table}"\nfiles = "{table}.jsonl"\n{mapped}')
        own = {name: value for name, value in PLAIN.items() if name in columns}
        rows = [
            own | ({"id": f"{name}{number}"} if "id" in own else {}) | {name: value}
            for name, column in columns.items()
            for number, value in enumerate(TEXTS if column.kind in ("id", "text") else NUMBERS)
        ]
        if circle := {"member": "inviter", "comment": "parent"}.get(table):
            rows += [own | {"id": str(number), circle: str((number + 1) % 3)} for number in range(3)]
        files.written(tmp_path / f"strange/{table}.jsonl", [own, *rows])
    (tmp_path / "strange.toml").write_text("\n".join(parts))
    command = ("import_site", "lines", "strange", "--mapping", "strange.toml", "--name", "strange")

    dry, out = run(*command, "--dry-run"), run(*command)

    assert "Not as at the source:" in dry
    assert out.replace("\n", "").isprintable()
    assert max(map(len, out.splitlines())) < 20_000
    assert site_store.imports.count() > 20
    assert "javascript" not in {one.link.partition(":")[0] for one in site_store.imports.iterate(with_texts=True)}
    assert problems(site_store) == []
    assert f"({site_store.imports.count():,} already present)" in run(*command), out
    assert problems(site_store) == []


def test_a_source_without_a_name_is_refused(run):
    with pytest.raises(CommandError, match="--name"):
        run("import_site", "hackernews", "items.jsonl")

"""A site of lobsters: what comes from its file and its dump, row by row."""

import subprocess
from functools import partial

import pytest

from extras.moving_in.models import Kind
from extras.moving_in.sources import BadSource, format_of
from extras.moving_in.staging import TABLES
from extras.moving_in.tests import mariadb_server
from extras.moving_in.tests.addresses import place_of
from extras.moving_in.tests.lobsters_rows import STAGED, lobsters_mysql, lobsters_sqlite
from extras.moving_in.tests.readme import sources_of
from extras.moving_in.tests.staging_rows import staged_rows


def test_every_kind_of_row_comes_from_its_sqlite_file(tmp_path):
    lobsters_sqlite(tmp_path / "primary.sqlite3")

    assert staged_rows("lobsters", tmp_path / "primary.sqlite3") == STAGED


def test_a_site_of_2018_lacks_columns_and_former_names_only(tmp_path):
    lobsters_sqlite(tmp_path / "old.sqlite3", of_2018=True)

    found = staged_rows("lobsters", tmp_path / "old.sqlite3")

    edited = list(TABLES["article"].split(", ")).index("edited")
    articles = [(*row[:edited], None, *row[edited + 1 :]) for row in STAGED["article"]]
    assert found == {
        **STAGED,
        "article": articles,
        "alias": [row for row in STAGED["alias"] if row[0] != "member"],
    }


def test_counts_are_those_of_the_columns_where_votes_were_deleted(tmp_path):
    lobsters_sqlite(tmp_path / "primary.sqlite3")

    found = staged_rows("lobsters", tmp_path / "primary.sqlite3", "DELETE FROM votes")

    assert [row[TABLES["article"].split(", ").index("votes")] for row in found["article"]] == [3, 1, 1]


@pytest.mark.deep
@pytest.mark.skipif(bool(mariadb_server.missing()), reason=mariadb_server.missing() or "-")
def test_every_kind_of_row_comes_from_a_dump_of_mariadb(tmp_path):
    with mariadb_server.started() as environment:
        (tmp_path / "made.sql").write_text(lobsters_mysql(), "utf-8")
        run = partial(subprocess.run, env=environment, cwd=tmp_path, check=True, shell=True)
        run("mariadb --default-character-set=utf8mb4 < made.sql")
        ((name, dump),) = sources_of("From lobsters", tmp_path, environment)
        run("mariadb-dump --complete-insert --skip-extended-insert lobsters > careful.sql")

        assert staged_rows(name, dump) == STAGED
        assert staged_rows("lobsters", tmp_path / "careful.sql") == STAGED


def test_a_file_that_is_no_site_of_lobsters_is_refused(tmp_path):
    (tmp_path / "text.sql").write_text("CREATE TABLE `users` (\n  `id` int\n);\nCREATE TABLE `comments` (\n);\n")

    with pytest.raises(BadSource, match="There is no table 'stories'"):
        staged_rows("lobsters", tmp_path / "text.sql")
    with pytest.raises(BadSource, match="cannot be read"):
        staged_rows("lobsters", tmp_path / "absent.sqlite3")


@pytest.mark.parametrize(
    ("path", "place"),
    {
        "/s/aaaaa1": (Kind.ARTICLE, "aaaaa1", ""),
        "/s/aaaaa1/some_title": (Kind.ARTICLE, "aaaaa1", ""),
        "/s/aaaaa1/some_title?utm_source=x": (Kind.ARTICLE, "aaaaa1", ""),
        "/s/aaaaa1.json": (Kind.ARTICLE, "aaaaa1", ""),
        "/stories/aaaaa1": (Kind.ARTICLE, "aaaaa1", ""),
        "/stories/new": "/post/",
        "/stories/url/latest?url=x": None,
        "/s/aaaaa1/some_title/comments/xaaaaa": (Kind.COMMENT, "xaaaaa", ""),
        "/c/xaaaaa": (Kind.COMMENT, "xaaaaa", ""),
        "/comments/xaaaaa": (Kind.COMMENT, "xaaaaa", ""),
        "/comments/page/2": None,
        "/t/c++": (Kind.GROUP, "c++", ""),
        "/t/c++/page/2": (Kind.GROUP, "c++", ""),
        "/t/c++.rss": (Kind.GROUP, "c++", "rss"),
        "/~bob-2": (Kind.MEMBER, "bob-2", ""),
        "/u/bob-2": (Kind.MEMBER, "bob-2", ""),
        "/@bob-2": (Kind.MEMBER, "bob-2", ""),
        "/newest/bob-2": (Kind.MEMBER, "bob-2", ""),
        "/~bob-2/threads": (Kind.MEMBER, "bob-2", ""),
        "/~bob-2/stories.rss": (Kind.MEMBER, "bob-2", "rss"),
        "/rss": "/feeds/front.rss",
        "/newest": "/newest/",
        "/stats": None,
    }.items(),
)
def test_an_old_address_is_read(path, place):
    assert place_of(format_of("lobsters"), path) == place

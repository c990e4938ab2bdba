"""A site of lobsters: what comes from its file and its dump, row by row."""

import sqlite3
import time
from contextlib import closing

import pytest

from extras.moving_in.sources import BadSource
from extras.moving_in.staging import TABLES
from extras.moving_in.tests.lobsters_rows import STAGED, lobsters_sqlite
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
        "alias": [row for row in STAGED["alias"] if row[1] != "alicia"],
    }


def test_counts_are_those_of_the_columns_where_votes_were_deleted(tmp_path):
    lobsters_sqlite(tmp_path / "primary.sqlite3")

    found = staged_rows("lobsters", tmp_path / "primary.sqlite3", "DELETE FROM votes")

    assert [row[TABLES["article"].split(", ").index("votes")] for row in found["article"]] == [3, 1, 1]


def changed(tmp_path, *statements):
    path = tmp_path / "hostile.sqlite3"
    path.unlink(missing_ok=True)
    lobsters_sqlite(path)
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.executescript(statement)
    return path


ENDLESS = "WITH RECURSIVE x (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM x)"


def test_a_database_of_a_stranger_is_read_in_bounds(tmp_path):
    views = (
        "ALTER TABLE stories RENAME TO own",
        f"CREATE VIEW stories AS {ENDLESS} SELECT id, id AS short_id FROM x",
    )
    with pytest.raises(BadSource, match="no table 'stories'"):
        staged_rows("lobsters", changed(tmp_path, *views))
    begun = time.process_time()
    chain = f"{ENDLESS} SELECT id + 99, 'm' || id, 'x', '2020-01-01 00:00:00', id + 98 FROM x LIMIT 20000"
    chain = f"INSERT INTO stories (id, short_id, title, created_at, merged_story_id) {chain}"
    assert staged_rows("lobsters", changed(tmp_path, chain))["article"] == STAGED["article"]
    assert time.process_time() - begun < 20


def test_values_of_a_stranger_are_rejected_with_their_places(tmp_path):
    wrong = ["x'ff00'", "9e999", "-1", "4611686018427387904", "char(0)", f"'{'x' * 300}'", "'9999-99-99'", "''"]
    rows = ", ".join(f"({100 + n}, {one}, {one}, {one}, 1, 1)" for n, one in enumerate(wrong))
    path = changed(
        tmp_path, f"INSERT INTO stories (id, short_id, title, created_at, user_id, score) VALUES {rows}"
    )

    found = staged_rows("lobsters", path)

    assert found["article"] == STAGED["article"]
    assert len(found["bad"]) == len(wrong)
    assert all(place.startswith("article ") and len(place) <= 100 for place, _reason in found["bad"])


def test_a_file_that_is_no_site_of_lobsters_is_refused(tmp_path):
    (tmp_path / "text.sql").write_text("CREATE TABLE `users` (\n  `id` int\n);\nCREATE TABLE `comments` (\n);\n")

    with pytest.raises(BadSource, match="There is no table 'stories'"):
        staged_rows("lobsters", tmp_path / "text.sql")
    with pytest.raises(BadSource, match="There is no file"):
        staged_rows("lobsters", tmp_path / "absent.sqlite3")

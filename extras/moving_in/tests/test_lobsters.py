"""A site of lobsters: what comes from its file and its dump, row by row."""

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


def test_a_file_that_is_no_site_of_lobsters_is_refused(tmp_path):
    (tmp_path / "text.sql").write_text("CREATE TABLE `users` (\n  `id` int\n);\nCREATE TABLE `comments` (\n);\n")

    with pytest.raises(BadSource, match="There is no table 'stories'"):
        staged_rows("lobsters", tmp_path / "text.sql")
    with pytest.raises(BadSource, match="There is no file"):
        staged_rows("lobsters", tmp_path / "absent.sqlite3")

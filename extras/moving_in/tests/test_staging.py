"""The staging file: rows come in any order, and are read in that of the site."""

import pytest

from extras.moving_in.sources import FORMATS, format_of
from extras.moving_in.staging import staged


def test_rows_are_read_in_the_order_of_the_site_whatever_the_source_has(tmp_path):
    with staged(tmp_path / "source.sqlite3") as staging:
        told = list[int]()
        articles = [("10", "Late", 20), ("9", "Same time", 10), ("2", "Early", 10), ("9", "Known", 5)]
        staging.fill("article", ["id", "title", "time"], articles, told.append)
        staging.fill("comment", ["id", "article", "time"], [("b", "9", 30), ("a", "9", 30), ("c", "2", 1)])
        staging.fill("vote", ["member", "article", "value"], [("m", "9", 1), ("n", "2", -1)])
        staging.finish()

        assert told == [4]
        assert [one["title"] for one in staging.articles()] == ["Early", "Same time", "Late"]
        assert [one["id"] for one in staging.comments_of("9")] == ["a", "b"]
        assert [one["value"] for one in staging.of("vote", "article", "2")] == [-1]
        assert staging.count("comment") == 3


def test_a_staging_file_can_be_opened_again(tmp_path):
    for _ in range(2):
        with staged(tmp_path / "source.sqlite3") as staging:
            staging.fill("article", ["id", "title", "time"], [("1", "Once", 1)])
            staging.finish()
            assert staging.count("article") == 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_that_the_command_offers_can_be_read(name):
    assert callable(format_of(name).fill)

"""Files of other sites: what an adapter stages of them, row by row, and what it rejects."""

import gzip
import json
import os
import shutil
from itertools import islice

import pytest
import zstandard

from extras.moving_in.sources import FORMATS, BadSource, format_of, rows
from extras.moving_in.staging import staged
from extras.moving_in.tests import files
from extras.moving_in.tests.files import COMMENT, NEWS, REDDIT, REPLY, STORY, SUBMISSION, T, written
from extras.moving_in.tests.staging_rows import staged_rows


@pytest.fixture
def stage(tmp_path):
    """Stage a source, and return the rows of a table by id, with the columns that are asked for."""

    def run(form, source, **options):
        told = list[int]()
        path = tmp_path / "staging.sqlite3"
        path.unlink(missing_ok=True)
        with staged(path) as staging:
            format_of(form).fill(str(source), staging, options, told.append)
            staging.finish()
            tables = {name: [dict(row) for row in staging.rows(name)] for name in rows.COLUMNS}
        tables["told"] = sum(told)
        return tables

    return run


def by_id(found, *columns):
    return {row["id"]: tuple(row[name] for name in columns) for row in found}


@pytest.mark.parametrize(
    ("form", "source", "staged", "options"),
    [
        ("reddit", "dumps", files.REDDIT_STAGED, {"flairs": True}),
        ("hackernews", "items.jsonl", files.NEWS_STAGED, {}),
        ("lines", "tables", files.LINES_STAGED, {"mapping": "map.toml"}),
        ("feed", "feed.xml", files.FEED_STAGED, {"host": "blog.example"}),
    ],
)
def test_files_are_staged_row_by_row(tmp_path, monkeypatch, form, source, staged, options):
    monkeypatch.chdir(tmp_path)
    files.write_files(tmp_path)

    assert staged_rows(form, source, **options) == staged


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_folder_of_packed_files_is_read_by_their_names(tmp_path, stage, pack):
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, item in (("RC_2.x", COMMENT | {"body": "Later"}), ("RC_1.x", COMMENT), ("RS_1.x", SUBMISSION)):
        (folder / name).write_bytes(pack(json.dumps(item).encode()))

    found = stage("reddit", folder)

    assert by_id(found["comment"], "text") == {"c1": ("Later",)}


def test_circles_of_replies_end(tmp_path, stage):
    circle = [REPLY | {"id": 1, "parent": 3}, REPLY | {"id": 2, "parent": 1}, REPLY | {"id": 8, "parent": 9}]
    found = stage(
        "hackernews", written(tmp_path / "items.jsonl", [STORY, REPLY, *circle, REPLY | {"id": 9, "parent": 8}])
    )

    assert set(by_id(found["comment"])) == {"1", "2", "3"}
    assert {row["place"] for row in found["bad"]} == {"comment 8", "comment 9"}


HOSTILE = [
    None,
    True,
    -1,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\0",
    "\ud800",
    "x" * 300,
    [],
    {},
    [[]],
    "1e999",
]


@pytest.mark.parametrize(("form", "items"), [("reddit", REDDIT), ("hackernews", NEWS)])
def test_a_wrong_value_in_any_field_is_stored_in_bounds_or_rejected_with_a_reason(tmp_path, stage, form, items):
    bad = [item | {name: value} for item in items for name in item for value in HOSTILE]

    found = stage(form, written(tmp_path / "bad.jsonl", bad))

    assert found["told"] == len(bad)
    assert all(row["reason"].endswith(".") and len(row["reason"]) < 200 for row in found["bad"])
    for name in ("article", "comment", "member"):
        for row in found[name]:
            assert "\0" not in (row["id"] or "\0")
            assert isinstance(row.get("title", ""), str)
            assert 0 <= row.get("time", T) < 10**10


def test_lines_that_are_not_rows_are_rejected_with_line_and_reason(tmp_path, stage):
    path = tmp_path / "bad.jsonl"
    good = json.dumps(SUBMISSION).encode()
    deep = b'{"id": ' + b"[" * 400_000
    path.write_bytes(
        b"\n".join([b"\xef\xbb\xbf" + good, b"\xff", b"{", b"[1]", b"", deep, b"x" * 3_000_000, good, b"{}"])
    )

    found = stage("reddit", path)

    assert [(row["place"], row["reason"]) for row in found["bad"]] == [
        ("bad.jsonl:2", "The line is not UTF-8 text."),
        ("bad.jsonl:3", "The line is not valid JSON."),
        ("bad.jsonl:4", "The line is not a JSON object."),
        ("bad.jsonl:6", "The line is not valid JSON."),
        ("bad.jsonl:7", "The line is too long."),
        ("bad.jsonl:9", "It is neither a submission nor a comment."),
    ]
    assert len(found["article"]) == 1


def test_a_file_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path, stage, monkeypatch):
    monkeypatch.setattr(rows, "_FREE", 2_000_000)
    for name, pack in (("a.zst", zstandard.compress), ("a.gz", gzip.compress)):
        for text in (b"\0", b"\n"):
            (tmp_path / name).write_bytes(pack(text * 6_000_000))
            with pytest.raises(BadSource, match="damaged"):
                stage("reddit", tmp_path / name)


@pytest.mark.parametrize("form", FORMATS)
def test_what_waits_for_a_writer_is_no_source(tmp_path, stage, form):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "map.toml").write_text("rows = []")

    with pytest.raises(BadSource, match=r"here is no (file|manifest)"):
        stage(form, tmp_path / "fifo", mapping=str(tmp_path / "map.toml"))


def test_a_disk_that_gets_full_ends_it_with_a_sentence(tmp_path):
    written(tmp_path / "many.jsonl", (SUBMISSION | {"id": str(number)} for number in range(6_000)))

    with staged(tmp_path / "staging") as staging:
        staging.run("PRAGMA max_page_count = 90")
        with pytest.raises(BadSource, match="full"):
            format_of("reddit").fill(str(tmp_path / "many.jsonl"), staging, {}, lambda _: None)


def test_links_out_of_a_folder_are_not_followed(tmp_path, stage):
    written(tmp_path / "secret.jsonl", [SUBMISSION | {"id": "secret"}])
    (tmp_path / "dump").mkdir()
    written(tmp_path / "dump/a.jsonl", [SUBMISSION])
    (tmp_path / "dump/b.jsonl").symlink_to(tmp_path / "secret.jsonl")

    assert [*by_id(stage("reddit", tmp_path / "dump")["article"])] == ["abc"]


@pytest.mark.parametrize("name", ["missing.jsonl", "cut.gz", "cut.zst", "empty"])
def test_a_source_that_cannot_be_read_is_refused_with_a_sentence(tmp_path, stage, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut.gz").write_bytes(gzip.compress(json.dumps(SUBMISSION).encode() * 9)[:-9])
    (tmp_path / "cut.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 40)

    with pytest.raises(BadSource):
        stage("reddit", tmp_path / name)


@pytest.mark.parametrize(
    "html", ["<div>" * 19_000, "<ul><li>" * 12_000, "<b><p>" * 15_000, "<table>" * 14_000, "<svg>" * 19_000]
)
def test_deeply_nested_html_ends(tmp_path, stage, html):
    found = stage("hackernews", written(tmp_path / "deep.jsonl", [STORY | {"text": html}]))

    assert len(found["article"]) == 1
    assert len(found["article"][0]["text"] or "") < 5_000_000


def test_real_articles_come_as_submissions(tmp_path, stage, shared_dir):
    with (shared_dir / "data/articles_2000.jsonl").open(encoding="utf-8") as lines:
        real = [json.loads(line) for line in islice(lines, 2000)]
    shaped = [
        {"id": str(number), "title": one["title"].replace("&", "&amp;"), "url": one["link"].replace("&", "&amp;"),
         "is_self": False, "author": one["poster"], "created_utc": one["time"],
         "score": one["votes"], "subreddit": one["groups"][0]}
        for number, one in enumerate(real)
    ]  # fmt: skip

    found = stage("reddit", written(tmp_path / "real.jsonl", shaped))

    assert found["bad"] == []
    assert by_id(found["article"], "title", "link", "author", "time", "votes") == {
        str(number): (one["title"], one["link"], one["poster"], one["time"], one["votes"])
        for number, one in enumerate(real)
    }


# CSV and JSON lines of anything


@pytest.fixture
def folder(tmp_path):
    files.write_files(tmp_path)
    shutil.copy(tmp_path / "map.toml", tmp_path / "tables")
    return tmp_path / "tables"


def test_rows_that_are_not_csv_are_rejected_with_line_and_reason(folder, stage):
    lines = [
        "1,a",
        f"2,Two,,,,{T},,",
        "3,\xff,,,,5,,",
        '4,"' + "x" * 1_100_000 + '",,,,5,,',
        f"5,Five,,,,{T}000,,",
        '6,"open',
    ]
    (folder / "posts.csv").write_bytes("\n".join([files.POSTS.splitlines()[0][1:], *lines]).encode("latin-1"))

    found = stage("lines", folder, mapping=str(folder / "map.toml"))

    reasons = {row["place"]: row["reason"] for row in found["bad"] if row["place"].startswith("posts")}
    assert [*reasons] == ["posts.csv:2", "posts.csv:4", "posts.csv:5", "posts.csv:7"]
    assert reasons["posts.csv:2"] == "The row has 2 fields instead of 8."
    assert reasons["posts.csv:4"] == "The row is not UTF-8 text."
    assert [*by_id(found["article"])] == ["2", "5"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "rows"),
        ("rows = 1", "cannot be read"),
        ("[[rows]]\ntable = 'bad'", "no table"),
        ("[[rows]]\ntable = 'article'\nname = 'x'", "field 'name'"),
        ("[[rows]]\ntable = 'article'\ntime = { unit = 'h', column = 'at' }", "a column, or a value"),
        ("[[rows]]\ntable = 'article'\nfiles = 'posts.csv'\nid = 'nope'", "no column 'nope'"),
        ("[[rows]]\ntable = 'article'\nfiles = 1", "are texts"),
    ],
)
def test_a_mapping_that_cannot_be_followed_is_refused(folder, stage, text, said):
    (folder / "map.toml").write_text(text)

    with pytest.raises(BadSource, match=said):
        stage("lines", folder, mapping=str(folder / "map.toml"))

"""Files of other sites: what an adapter stages of them, row by row, and what it rejects."""

import gzip
import json
from itertools import islice

import pytest
import zstandard

from extras.moving_in.models import Kind
from extras.moving_in.sources import BadSource, format_of, rows
from extras.moving_in.staging import staged

T = 1_367_424_000


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


def written(path, items):
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    return path


def by_id(found, *columns):
    return {row["id"]: tuple(row[name] for name in columns) for row in found}


SUBMISSION = {"id": "abc", "title": "A &amp; B", "author": "Ann", "created_utc": T, "score": 12,
              "subreddit": "py", "url": "https://a.example/?a=1&amp;b=2", "is_self": False, "selftext": "",
              "edited": False}  # fmt: skip
COMMENT = {"id": "c1", "link_id": "t3_abc", "parent_id": "t3_abc", "author": "Bob", "created_utc": T + 5,
           "score": -3, "body": "1 &lt; 2", "edited": T + 60}  # fmt: skip
REDDIT = [
    SUBMISSION,
    SUBMISSION | {"id": "self", "is_self": True, "url": "https://www.reddit.com/r/py/comments/self/x/",
                  "selftext": "*Hi*", "created_utc": str(T), "link_flair_text": "News",
                  "edited": T + 9, "locked": True},
    SUBMISSION | {"id": "bare", "is_self": True, "author": "[deleted]"},
    SUBMISSION | {"id": "rem", "is_self": True, "selftext": "[removed]"},
    SUBMISSION | {"id": "spam", "removed_by_category": "moderator"},
    SUBMISSION | {"id": "own", "removed_by_category": "deleted"},
    COMMENT,
    COMMENT | {"id": "c2", "parent_id": "t1_c1", "body": "[removed]", "author": "[deleted]", "edited": False},
    COMMENT | {"id": "c3", "parent_id": "t1_c2", "body": "[deleted]", "edited": True},
    COMMENT | {"id": "c4", "parent_id": "t1_lost"},
    COMMENT | {"id": "c5", "link_id": "t3_lost"},
    COMMENT | {"id": "c1", "body": "Edited", "score": 4},
]  # fmt: skip


def test_a_subreddit_is_staged_row_by_row(tmp_path, stage):
    found = stage("reddit", written(tmp_path / "py.jsonl", REDDIT))

    assert by_id(found["article"], "title", "link", "text", "author", "time", "votes", "opposes", "edited") == {
        "abc": ("A & B", "https://a.example/?a=1&b=2", "", "Ann", T, 12, None, None),
        "self": ("A & B", "", "*Hi*", "Ann", T, 12, None, T + 9),
        "bare": ("A & B", "", "A & B", None, T, 12, None, None),
        "rem": ("A & B", "", "[removed]", "Ann", T, 12, None, None),
        "spam": ("A & B", "https://a.example/?a=1&b=2", "", "Ann", T, 12, None, None),
        "own": ("A & B", "https://a.example/?a=1&b=2", "", "Ann", T, 12, None, None),
    }
    moderators, author = "Removed by moderators.", "Deleted by its author."
    removed = {one: reason for one, (reason,) in by_id(found["article"], "removed").items() if reason}
    assert removed == {"rem": moderators, "spam": moderators, "own": author}
    assert by_id(found["article"], "locked")["self"] == ("Locked on Reddit.",)
    assert by_id(
        found["comment"], "article", "parent", "author", "text", "votes", "edited", "removed", "is_deleted"
    ) == {
        "c1": ("abc", None, "Bob", "Edited", 4, T + 60, None, 0),
        "c2": ("abc", "c1", None, "", -3, None, moderators, 0),
        "c3": ("abc", "c2", "Bob", "", -3, None, None, 1),
        "c4": ("abc", "lost", "Bob", "1 < 2", -3, T + 60, None, 0),
        "lost": ("abc", None, None, "", None, None, None, 1),
    }
    assert found["bad"] == [{"place": "comment c5", "reason": "Its article is missing."}]
    assert {row["id"] for row in found["member"]} == {"Ann", "Bob"}
    assert [row["id"] for row in found["tag"]] == ["py"]
    assert found["told"] == len(REDDIT)


def test_flairs_are_groups_if_told(tmp_path, stage):
    found = stage("reddit", written(tmp_path / "py.jsonl", REDDIT), flairs=True)

    assert [row["tag"] for row in found["article_tag"] if row["article"] == "self"] == ["py", "News"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_folder_of_packed_files_is_read_by_their_names(tmp_path, stage, pack):
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, item in (("RC_2.x", COMMENT | {"body": "Later"}), ("RC_1.x", COMMENT), ("RS_1.x", SUBMISSION)):
        (folder / name).write_bytes(pack(json.dumps(item).encode()))

    found = stage("reddit", folder)

    assert by_id(found["comment"], "text") == {"c1": ("Later",)}


STORY = {
    "id": 1,
    "type": "story",
    "by": "ann",
    "time": T,
    "title": "Hello",
    "url": "https://a.example/",
    "score": 7,
}
REPLY = {
    "id": 3,
    "type": "comment",
    "by": "bob",
    "time": T + 9,
    "parent": 2,
    "text": 'a <i>b</i> *c*<p><a href="https:&#x2F;&#x2F;x.example">x</a>',
}
NEWS = [
    REPLY,
    {"id": 2, "type": "comment", "deleted": True, "time": T + 5, "parent": 1},
    {"id": 4, "type": "comment", "by": "bob", "dead": True, "time": T + 9, "parent": 1, "text": "No"},
    {"id": 5, "type": "comment", "by": "bob", "time": T, "parent": 99, "text": "Lost"},
    {"id": 6, "type": "comment", "by": "bob", "time": T, "parent": 6, "text": "Circle"},
    STORY,
    STORY | {"id": 10, "url": None, "text": "Ask &amp; tell", "dead": True},
    {"id": 11, "type": "story", "deleted": True, "time": T},
    STORY | {"id": 12, "type": "poll", "url": None, "text": None, "parts": [13]},
    {"id": 13, "type": "pollopt", "by": "ann", "time": T, "poll": 12, "text": "Yes", "score": 3},
    STORY | {"id": 14, "type": "job", "by": None, "score": 1},
    {"id": "ann", "created": T - 100, "karma": 5, "about": "I<p>am"},
]


def test_items_of_hacker_news_are_staged_row_by_row(tmp_path, stage):
    found = stage("hackernews", written(tmp_path / "items.jsonl", NEWS))

    assert by_id(found["article"], "title", "link", "text", "author", "votes", "removed") == {
        "1": ("Hello", "https://a.example/", None, "ann", 7, None),
        "10": ("Hello", "", "Ask &amp; tell", "ann", 7, "Dead on Hacker News."),
        "11": ("[deleted]", "", "[deleted]", None, None, "Deleted by its author."),
        "12": ("Hello", "", "Hello", "ann", 7, None),
        "14": ("Hello", "https://a.example/", None, None, 1, None),
    }
    assert by_id(found["comment"], "article", "parent", "author", "text", "removed", "is_deleted") == {
        "2": ("1", None, None, "", None, 1),
        "3": ("1", "2", "bob", r"a *b* \*c\*" + "\n\n[x](https://x.example)", None, 0),
        "4": ("1", None, "bob", "No", "Dead on Hacker News.", 0),
        "13": ("12", None, "ann", "Yes", None, 0),
    }
    assert {row["place"] for row in found["bad"]} == {"comment 5", "comment 6"}
    assert by_id(found["member"], "joined", "about") == {"ann": (T - 100, "I\n\nam"), "bob": (None, None)}


def test_circles_of_replies_end(tmp_path, stage):
    circle = [REPLY | {"id": 1, "parent": 3}, REPLY | {"id": 2, "parent": 1}, REPLY | {"id": 8, "parent": 9}]
    found = stage(
        "hackernews", written(tmp_path / "items.jsonl", [STORY, REPLY, *circle, REPLY | {"id": 9, "parent": 8}])
    )

    assert set(by_id(found["comment"])) == {"1", "2", "3"}
    assert {row["place"] for row in found["bad"]} == {"comment 8", "comment 9"}


@pytest.mark.parametrize(
    ("form", "address", "kind", "old_id"),
    [
        ("reddit", "/r/x/comments/abc/title/", Kind.ARTICLE, "abc"),
        ("reddit", "/comments/abc", Kind.ARTICLE, "abc"),
        ("reddit", "/r/x/comments/abc/title/def/", Kind.COMMENT, "def"),
        ("reddit", "/r/x/comments/abc/title/def/?context=3", Kind.COMMENT, "def"),
        ("reddit", "/r/x/comments/abc/comment/def/", Kind.COMMENT, "def"),
        ("reddit", "/u/some-name", Kind.MEMBER, "some-name"),
        ("reddit", "/user/name/comments/", Kind.MEMBER, "name"),
        ("reddit", "/r/x/new/", Kind.GROUP, "x"),
        ("reddit", "/r/x/.rss", Kind.GROUP, "x"),
        ("hackernews", "/item?id=123", Kind.ARTICLE, "123"),
        ("hackernews", "/user?id=some_name", Kind.MEMBER, "some_name"),
        ("hackernews", "/threads?id=name&next=1", Kind.MEMBER, "name"),
    ],
)
def test_old_addresses_are_read(form, address, kind, old_id):
    matches = ((one.kind, one.pattern.fullmatch(address)) for one in format_of(form).addresses)

    assert next((found, match[1]) for found, match in matches if match) == (kind, old_id)


def test_an_item_of_hacker_news_is_looked_up_as_a_comment_as_well():
    kinds = [one.kind for one in format_of("hackernews").addresses if one.pattern.fullmatch("/item?id=123")]

    assert kinds == [Kind.ARTICLE, Kind.COMMENT]


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

MAPPING = """
[[rows]]
table = "article"
files = "posts.*"
id = "number"
title = "headline"
link = "address"
text = { column = "body", form = "html" }
author = "who"
time = { column = "at", unit = "ms" }
votes = { value = 2 }
tags = { column = "labels", separator = "|" }
path = "old"

[[rows]]
table = "comment"
files = "talk.*"
where = { kind = "reply" }
id = "id"
article = "on"
author = "by.name"
time = "at"
text = "text"
"""
POSTS = (
    "\ufeffnumber,headline,address,body,who,at,labels,old\r\n"
    f'1,"A ""quoted"", title",https://a.example/,,ann,{T}500,one | two,/2013/a.html\r\n'
    f'2,Text,,"<b>two</b>\r\nlines",,{T}000,,\r\n'
)
TALK = [
    {"kind": "reply", "id": 7, "on": 1, "by": {"name": "bob"}, "at": "2013-05-01T18:00:00+02:00", "text": "Hi"},
    {"kind": "like", "id": 8},
    {"kind": "reply", "id": 9, "on": 2, "by": None, "at": "2013-05-01 16:00:00", "text": "UTC"},
    {"kind": "reply", "id": 10, "on": 2, "at": "yesterday"},
]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "tables"
    made.mkdir()
    (made / "map.toml").write_text(MAPPING)
    (made / "posts.csv").write_text(POSTS, "utf-8", newline="")
    written(made / "talk.jsonl", TALK)
    return made


def test_tables_of_anything_are_staged_by_a_mapping(folder, stage):
    found = stage("lines", folder, mapping=str(folder / "map.toml"))

    assert by_id(found["article"], "title", "link", "text", "author", "time", "votes", "path") == {
        "1": ('A "quoted", title', "https://a.example/", "", "ann", T + 0.5, 2, "/2013/a.html"),
        "2": ("Text", None, "**two** lines", None, T, 2, None),
    }
    assert [(row["article"], row["tag"]) for row in found["article_tag"]] == [("1", "one"), ("1", "two")]
    assert by_id(found["comment"], "article", "author", "time", "text") == {
        "7": ("1", "bob", T, "Hi"),
        "9": ("2", None, T, "UTC"),
    }
    assert [row["place"] for row in found["bad"]] == ["talk.jsonl:4"]
    assert {row["name"] for row in found["member"]} == {"ann", "bob"}


def test_rows_that_are_not_csv_are_rejected_with_line_and_reason(folder, stage):
    lines = [
        "1,a",
        f"2,Two,,,,{T},,",
        "3,\xff,,,,5,,",
        '4,"' + "x" * 1_100_000 + '",,,,5,,',
        f"5,Five,,,,{T}000,,",
        '6,"open',
    ]
    (folder / "posts.csv").write_bytes("\n".join([POSTS.splitlines()[0][1:], *lines]).encode("latin-1"))

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


def test_strings_that_break_sites_are_staged_as_they_are(folder, stage, shared_dir):
    naughty = [one for one in json.loads((shared_dir / "cases/naughty_strings.json").read_text("utf-8")) if one]
    xss = (shared_dir / "cases/xss_300.txt").read_text("utf-8").splitlines()
    texts = [one.replace("\0", "") for one in (*naughty, *xss) if one]
    items = [{"number": at, "headline": text, "at": T * 1000} for at, text in enumerate(texts)]
    (folder / "posts.csv").unlink()
    written(folder / "posts.jsonl", items)

    found = stage("lines", folder, mapping=str(folder / "map.toml"))

    assert [row["title"] for row in found["article"]] == texts[: len(found["article"])]
    assert len(found["article"]) == len(texts)

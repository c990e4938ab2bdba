"""Two thousand real articles: every page of every list against an independent sort."""

import json
import sqlite3
import time

import pytest

from articles.domain.articles import ImportedArticle
from articles.text.slugs import clean_slug

WEIGHT = 432  # the seconds one point is worth, at 200 votes a day


@pytest.fixture
def rows(shared_dir):
    lines = (shared_dir / "data" / "articles_2000.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row | {"groups": list(dict.fromkeys(map(clean_slug, row["groups"])))} for row in rows]


@pytest.fixture
def expected(site_store, rows):
    """A SQLite table of the imported rows. The last article is posted today, so some are still open."""
    shift = int(time.time()) - max(row["time"] for row in rows)
    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE article (id INTEGER, time REAL, score REAL, title TEXT, votes INTEGER)")
    table.execute("CREATE TABLE member (id INTEGER, slug TEXT)")
    for start in range(0, len(rows), 500):
        batch = rows[start : start + 500]
        ids = site_store.imports.add([imported(row, shift) for row in batch])
        for number, row in zip(ids, batch, strict=True):
            posted, points = row["time"] + shift, row["votes"]
            entry = (number, posted, posted + WEIGHT * points, row["title"], votes_of(points))
            table.execute("INSERT INTO article VALUES (?, ?, ?, ?, ?)", entry)
            table.executemany("INSERT INTO member VALUES (?, ?)", [(number, slug) for slug in row["groups"]])
    yield table
    table.close()


def imported(row, shift):
    posted, points, groups = row["time"] + shift, row["votes"], tuple(row["groups"])
    votes = votes_of(points)
    return ImportedArticle(row["title"], row["link"], 5, row["poster"], posted, votes, votes - points, groups)


def votes_of(points):
    """Return the votes of a row. A total below 1 is the poster's own vote and enough opposes to reach it."""
    return max(1, points)


def all_pages(caller, query):
    """Return the whole list, read page by page."""
    found, number, pages = [], 1, 1
    while number <= pages:
        page = caller.get(f"articles?{query}&page={number}").json()
        assert page["page"] == number
        pages, total = page["pages"], page["total"]
        found += page["articles"]
        number += 1
    assert total == len(found)
    return found


@pytest.mark.parametrize("order", ["score", "time"])
def test_the_whole_site_is_in_order(anyone, expected, order):
    found = all_pages(anyone, f"order={order}")

    assert anyone.get(f"articles?order={order}&page=81").status_code == 404
    query = f"SELECT id, title, time, score, votes FROM article ORDER BY {order} DESC, CAST(id AS TEXT) DESC"
    actual = [tuple(entry[key] for key in ("id", "title", "time", "score", "votes")) for entry in found]
    assert actual == expected.execute(query).fetchall()


def test_every_group_is_in_order(anyone, expected):
    groups = [slug for (slug,) in expected.execute("SELECT DISTINCT slug FROM member")]
    assert len(groups) > 50
    for slug in groups:
        for order in ("score", "time"):
            query = (
                "SELECT id FROM article JOIN member USING (id) WHERE slug = ? "
                f"ORDER BY {order} DESC, CAST(id AS TEXT) DESC"
            )
            found = [entry["id"] for entry in all_pages(anyone, f"group={slug}&order={order}")]
            assert found == [number for (number,) in expected.execute(query, [slug])], (slug, order)

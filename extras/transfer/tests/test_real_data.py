"""Imports of real articles: every page of every list equals what plain Python computes from the file."""

import gzip
import html
import json
import math
from collections import defaultdict

import pytest

from articles.domain.lists import Order

REASONS = {
    "link-characters": 29,
    "link-empty": 1,
    "link-host": 20,
    "link-long": 1,
    "link-scheme": 6,
    "title-empty": 1,
    "title-marks": 7,
}
REPEATED = 4
SPELLED = {"c++": "cpp", "c#": "csharp"}


@pytest.fixture
def articles_2000(shared_dir):
    return shared_dir / "data" / "articles_2000.jsonl"


@pytest.fixture
def articles_300k(shared_dir):
    return shared_dir / "data" / "articles_300k.jsonl.gz"


def pages(repository, order, slug=None):
    """Return the ids of a list, from all of its pages."""
    ids, number = [], 0
    while True:
        number += 1
        page = repository.lists.get_page(order, number, slug=slug)
        ids += [article.id for article in page.articles]
        if not page.has_next:
            return ids


def ranked(values):
    """Return the ids by value, highest first; ties are ordered by id as text, descending."""
    return sorted(values, key=lambda number: (values[number], str(number).encode()), reverse=True)


def fitting_weight(rows):
    """Return the seconds per point after the import, from the 75th percentile of points over the last 30 days."""
    newest = max(row["time"] for row in rows)
    points = sorted(row["votes"] for row in rows if row["time"] >= newest - 30 * 86400)
    return 86400 / points[math.ceil(len(points) * 0.75) - 1]


@pytest.mark.deep
def test_all_lists_equal_an_independent_computation(run, site_store, articles_2000):
    out = run("import_articles", articles_2000)
    lines = articles_2000.read_text(encoding="utf-8").splitlines()
    rows = dict(enumerate(map(json.loads, lines), start=1))
    assert f"{len(rows):,} articles imported, 0 already present." in out

    weight = fitting_weight(rows.values())
    assert 86400 / 200 < weight < 86400 / 5
    values = {
        Order.TIME: {number: row["time"] for number, row in rows.items()},
        Order.SCORE: {number: row["time"] + weight * row["votes"] for number, row in rows.items()},
    }
    groups = defaultdict(set)
    for number, row in rows.items():
        for slug in row["groups"]:
            groups[SPELLED.get(slug, slug)].add(number)

    for order, by_id in values.items():
        assert pages(site_store, order) == ranked(by_id)
        for slug, members in groups.items():
            wanted = ranked({number: by_id[number] for number in members})
            assert pages(site_store, order, slug) == wanted, slug
    assert {group.slug: group.articles for group in site_store.groups.list_all()} == {
        slug: len(members) for slug, members in groups.items()
    }
    assert run("audit") == f"{len(rows):,} articles, no findings.\n"


@pytest.mark.large
@pytest.mark.timeout(900)
def test_every_article_of_a_messy_file_is_imported_or_accounted_for(run, site_store, articles_300k, tmp_path):
    report = tmp_path / "report.txt"
    run("import_articles", articles_300k, unescape=True, report=str(report))
    refused = dict(line.split("\t")[:2] for line in report.read_text(encoding="utf-8").splitlines())
    causes = defaultdict(int)
    for cause in refused.values():
        causes[cause] += 1
    assert causes == REASONS

    wanted, seen = [], set()
    with gzip.open(articles_300k, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            mark = html.unescape(row["link"]), row["time"]
            if str(number) not in refused and mark not in seen:
                seen.add(mark)
                wanted.append((row["time"], row["votes"]))
    assert number - len(refused) - len(wanted) == REPEATED
    assert [(article.posted_at, article.points) for article in site_store.imports.iterate()] == wanted
    assert run("audit") == f"{len(wanted):,} articles, no findings.\n"

"""GET /api/hot, and the readership shown in lists."""

import pytest

from articles.api.schemas import Range, Span
from articles.domain.articles import ImportedArticle
from articles.domain.lists import HOT_PERIODS, TOP_PERIODS
from articles.domain.ranking import Parameters, hotness, hours_between
from articles.domain.readership import Visit
from tests.caller import error_of
from tests.cases import for_each
from tests.store_state import HOT_KEY, set_clock

DAY = 86400


@pytest.fixture
def read(site_store):
    """Post articles of these ages in days with these numbers of views, each by a new visitor; return their ids."""

    def post(*rows):
        now = site_store.store.now()
        new = [
            ImportedArticle(f"No. {number}", f"https://example.org/{number}", 0, "", now - days * DAY, 1, 0)
            for number, (days, _views) in enumerate(rows)
        ]
        ids = list(site_store.imports.add(new))
        for found, (_days, views) in zip(ids, rows, strict=True):
            for visitor in range(views):
                site_store.pageviews.record(found, Visit(f"{visitor:016x}"))
        return ids

    return post


def ids_of(answer):
    assert answer.status_code == 200, answer.content
    return [article["id"] for article in answer.json()["articles"]]


def test_the_hot_list_shows_readership_and_when_it_was_scored(anyone, site_store, read):
    few, many = read((1, 2), (1, 5))
    scored_at = round(site_store.store.now(), 3)
    set_clock(site_store, scored_at)
    site_store.hot.rescore()

    body = anyone.get("hot").json()

    assert body.keys() == {"articles", "refreshed_at", "next_after", "hidden"}
    assert body["refreshed_at"] == scored_at
    assert [(found["id"], found["pv"], found["uv"]) for found in body["articles"]] == [(many, 5, 5), (few, 2, 2)]
    for found in body["articles"]:
        hours = hours_between(found["time"], body["refreshed_at"])
        assert found["hotness"] == pytest.approx(hotness(found["pv"], found["uv"], hours, Parameters()), rel=1e-9)


@pytest.mark.parametrize(
    ("span", "shown"), [("24h", 1), ("72h", 2), ("7d", 3), ("all", 4)], ids=["24h", "72h", "7d", "all"]
)
def test_a_period_selects_by_posting_time(anyone, read, span, shown):
    posted = read((0.9, 9), (2.9, 9), (6.9, 9), (30, 9))

    assert ids_of(anyone.get(f"hot?range={span}")) == posted[:shown]


@for_each("limit", ["0", "-1", "101", "1e9", "9" * 400, "abc", "", "1.0", "01", "%201", "+1", "１", "1_0"])
def test_any_other_limit_is_invalid(anyone, site_store, limit):
    answer = anyone.get(f"hot?limit={limit}")

    assert error_of(answer) == (400, "invalid")
    assert "“limit”" in answer.json()["error"]["message"]


@for_each("span", ["", "x", "72", "72H", "1h", "24h,72h", "0", HOT_KEY, "%00"])
def test_any_other_period_is_invalid(anyone, site_store, span):
    answer = anyone.get(f"hot?range={span}")

    assert error_of(answer) == (400, "invalid")
    assert "“range”" in answer.json()["error"]["message"]
    assert "24h, 72h, 7d, all" in answer.json()["error"]["message"]


def test_the_api_knows_the_periods_of_the_site():
    assert {word.value: word.period for word in Range} == HOT_PERIODS
    assert {word.value: word.period for word in Span} == TOP_PERIODS

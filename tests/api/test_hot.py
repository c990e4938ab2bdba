"""GET /api/hot, and the readership shown in lists."""

import time

import pytest

from articles.api.schemas import Range, Span
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.lists import HOT_PERIODS, TOP_PERIODS
from articles.domain.ranking import Parameters, hotness, hours_between
from articles.domain.readership import Visit
from tests.caller import error_of
from tests.cases import for_each
from tests.cast import MODERATOR
from tests.store_state import HOT_KEY, count_keys, set_clock

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


def test_an_article_of_the_hot_list_has_every_field_of_an_article(anyone, read):
    (article,) = read((1, 1))

    (found,) = anyone.get("hot").json()["articles"]

    own = {"hotness": found.pop("hotness"), "text": None, "html": None}
    assert found | own == anyone.get(f"articles/{article}").json() | own


@pytest.mark.parametrize(
    ("span", "shown"), [("24h", 1), ("72h", 2), ("7d", 3), ("all", 4)], ids=["24h", "72h", "7d", "all"]
)
def test_a_period_selects_by_posting_time(anyone, read, span, shown):
    posted = read((0.9, 9), (2.9, 9), (6.9, 9), (30, 9))

    assert ids_of(anyone.get(f"hot?range={span}")) == posted[:shown]


def test_the_default_period_is_three_days(anyone, read):
    read((2.9, 2), (3.1, 2))

    assert anyone.get("hot").content == anyone.get("hot?range=72h&limit=20").content
    assert len(ids_of(anyone.get("hot"))) == 1


def test_the_limit_truncates_the_list(anyone, read):
    posted = read(*((1, views) for views in range(30, 5, -1)))

    assert ids_of(anyone.get("hot")) == posted[:20]
    assert ids_of(anyone.get("hot?limit=1")) == posted[:1]
    assert ids_of(anyone.get("hot?limit=100")) == posted


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


def test_articles_that_are_unread_or_removed_are_not_hot(anyone, site_store, read):
    read((1, 0))
    (spam,) = site_store.imports.add([ImportedArticle("Spam", "https://spam.example", 0, "", time.time(), 1, 0)])
    site_store.pageviews.record(spam, Visit("0" * 16))
    site_store.articles.remove(spam, MODERATOR, "It is spam.")

    assert anyone.get("hot?range=all").json()["articles"] == []


def test_members_see_their_own_choices(as_bob, anyone, site_store, read, bob):
    (article,) = read((1, 1))
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)

    choices = [caller.get("hot").json()["articles"][0]["choice"] for caller in (as_bob, anyone)]

    assert choices == ["oppose", "none"]


def test_a_reader_cannot_create_arbitrary_keys(anyone, site_store, read):
    read((1, 1))
    anyone.get("hot")
    keys = count_keys(site_store)

    for query in ("range=all", "range=24h&limit=3", "range=x", "limit=0", "range=7d&order=voted:1&slug=a"):
        anyone.get(f"hot?{query}")

    assert count_keys(site_store) == keys


def test_a_group_can_be_listed_by_hotness(anyone, site_store, read, python):
    cold, hot, other = read((1, 1), (1, 5), (1, 9))
    for found in (cold, hot):
        site_store.groups.assign(found, ["python"])

    assert ids_of(anyone.get("articles?order=hot")) == [other, hot, cold]
    assert ids_of(anyone.get("articles?order=hot&group=python")) == [hot, cold]


def test_articles_include_their_views_and_visitors(anyone, read):
    (article,) = read((1, 3))

    found = anyone.get(f"articles/{article}").json()

    assert (found["pv"], found["uv"]) == (3, 3)
    assert "hotness" not in found


def test_the_api_knows_the_periods_of_the_site():
    assert {word.value: word.period for word in Range} == HOT_PERIODS
    assert {word.value: word.period for word in Span} == TOP_PERIODS

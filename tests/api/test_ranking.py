"""The numbers of an article's explanation, as JSON."""

from itertools import pairwise
from math import log2

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import Order
from articles.domain.readership import Visit
from tests.caller import error_of
from tests.factories import post_as
from tests.store_state import count_keys, ranking_values


@pytest.fixture
def ranked(site_store, article, alice, bob):
    """An article with a vote, a view, a group, a neighbour and a rank sample."""
    site_store.groups.create("python", "Python")
    site_store.groups.assign(article, ["python"])
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    post_as(site_store, alice, "Below", "https://example.org/below")
    site_store.pageviews.record(article, Visit("0" * 16))
    site_store.history.record()
    return article


def test_the_explanation_has_every_part(anyone, site_store, ranked):
    stored = site_store.articles.get(ranked)
    found = site_store.explanations.get(stored)
    (sample,) = found.history

    answer = anyone.get(f"articles/{ranked}/ranking")

    assert answer.status_code == 200
    told = answer.json()
    below = told["front_page"]["below"]
    decay = told.pop("decay")
    assert told == {
        "id": ranked,
        "front_page": {"rank": 1, "of": 2, "above": None, "below": below},
        "groups": [{"group": "python", "title": "Python", "rank": 1, "of": 1}],
        "hot_list": {"rank": 1, "of": 1, "above": None, "below": None},
        "score": {
            "time": stored.posted_at,
            "votes": 2,
            "opposes": 0,
            "left_out_votes": 0,
            "left_out_opposes": 0,
            "waiting": 0,
            "ranked_points": 2,
            "seconds_per_point": 432.0,
            "score": stored.score,
        },
        "hotness": {
            "pv": 1,
            "uv": 1,
            "alpha": 1.0,
            "beta": 1.2,
            "readers": 2.2,
            "hours": found.hotness.hours,
            "base": 2.0,
            "gamma": 1.5,
            "denominator": found.hotness.denominator,
            "hotness": found.hotness.value,
            "refreshed_at": site_store.hot.get_refreshed_at(),
        },
        "one_more_vote": {"seconds": 432.0, "rank": 1, "gained": 0},
        "closes_at": stored.closes_at,
        "history": [{"time": sample.at, "rank": 1, "ranked_points": 2, "hot_rank": 1}],
        "search": None,
    }
    assert (below["title"], below["worth"]) == ("Below", 1)
    assert below["apart"] == pytest.approx(stored.score - below["value"])
    assert [point["hours"] for point in decay] == list(range(0, 73, 6))
    assert decay[0]["hotness"] == found.hotness.value
    assert all(one["hotness"] > next_["hotness"] for one, next_ in pairwise(decay))


def test_the_sum_is_the_score_of_the_list(anyone, site_store, ranked):
    told = anyone.get(f"articles/{ranked}/ranking").json()

    parts = told["score"]
    assert parts["time"] + parts["seconds_per_point"] * parts["ranked_points"] == parts["score"]
    assert parts["score"] == ranking_values(site_store, Order.SCORE)[ranked]
    assert told["hotness"]["hotness"] == pytest.approx(ranking_values(site_store, Order.HOT)[ranked], rel=1e-9)


def test_a_search_is_explained_with_its_matches(anyone, ranked):
    told = anyone.get(f"articles/{ranked}/ranking?q=article+host:example.org").json()["search"]

    matches = told.pop("matches")
    assert {(match["term"], match["where"], match["how"]) for match in matches} >= {
        ("article", "title", "exact"),
        ("host:example.org", "filter", "exact"),
    }
    assert told["status"] == "found"
    assert sum(match["value"] for match in matches) == pytest.approx(told["matched"], rel=1e-5)
    assert told["relevance"] == pytest.approx(told["matched"] * log2(2 + told["prior"]))
    none = anyone.get(f"articles/{ranked}/ranking?q=nothing").json()["search"]
    assert (none["status"], none["matches"], none["relevance"]) == ("no-match", [], 0)
    assert error_of(anyone.get(f"articles/{ranked}/ranking?q={'x' * 201}")) == (400, "invalid")


def test_unknown_and_removed_articles_have_no_explanation_and_create_no_key(anyone, site_store, removed):
    before = count_keys(site_store)

    unknown, gone = anyone.get("articles/999999/ranking"), anyone.get(f"articles/{removed}/ranking")

    assert error_of(unknown) == (404, "article-not-found")
    assert error_of(gone) == (404, "article-removed")
    assert count_keys(site_store) == before

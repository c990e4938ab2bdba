"""GET /api/search."""

import random
from urllib.parse import quote

import pytest
from django.test import Client

from articles.domain.articles import Choice
from articles.web import wiring
from tests.caller import error_of
from tests.factories import actor


@pytest.fixture
def found(site_store, alice):
    """The ids of an article in python and of one in no group."""
    post = site_store.articles.post
    return [
        post(alice.pk, "alice", "Redis voting", "https://example.org/1", ["python"]).id,
        post(alice.pk, "alice", "数据库 and Redis", "https://redis.io/2").id,
    ]


def ids_of(answer):
    assert answer.status_code == 200, answer.content
    return {article["id"] for article in answer.json()["articles"]}


def test_the_api_finds_the_same_articles_as_the_page(anyone, found):
    one, other = found

    assert ids_of(anyone.get("search?q=redis")) == {one, other}
    assert ids_of(anyone.get("search?q=vote&order=time")) == {one}
    assert ids_of(anyone.get("search?q=%E6%95%B0%E6%8D%AE")) == {other}
    assert ids_of(anyone.get("search?q=redis&group=Python")) == {one}
    assert ids_of(anyone.get("search?q=redis.io")) == {other}


def test_a_response_gives_the_total_and_whether_it_is_complete(anyone, found):
    body = anyone.get("search?q=redis").json()

    facts = {name: value for name, value in body.items() if name != "articles"}
    assert facts == {
        "page": 1,
        "has_next": False,
        "next_after": None,
        "total": 2,
        "complete": True,
        "hidden": 0,
        "doubts": [],
    }
    article = body["articles"][0]
    assert article | {"text": None, "html": None} == anyone.get(f"articles/{article['id']}").json()


@pytest.fixture
def no_index(settings, tmp_path):
    """An index that no process has written."""
    settings.SEARCH_DIR = tmp_path
    wiring.forget_finder()
    yield
    wiring.forget_finder()


@pytest.mark.usefixtures("no_index")
def test_a_search_of_an_index_that_is_being_built_is_not_complete(anyone, found):
    body = anyone.get("search?q=redis").json()

    assert (body["total"], body["complete"]) == (0, False)
    assert anyone.get("search?q=redis&page=2").status_code == 404


@pytest.mark.parametrize("query", ["", "%20", "!%3F"])
def test_a_query_without_words_finds_nothing(anyone, found, query):
    body = anyone.get(f"search?q={query}").json()

    assert (body["articles"], body["total"], body["complete"]) == ([], 0, True)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", (400, "invalid")), (f"q={'x' * 201}", (400, "invalid")), ("q=redis&order=hot", (400, "invalid")),
        ("q=redis&page=0", (400, "invalid")), ("q=redis&page=101", (400, "invalid")),
        ("q=redis&page=01", (400, "invalid")), ("q=redis&page=2", (404, "page-not-found")),
        ("q=redis&page=100", (404, "page-not-found")), ("q=redis&group=unknown", (404, "group-not-found")),
        ("q=redis&group=%2F", (404, "group-not-found")),
    ],
)  # fmt: skip
def test_an_invalid_search_is_refused_with_a_reason(anyone, found, query, code):
    assert error_of(anyone.get(f"search?{query}")) == code


@pytest.mark.parametrize("seed", range(3))
def test_searches_are_filtered_by_points_shown_and_sorted_by_ranked_points(anyone, site_store, alice, carol, seed):
    draw = random.Random(seed)
    for number in range(14):
        article = site_store.articles.post(
            alice.pk, "alice", f"Redis {number}", f"https://example.org/{number}"
        ).id
        for voter in draw.sample(range(901, 909), draw.randrange(9)):
            site_store.votes.cast(article, voter, draw.choice([Choice.VOTE, Choice.VOTE, Choice.OPPOSE]))
    for voter in draw.sample(range(901, 909), 4):
        list(site_store.left_out.leave_out(voter, "name", actor(carol), "A ring"))
    articles = anyone.get("articles?order=time").json()["articles"]
    assert any(one["points"] != one["ranked_points"] for one in articles)

    for bound in range(-9, 10):
        for values, admits in (
            (f"{bound}", bound.__eq__),
            (f">{bound}", bound.__lt__),
            (f"<={bound}", bound.__ge__),
            (f"{bound}..{bound + 2}", range(bound, bound + 3).__contains__),
        ):
            term = f"{'points'}:{values}"
            wanted = {one["id"] for one in articles if admits(one["points"])}
            assert ids_of(anyone.get(f"search?q={quote(term)}")) == wanted, term
    for path in ("articles?order=points", "search?q=redis&order=points", "search?q=r&order=points&hide=python"):
        shown = [one["ranked_points"] for one in anyone.get(path).json()["articles"]]
        assert len(shown) == 14
        assert shown == sorted(shown, reverse=True), path
    for least in range(6):
        wanted = {f"{one['id']}" for one in articles if one["ranked_points"] >= least}
        feed = Client().get(f"/feeds/newest.json?min_points={least}").json()["items"]
        assert {one["url"].rstrip("/").rpartition("/")[2] for one in feed} == wanted
    host = Client().get("/hosts/example.org/").text
    assert f"{sum(one['points'] for one in articles)} points" in host

"""The data that the script refreshing a page receives."""

import json

import pytest
from django.test import Client

from articles.domain.articles import Choice
from tests.factories import actor, browser_of, post_as
from tests.pages.lists import post_many
from tests.store_state import RANKING_KEY, VOTERS_KEY, let_close


def ask(browser=None, **query):
    return (browser or Client()).get("/pulse/", {name: str(value) for name, value in query.items()})


def ids_of(response):
    return [row["id"] for row in response.json()["articles"]]


def joined(ids):
    return ",".join(map(str, ids))


def test_a_refresh_returns_the_current_counts(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)

    assert ask(ids=article).json() == {
        "articles": [
            {
                "id": article,
                "votes": 1,
                "opposes": 1,
                "choice": "none",
                "points": "0",
                "unit": "points",
                "numbers": "1 for, 1 against",
                "comments": "Discuss",
            }
        ],
        "new": "",
    }


def test_members_get_their_own_votes_and_no_cache_stores_them(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)

    response = ask(browser_of(bob), ids=article)

    assert response.json()["articles"][0]["choice"] == "oppose"
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_readers_without_an_account_share_a_response_for_some_seconds(site_store, article):
    response = ask(ids=article)

    assert response.headers["Cache-Control"] == "public, max-age=5"
    assert {"Cookie", "Accept-Language"} <= set(response.headers["Vary"].split(", "))
    assert not response.cookies


def test_an_unchanged_page_is_304_until_the_next_vote(site_store, article, bob):
    tag = ask(ids=article).headers["ETag"]
    again = {"headers": {"If-None-Match": tag}}

    unchanged = Client().get(f"/pulse/?ids={article}", **again)
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    changed = Client().get(f"/pulse/?ids={article}", **again)

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag


def test_articles_by_score_are_in_their_current_order(site_store, alice, bob):
    first, second, third = post_many(site_store, alice, 3)
    site_store.votes.cast(first, bob.pk, Choice.VOTE)

    assert ids_of(ask(ids=joined([third, second, first]), order="score")) == [first, third, second]
    assert ids_of(ask(ids=joined([third, second, first]), order="time")) == [third, second, first]
    assert ids_of(ask(ids=joined([third, second, first]))) == [third, second, first]


def test_removed_and_closed_articles_are_marked(site_store, alice, carol):
    removed, closed = post_many(site_store, alice, 2)
    site_store.articles.remove(removed, actor(carol), "spam")
    let_close(site_store, closed)

    rows = ask(ids=joined([removed, closed])).json()["articles"]

    assert rows[0]["removed"] == "This article has been removed."
    assert "voting window has ended" in rows[1]["closed"]


def test_a_refresh_counts_new_articles_that_the_page_does_not_show(site_store, alice):
    old, shown, *new = post_many(site_store, alice, 5)
    since = int(site_store.articles.get(shown).posted_at)

    assert ask(ids=joined([old, shown]), since=since).json()["new"] == "3 new articles"
    assert ask(ids=joined([old, shown, *new[1:]]), since=since).json()["new"] == "1 new article"
    assert ask(ids=joined([old, shown, *new]), since=since).json()["new"] == ""
    assert ask(ids=joined([old, shown])).json()["new"] == ""


def test_a_refresh_counts_no_removed_article_and_at_most_fifty(site_store, alice, carol):
    ids = post_many(site_store, alice, 60)
    site_store.articles.remove(ids[-1], actor(carol), "spam")

    assert ask(ids=ids[0], since=0).json()["new"] == "More than 50 new articles"
    assert (
        ask(ids=ids[0], since=int(site_store.articles.get(ids[40]).posted_at)).json()["new"] == "19 new articles"
    )


def test_new_articles_count_in_the_lists_groups_but_not_in_hidden_ones(site_store, alice):
    for slug in ("python", "web", "redis"):
        site_store.groups.create(slug, slug)
    first, *_ = post_many(site_store, alice, 2)
    post_as(site_store, alice, "One", "https://e.org/one", ["python"])
    post_as(site_store, alice, "Both", "https://e.org/both", ["python", "web"])
    hiding = Client()
    hiding.cookies["hidden"] = "web"

    assert ask(ids=first, since=0).json()["new"] == "3 new articles"
    assert ask(ids=first, since=0, groups="python").json()["new"] == "2 new articles"
    assert ask(ids=first, since=0, groups="web,redis").json()["new"] == "1 new article"
    assert ask(hiding, ids=first, since=0, groups="python").json()["new"] == "1 new article"


@pytest.mark.parametrize(
    "query",
    [
        {}, {"ids": ""}, {"ids": "0"}, {"ids": "1,"}, {"ids": "-1"}, {"ids": "1e3"}, {"ids": "１"},
        {"ids": "9" * 19}, {"ids": ",".join(["1"] * 101)}, {"ids": "1", "order": VOTERS_KEY},
        {"ids": "1", "since": "-1"}, {"ids": "1", "since": "nan"},
        {"ids": "1", "since": "9" * 13}, {"ids": "1", "groups": RANKING_KEY},
        {"ids": "1", "groups": ",".join(f"g{n}" for n in range(51))},
    ],
)  # fmt: skip
def test_a_request_that_no_page_sends_is_400(site_store, query):
    response = ask(**query)

    assert response.status_code == 400
    assert json.loads(response.content)["error"]

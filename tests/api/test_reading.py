"""Lists and single articles."""

import pytest

from articles.domain.articles import Choice
from tests.caller import error_of
from tests.cases import for_each
from tests.cast import MODERATOR
from tests.store_state import ARTICLE_KEY, RANKING_KEY, VOTERS_KEY, count_keys, counted_pipelines

NOT_IDS = (
    "0", "-1", "01", "+1", "1.0", "1e0", "٣", "１", "abc", "9223372036854775808", "9" * 400, "..%2f1",
    "%00", "1%00", ARTICLE_KEY, "1%0A", "%201", "1%20", "null", "{id}",
)  # fmt: skip


def test_an_article_has_every_field(anyone, site_store, article, alice, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    stored = site_store.articles.get(article)

    answer = anyone.get(f"articles/{article}")

    assert answer.status_code == 200
    assert answer.json() == {
        "id": article,
        "title": "An article",
        "link": "https://example.org/article",
        "has_text": False,
        "text": None,
        "html": None,
        "poster": "alice",
        "time": stored.posted_at,
        "votes": 1,
        "opposes": 1,
        "points": 0,
        "ranked_points": 0,
        "score": stored.score,
        "groups": [],
        "choice": "none",
        "closes_at": stored.posted_at + 7 * 86400,
        "removed": None,
        "merged_into": None,
        "merged": [],
        "saved": False,
        "edited_at": None,
        "pv": 0,
        "uv": 0,
        "comments": 0,
        "last_comment_at": None,
        "locked": None,
        "read_at": None,
        "new_comments": 0,
    }


def test_a_member_sees_only_their_own_choices(as_bob, as_alice, anyone, site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)

    choices = [caller.get("articles").json()["articles"][0]["choice"] for caller in (as_bob, as_alice, anyone)]

    assert choices == ["oppose", "vote", "none"]
    assert as_bob.get(f"articles/{article}").json()["choice"] == "oppose"


def test_a_removed_article_can_be_read_and_gives_the_reason(anyone, removed):
    answer = anyone.get(f"articles/{removed}")

    assert answer.status_code == 200
    assert answer.json()["removed"] == "It is spam."
    assert (answer.json()["title"], answer.json()["link"]) == ("Spam", None)


@for_each("not_id", NOT_IDS)
def test_an_invalid_id_is_not_found_and_creates_no_key(as_carol, site_store, not_id):
    keys = count_keys(site_store)
    body = {"choice": "vote", "groups": []}

    assert error_of(as_carol.get(f"articles/{not_id}"))[0] == 404
    assert error_of(as_carol.put(f"articles/{not_id}/vote", body))[0] == 404
    assert error_of(as_carol.put(f"articles/{not_id}/groups", body))[0] == 404
    assert count_keys(site_store) == keys


def test_a_group_lists_its_own_articles(anyone, site_store, article, closed, python):
    site_store.groups.assign(article, ["python"])

    for name in ("python", "PYTHON", "%20Python%20"):
        page = anyone.get(f"articles?group={name}&order=time").json()
        assert [found["id"] for found in page["articles"]] == [article]
        assert page["total"] == 1


@for_each(
    "name", ["nothing", "a:b", RANKING_KEY, "{x}", "*", "..", "a" * 5000, "😀", "%00", "python,c", VOTERS_KEY]
)
def test_an_unknown_group_is_not_found_and_creates_no_key(anyone, site_store, article, python, name):
    keys = count_keys(site_store)

    assert error_of(anyone.get(f"articles?group={name}")) == (404, "group-not-found")
    assert count_keys(site_store) == keys


def test_a_merged_group_names_its_successor(anyone, site_store, python):
    site_store.groups.create("py", "Py")
    site_store.groups.merge("py", "python", MODERATOR)

    answer = anyone.get("articles?group=py")

    assert error_of(answer) == (404, "group-moved")
    assert answer.json()["error"]["moved_to"] == "python"


@pytest.mark.parametrize(
    "path",
    [
        "articles?limit=5", "articles?Order=time", "hot?page=1", "search?q=a&limit=1",
        "articles/{}?x", "me/voted?limit=1",
    ],
)  # fmt: skip
def test_an_unknown_parameter_is_refused_by_name(anyone, as_bob, article, path):
    for caller in (anyone, as_bob):
        answer = caller.get(path.format(article))

        assert error_of(answer) == (400, "unknown-parameter")
        name = path.partition("?")[2].split("&")[-1].partition("=")[0]
        assert answer.json()["error"]["message"] == f"“{name}” is not a parameter of this address."


def test_operations_that_change_something_take_no_parameters(as_bob, site_store, article):
    answer = as_bob.put(f"articles/{article}/vote?choice=oppose", {"choice": "vote"})

    assert error_of(answer) == (400, "unknown-parameter")
    assert site_store.articles.get(article).votes == 1


@pytest.mark.parametrize("path", ["articles?page=1&page=1", "articles?order=time&order=score"])
def test_a_repeated_parameter_is_refused(anyone, article, path):
    assert error_of(anyone.get(path)) == (400, "invalid")


@pytest.mark.parametrize("query", ["range=day", "order=hot&range=week", "order=points&range=day&group=python"])
def test_a_period_is_refused_where_it_has_no_effect(anyone, python, query):
    assert error_of(anyone.get(f"articles?{query}")) == (400, "invalid")


def test_an_empty_group_means_the_whole_site_as_on_the_pages(anyone, article):
    assert anyone.get("articles?group=").json() == anyone.get("articles").json()
    assert anyone.get("search?q=article&group=").json() == anyone.get("search?q=article").json()


def test_only_responses_to_readers_without_an_account_are_publicly_cacheable(anyone, as_bob, article, bob):
    assert anyone.get("articles")["Cache-Control"] == "public, max-age=0"
    assert as_bob.get("articles")["Cache-Control"] == "private, no-cache"
    assert as_bob.put(f"articles/{article}/vote", {"choice": "vote"})["Cache-Control"] == "no-store"
    anyone.client.force_login(bob)
    assert anyone.get("articles")["Cache-Control"] == "private, no-cache"


def test_responses_vary_by_credentials(anyone, article):
    assert {"Cookie", "Authorization"} <= set(anyone.get("articles")["Vary"].split(", "))


@pytest.mark.needs("few shards")
def test_a_list_takes_one_round_trip(anyone, site_store, article):
    with counted_pipelines(site_store) as trips:
        anyone.get("articles")

    assert len(trips) == 1


def test_several_groups_list_the_articles_in_any_of_them(anyone, site_store, article, closed, python):
    site_store.groups.assign(article, ["python"])
    site_store.groups.assign(closed, ["redis", "python"])

    for name in ("python%2Bredis", "redis+python", "Redis%20python"):
        page = anyone.get(f"articles?group={name}&order=time").json()
        assert {found["id"] for found in page["articles"]} == {article, closed}
    assert error_of(anyone.get("articles?group=python%2Bnope")) == (404, "group-not-found")
    for n in range(11):
        site_store.groups.create(f"g{n}", f"Group {n}")
    assert anyone.get("articles?group=" + "%2B".join(f"g{n}" for n in range(10))).json()["total"] == 0
    eleven = anyone.get("articles?group=" + "%2B".join(f"g{n}" for n in range(11)))
    assert error_of(eleven) == (404, "group-not-found")

"""/api/groups: the list, and the changes that moderators make to groups."""

from unittest.mock import ANY

import pytest

from articles import site
from articles.models import BlockedHost
from tests.caller import error_of
from tests.store_state import problems

NEW = {"visible": "everyone", "articles": 0, "description": "", "followers": 0, "moderators": [], "latest": None}
WEB = {"slug": "web", "title": "The web", **NEW, "articles": 1, "latest": ANY}


@pytest.fixture(autouse=True)
def _groups(site_store, article):
    site_store.groups.ensure({"python": "Python", "web": "The web"})
    site_store.groups.assign(article, ["web"])


def test_all_groups_are_public_and_listed_by_size(anyone):
    assert anyone.get("groups").json() == {"groups": [WEB, {"slug": "python", "title": "Python", **NEW}]}


@pytest.mark.parametrize("name", ["web", "WEB", "%20Web"])
def test_a_group_is_found_by_any_spelling(anyone, name):
    assert anyone.get(f"groups/{name}").json() == WEB


def test_an_unknown_group_is_not_found(anyone, site_store):
    for name in ("nothing", "a:b", "x" * 99):
        assert error_of(anyone.get(f"groups/{name}")) == (404, "group-not-found")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"title": "Python"}, 409, "group-exists"), ({"title": "PYTHON"}, 409, "group-exists"),
        ({"title": ""}, 400, "group-title-empty"), ({"title": "x" * 61}, 400, "group-title-long"),
        ({"title": "!?"}, 400, "group-title-no-address"), ({"title": None}, 400, "invalid"),
        ({}, 400, "invalid"),
    ],
)  # fmt: skip
def test_an_invalid_group_is_refused(as_carol, site_store, body, status, code):
    assert error_of(as_carol.post("groups", body)) == (status, code)
    assert len(site_store.groups.list_all()) == 2


def test_a_merged_group_redirects_to_the_other_group(as_carol, anyone, site_store, article):
    answer = as_carol.post("groups/web/merge", {"into": "Python", "reason": "The same"})

    assert answer.json() == {"into": "python", "moved": 1}
    assert site_store.articles.get(article).groups == ("python",)
    gone = anyone.get("groups/web")
    assert (error_of(gone), gone.json()["error"]["moved_to"]) == ((404, "group-moved"), "python")
    assert error_of(as_carol.post("groups/web/merge", {"into": "python"})) == (404, "group-moved")
    assert problems(site_store) == []


def test_a_moderator_describes_a_group(as_carol, as_bob, anyone):
    change = {"description": "All about *Python*.", "reason": "newcomers asked"}
    assert error_of(as_bob.patch("groups/python", change))[0] == 403

    assert as_carol.patch("groups/python", change).json()["description"] == "All about *Python*."

    found = {one["slug"]: one["description"] for one in anyone.get("groups").json()["groups"]}
    assert found == {"web": "", "python": "All about *Python*."}
    assert as_carol.patch("groups/python", {"title": "Snakes"}).json()["description"] == "All about *Python*."
    assert as_carol.patch("groups/python", {"description": ""}).json()["title"] == "Snakes"
    assert error_of(as_carol.patch("groups/python", {})) == (400, "invalid")
    told = error_of(as_carol.patch("groups/python", {"description": "x" * 2001}))
    assert told == (400, "group-description-long")


def test_a_description_takes_no_new_link_to_a_blocked_host(as_carol):
    old = "[Old](https://spam.example/old)"
    as_carol.patch("groups/python", {"description": old})
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()

    moved = {"title": "Snakes", "description": "https://spam.example/new"}
    assert error_of(as_carol.patch("groups/python", moved)) == (400, "link-blocked")
    kept = as_carol.patch("groups/python", {"description": f"{old}, corrected"}).json()
    assert (kept["title"], kept["description"]) == ("Python", f"{old}, corrected")

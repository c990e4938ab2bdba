"""PUT /api/articles/<id>/groups."""

import pytest

from tests.store_state import problems


@pytest.fixture(autouse=True)
def _groups(site_store):
    site_store.groups.ensure({"python": "Python", "web": "The web", "cpp": "C++"})


def assign(caller, article, groups, **more):
    return caller.put(f"articles/{article}/groups", {"groups": groups, **more})


def test_a_request_replaces_all_groups_of_an_article(as_carol, site_store, article):
    assert assign(as_carol, article, ["python", "web"]).json() == {"id": article, "groups": ["python", "web"]}
    assert assign(as_carol, article, ["web", "C++"]).json() == {"id": article, "groups": ["web", "cpp"]}

    totals = [as_carol.get(f"articles?group={name}").json()["total"] for name in ("python", "web", "cpp")]
    assert totals == [0, 1, 1]
    assert as_carol.get(f"articles/{article}").json()["groups"] == ["web", "cpp"]
    assert problems(site_store) == []


def test_repeating_it_changes_nothing_and_is_logged_once(as_carol, site_store, article):
    for _ in range(3):
        assert assign(as_carol, article, ["python"], reason="It is about Python.").status_code == 200

    (entry,) = site_store.moderation_log.get_page(1).entries
    assert (entry.actor_name, entry.article_id, entry.reason) == ("carol", article, "It is about Python.")


def test_a_removed_article_can_be_put_in_groups_before_it_is_restored(as_carol, site_store, removed):
    assert assign(as_carol, removed, ["python"]).json()["groups"] == ["python"]
    assert as_carol.get("articles?group=python").json()["total"] == 0
    assert problems(site_store) == []

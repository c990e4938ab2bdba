"""What moderators do about members and hosts, and the lists of what they removed."""

from urllib.parse import quote

import pytest

from articles.domain.moderation_log import Action
from tests.caller import error_of
from tests.factories import actor
from tests.internals import log


def test_a_client_filters_the_log_and_learns_how_far_it_went(site_store, article, anyone, carol, monkeypatch):
    monkeypatch.setattr(log, "ENTRIES_SEARCHED", 10)
    for n, name in enumerate(("Dave", "Eve") * 20):
        site_store.moderation_log.note(Action.BAN, actor(carol), name, f"Spam {n}")
    site_store.articles.remove(article, actor(carol), "Old news")

    found, path, pages, reached = [], "log?action=ban&actor=CAROL&member=eve", 0, float("inf")
    after = ""
    while after is not None and pages < 20:
        page = anyone.get(path + after).json()
        found, pages = found + [entry["title"] for entry in page["entries"]], pages + 1
        assert 0 < page["searched_to"] <= reached
        reached, after = page["searched_to"], page["next_after"] and f"&after={quote(page['next_after'])}"
    assert (found, pages > 3) == (["Eve"] * 20, True)
    assert [one["reason"] for one in anyone.get("log?member=alice").json()["entries"]] == ["Old news"]
    assert anyone.get("log").json()["searched_to"] is None


@pytest.mark.parametrize("query", ["action=sing", f"member={'x' * 61}", "action=ban&page=2"])
def test_a_filter_of_the_log_that_makes_no_sense_is_refused(anyone, query):
    assert error_of(anyone.get(f"log?{query}"))[0] in (400, 422)

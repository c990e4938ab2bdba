"""What moderators do about members and hosts, and the lists of what they removed."""

from urllib.parse import quote

import pytest

from accounts.models import MemberNote
from articles import site
from articles.domain.articles import Choice
from articles.domain.moderation_log import Action
from articles.models import BlockedHost
from tests.caller import error_of
from tests.factories import actor, comment_on, member
from tests.internals import log

NOTE = {"text": "Was *warned* once"}
SWEEP = {"days": 1, "reason": "Nothing but spam"}
OUT = {"left_out": True, "reason": "A voting ring"}
HOST = {"host": "https://Spam.example/page", "blocked": True, "reason": "It sells pills"}


@pytest.fixture
def comment(site_store, article, alice) -> int:
    return comment_on(site_store, article, "Buy *pills*", alice.pk)


def actions(site_store) -> list[tuple[str, str]]:
    return [(one.action.value, one.reason) for one in site_store.moderation_log.get_page().entries]


def test_a_sweep_removes_everything_and_is_restored(as_carol, site_store, article, comment):
    begun = as_carol.post("users/alice/sweeps", SWEEP).json()
    again = as_carol.post("users/alice/sweeps", SWEEP).json()

    assert again == begun
    assert (begun["by"], begun["removed"], begun["complete"], begun["restored_at"]) == ("carol", 2, True, None)
    assert as_carol.get("users/alice/sweeps").json() == {"sweeps": [begun]}
    assert site_store.articles.get(article).removed == "Nothing but spam"
    path = f"users/alice/sweeps/{begun['id']}"
    assert error_of(as_carol.put(path, {"restored": True})) == (400, "reason-empty")
    for _ in range(2):
        restored = as_carol.put(path, {"restored": True, "reason": "A mistake"}).json()
        assert restored["restored_at"] >= begun["time"]
    assert site_store.articles.get(article).removed is None
    assert site_store.comments.get(comment).removed is None
    assert as_carol.put(path, {"restored": False}).json() == restored  # there is nothing to continue
    assert site_store.articles.get(article).removed is None


def test_a_long_sweep_is_continued(as_carol, site_store, article, comment, hurry):
    hurry(True)
    begun = as_carol.post("users/alice/sweeps", SWEEP).json()
    assert (begun["removed"], begun["complete"]) == (1, False)

    hurry(False)
    continued = as_carol.put(f"users/alice/sweeps/{begun['id']}", {"restored": False}).json()

    assert (continued["removed"], continued["complete"]) == (2, True)


def test_moderators_read_what_is_removed(as_carol, site_store, article, comment):
    as_carol.put(f"comments/{comment}/removed", {"removed": True, "reason": "Spam"})
    as_carol.put(f"articles/{article}/removed", {"removed": True, "reason": "More spam"})

    articles, comments = as_carol.get("removed/articles").json(), as_carol.get("removed/comments").json()

    (removed,) = articles["articles"]
    assert (removed["article"]["id"], removed["article"]["link"]) == (article, None)
    assert removed["link"] == "https://example.org/article"
    assert (removed["removal"]["actor"], removed["removal"]["reason"]) == ("carol", "More spam")
    assert (articles["page"], articles["has_next"]) == (1, False)
    (removed,) = comments["comments"]
    assert (removed["comment"]["id"], removed["comment"]["text"]) == (comment, None)
    assert (removed["text"], removed["title"]) == ("Buy *pills*", "An article")
    assert removed["removal"]["reason"] == "Spam"
    assert comments["next_before"] is None
    before = as_carol.get(f"removed/comments?before={removed['removal']['time']:.3f}").json()
    assert before == {"comments": [], "next_before": None, "next_after": None}
    assert error_of(as_carol.get("removed/articles?page=2")) == (404, "page-not-found")
    for wrong in ("nan", "inf", "-1", "1e11"):
        assert error_of(as_carol.get(f"removed/comments?before={wrong}")) == (400, "invalid")


def test_votes_are_left_out_and_counted_again(as_carol, as_alice, site_store, article, alice, bob):
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    score = site_store.articles.get(article).score

    for _ in range(2):
        assert as_carol.put("users/BOB/left-out", OUT).json() == {
            "name": "bob",
            "left_out": True,
            "complete": True,
        }
    assert site_store.articles.get(article).score < score
    again = {"left_out": False, "reason": "It was a mistake"}
    for _ in range(2):
        as_carol.put("users/bob/left-out", again)
    assert as_carol.get("users/bob/left-out").json() == {"name": "bob", "left_out": False, "complete": True}
    assert site_store.articles.get(article).score == score
    assert [reason for _action, reason in actions(site_store)[:2]] == ["It was a mistake", "A voting ring"]


def test_notes_are_written_and_deleted(as_carol, site_store, alice):
    written = as_carol.post("users/alice/notes", NOTE).json()
    again = as_carol.post("users/alice/notes", NOTE).json()

    assert again == written
    assert (written["by"], written["text"]) == ("carol", "Was *warned* once")
    assert as_carol.get("users/alice/notes").json() == {"notes": [written]}
    for _ in range(2):
        assert as_carol.send("DELETE", f"users/alice/notes/{written['id']}").json() == {"id": written["id"]}
    assert not MemberNote.objects.exists()
    assert actions(site_store) == [("delete-note", "")]
    assert error_of(as_carol.post("users/alice/notes", {"text": " "})) == (400, "note-empty")
    assert error_of(as_carol.get("users/carol/notes")) == (403, "forbidden")
    assert error_of(as_carol.post("users/carol/notes", NOTE)) == (403, "forbidden")


def test_hosts_are_blocked_and_unblocked(as_carol, as_alice, site_store):
    blocked = {"hosts": [{"host": "spam.example", "reason": "It sells pills"}]}
    for _ in range(2):
        assert as_carol.put("blocked-hosts", HOST).json() == blocked
    assert as_carol.get("blocked-hosts").json() == blocked
    site.forget_hosts()  # as other processes do in seconds
    post = {"title": "Pills", "link": "https://www.spam.example/"}
    assert error_of(as_alice.post("articles", post))[0] == 400
    for _ in range(2):
        assert as_carol.put("blocked-hosts", HOST | {"blocked": False, "reason": "Sold"}).json() == {"hosts": []}
    assert not BlockedHost.objects.exists()
    assert actions(site_store) == [("unblock-host", "Sold"), ("block-host", "It sells pills")]
    assert error_of(as_carol.put("blocked-hosts", HOST | {"host": "no host"}))[0] == 400
    assert error_of(as_carol.put("blocked-hosts", HOST | {"reason": ""})) == (400, "reason-empty")


READS = [
    *("users/bob/sweeps", "users/bob/left-out", "users/bob/notes"),
    *("removed/articles", "removed/comments", "blocked-hosts"),
]
WRITES = [
    ("POST", "users/bob/sweeps", SWEEP),
    ("PUT", "users/bob/sweeps/1", {"restored": False}),
    ("PUT", "users/bob/left-out", OUT),
    ("POST", "users/bob/notes", NOTE),
    ("DELETE", "users/bob/notes/1", None),
    ("PUT", "blocked-hosts", HOST),
]


def test_only_moderators_read_and_do_any_of_it(as_alice, as_carol, anyone, bob):
    for method, path, body in [*[("GET", path, None) for path in READS], *WRITES]:
        assert error_of(as_alice.send(method, path, body)) == (403, "forbidden")
        assert error_of(anyone.send(method, path, body)) == (401, "login-required")
        if "bob" in path:
            unknown = path.replace("bob", "nobody")
            assert error_of(as_carol.send(method, unknown, body)) == (404, "not-found")
    assert error_of(as_carol.put("users/bob/sweeps/1", {"restored": False})) == (404, "not-found")
    member("dora", moderator=True)
    assert error_of(as_carol.put("users/dora/left-out", OUT)) == (403, "forbidden")


def test_a_client_filters_the_log_and_learns_how_far_it_was_searched(
    site_store, article, anyone, carol, monkeypatch
):
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

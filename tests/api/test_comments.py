"""Comments in the API."""

import pytest

from tests.caller import error_of


@pytest.fixture
def comment(site_store, article, alice) -> int:
    return site_store.comments.post(article, alice.pk, "alice", "First *words*")


def test_a_program_posts_reads_edits_and_deletes_a_comment(as_bob, anyone, article, comment):
    answer = as_bob.post(f"articles/{article}/comments", {"text": "A **reply**", "parent": comment})

    body = answer.json()
    assert answer.status_code == 201
    assert answer["Location"] == f"/api/comments/{body['id']}"
    expected = {
        "parent": comment,
        "author": "bob",
        "text": "A **reply**",
        "html": "<p>A <strong>reply</strong></p>\n",
    }
    assert body.items() >= expected.items()
    thread = anyone.get(f"articles/{article}/comments").json()
    assert [(each["id"], each["depth"]) for each in thread["comments"]] == [(comment, 0), (body["id"], 1)]
    counts = {"votes": 0, "opposes": 0, "points": 0, "choice": "none", "removed": None}
    for each in (body, *thread["comments"]):
        assert each.keys() >= {"id", "parent", "text", "html", "author", "time", "depth"}
        assert each.items() >= counts.items()
    assert (thread["total"], thread["order"], thread["next_start"], thread["locked"]) == (2, "best", None, None)
    assert anyone.get(f"articles/{article}").json()["comments"] == 2
    assert as_bob.patch(f"comments/{body['id']}", {"text": "Other"}).json()["text"] == "Other"
    assert as_bob.send("DELETE", f"comments/{body['id']}").json() == {"id": body["id"]}
    assert error_of(anyone.get(f"comments/{body['id']}")) == (404, "comment-not-found")


def test_a_thread_is_read_in_parts_and_below_each_comment(site_store, anyone, article, comment, bob):
    replies = [site_store.comments.post(article, bob.pk, "bob", f"Reply {n}", parent=comment) for n in range(3)]
    second = site_store.comments.post(article, bob.pk, "bob", "Second")

    part = anyone.get(f"articles/{article}/comments?order=oldest&size=2").json()
    assert [(each["id"], each["cut"]) for each in part["comments"]] == [(comment, 2), (replies[0], 0)]
    rest = anyone.get(f"articles/{article}/comments?order=oldest&start={part['next_start']}").json()
    assert [each["id"] for each in rest["comments"]] == [second]
    branch = anyone.get(f"comments/{comment}/replies?order=newest").json()
    assert [each["id"] for each in branch["comments"]] == [comment, *replies[::-1]]
    for query in ("order=top", "start=-1", "start=x", "size=0", "size=201", "page=1"):
        assert anyone.get(f"articles/{article}/comments?{query}").status_code == 400


def test_votes_set_a_state_but_authors_cannot_vote(as_alice, as_bob, comment):
    for choice, counts in (("vote", (1, 0)), ("vote", (1, 0)), ("oppose", (0, 1)), ("none", (0, 0))):
        body = as_bob.put(f"comments/{comment}/vote", {"choice": choice}).json()
        assert (body["id"], body["votes"], body["opposes"], body["choice"]) == (comment, *counts, choice)
    assert error_of(as_alice.put(f"comments/{comment}/vote", {"choice": "vote"})) == (403, "own-comment")


def test_a_removed_comment_and_a_locked_discussion(as_alice, as_bob, as_carol, anyone, article, comment):
    removal = {"removed": True, "reason": "It is spam."}
    assert error_of(as_bob.put(f"comments/{comment}/removed", removal)) == (403, "forbidden")
    for _ in range(2):
        body = as_carol.put(f"comments/{comment}/removed", removal).json()
        assert (body["removed"], body["text"], body["html"]) == ("It is spam.", None, None)
    found = error_of(as_bob.post(f"articles/{article}/comments", {"text": "A", "parent": comment}))
    assert found == (404, "comment-removed")
    assert as_carol.put(f"comments/{comment}/removed", removal | {"removed": False}).json()["removed"] is None
    lock = {"locked": True, "reason": "Enough."}
    assert error_of(as_bob.put(f"articles/{article}/locked", lock)) == (403, "forbidden")
    for _ in range(2):
        answer = as_carol.put(f"articles/{article}/locked", lock)
        assert answer.json() == {"article_id": article, "locked": "Enough."}
    assert anyone.get(f"articles/{article}").json()["locked"] == "Enough."
    assert error_of(as_bob.post(f"articles/{article}/comments", {"text": "A"})) == (409, "discussion-locked")
    assert error_of(as_alice.patch(f"comments/{comment}", {"text": "A"})) == (409, "discussion-locked")
    assert as_carol.put(f"articles/{article}/locked", lock | {"locked": False}).json()["locked"] is None
    actions = [entry["action"] for entry in anyone.get(f"articles/{article}/log").json()["entries"]]
    assert actions == ["unlock", "lock", "restore-comment", "remove-comment"]

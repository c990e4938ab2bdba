"""Programs merge articles of one story, and undo it; and what they can do with an article that was merged."""

import pytest

from accounts.models import User
from articles.api.protocol.operations import router
from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from tests import extras
from tests.caller import error_of, with_token
from tests.cast import ALICE, BOB
from tests.factories import actor, browser_of, comment_on, post
from tests.routes import routes_of_pages
from tests.store_state import written


@pytest.fixture
def story(site_store, article):
    """Another article of the same story, by bob, with a comment."""
    number = post(site_store, 2, poster=BOB)
    comment_on(site_store, number, "Here")
    return number


def test_programs_merge_and_undo(site_store, article, story, as_carol):
    path = f"articles/{story}/merged"
    site_store.votes.cast(story, 77, Choice.OPPOSE)
    for _ in range(2):
        answer = as_carol.put(path, {"into": article, "reason": "The same story"}).json()
        found = (answer["merged_into"], answer["removed"], answer["link"])
        assert found == (article, "The same story", "https://example.org/2")
    assert as_carol.get(f"articles/{article}").json()["merged"] == [story]
    assert as_carol.get(f"articles/{article}").json()["opposes"] == 1
    assert as_carol.get(f"articles/{story}/comments").json()["comments"]
    refused = as_carol.put(f"articles/{story}/removed", {"removed": True, "reason": "Spam"})
    assert error_of(refused) == (409, "article-merged")
    assert as_carol.put(f"articles/{article}/merged", {"into": article, "reason": "Itself"}).status_code == 409

    for _ in range(2):
        assert as_carol.put(path, {"into": None, "reason": ""}).json()["merged_into"] is None
    assert as_carol.put(path, {"into": article, "reason": ""}).status_code == 400, "without a reason"
    assert as_carol.put(path, {"into": 999, "reason": "Nothing"}).status_code == 404


WHY, ID = {"reason": "Because"}, "articles/{article_id:article_id}"
CHANGES = {
    f"PATCH {ID}": {"title": "Another", **WHY},
    f"PUT {ID}/vote": {"choice": "vote"},
    f"PUT {ID}/saved": {"saved": True},
    f"PUT {ID}/muted": {"muted": True},
    f"POST {ID}/comments": {"text": "A comment"},
    f"PUT {ID}/flag": {"reason": "spam"},
    f"DELETE {ID}/flag": None,
    f"PUT {ID}/groups": {"groups": ["python"], **WHY},
    f"PUT {ID}/locked": {"locked": True, **WHY},
    f"PUT {ID}/removed": {"removed": True, **WHY},
    f"PUT {ID}/kept": {},
    f"DELETE {ID}": None,
    **extras.joined("API_CHANGES"),
}
"""Every operation that changes an article, with a body; by a moderator, but for the poster's last one."""

FURTHER = [
    ("PUT me/hidden", {"kind": "article", "value": "{id}", "hidden": True}),
    ("POST views", {"articleId": 0}),
    (f"PATCH {ID}", {"text": "Another"}),
    (f"PUT {ID}/locked", {"locked": False, **WHY}),
    (f"PUT {ID}/removed", {"removed": False, **WHY}),
]
"""Others, and others of their bodies."""

PAGES = {
    "vote": {"choice": "vote"},
    "save": {"saved": "save"},
    "mute": {"muted": "mute"},
    "comments": {"text": "A comment"},
    "flag": {"reason": "spam"},
    "edit": {"title": "Another", "link": "https://example.org/b", **WHY},
    "groups": {"groups": ["python"], **WHY},
    "remove": WHY,
    "restore": WHY,
    "lock": WHY,
    "unlock": WHY,
    "ring": {"seen": "9999999999.000"},
    "withdraw": {},
    **extras.joined("ARTICLE_FORMS"),
}
OTHERS = {"", "hide", "why", "views", "redact", "merge", "merge/undo"}
"""Pages of an article that are only read, or act on one that is merged."""


@pytest.fixture
def merged(site_store, article, story, carol):
    """The other article, which was merged into the first."""
    site_store.groups.ensure({"python": "Python"})
    site_store.groups.assign(story, ["python"])
    list(site_store.merges.merge(story, article, actor(carol), "The same story"))
    return story


def test_every_operation_that_changes_an_article_refuses_a_merged_one(site_store, merged, carol, bob):
    operations = {
        f"{operation.methods[0]} {path}"
        for path, view in router.path_operations.items()
        for operation in view.operations
        if "{article_id" in path and operation.methods[0] != "GET"
    }
    assert operations - CHANGES.keys() == {f"PUT {ID}/merged"}
    before, by = written(site_store), {False: with_token(carol), True: with_token(bob)}

    for operation, body in (*CHANGES.items(), *FURTHER):
        method, path = operation.split(" ")
        path = path.replace(":article_id}", "}").format(article_id=merged, **extras.joined("API_PARAMETERS"))
        sent = body and {name: str(merged) if value == "{id}" else value for name, value in body.items()}
        sent = {"articleId": merged} if path == "views" else sent
        answer = by[operation == f"DELETE {ID}"].send(method, path, sent)
        assert error_of(answer) == (409, "article-merged"), operation
    assert written(site_store) == before
    for path, body in (("saved", {"saved": False}), ("muted", {"muted": False})):
        assert by[False].put(f"articles/{merged}/{path}", body).status_code == 200, "taken back"
    shown = {"kind": "article", "value": str(merged), "hidden": False}
    assert by[False].put("me/hidden", shown).json()["articles"] == []


def test_what_is_read_of_a_merged_article_is_answered_as_documented(site_store, merged, carol):
    for path, view in router.path_operations.items():
        for operation in view.operations:
            if "{article_id" in path and operation.methods[0] == "GET":
                answer = with_token(carol).get(path.replace("{article_id:article_id}", str(merged)))
                assert answer.status_code in operation.response_models, path


def test_every_form_of_a_merged_article_leads_to_the_one_that_stays(site_store, article, merged, carol, bob):
    place = "/articles/<article_id:article_id>/"
    found = {
        one.pattern.removeprefix(place).strip("/") for one in routes_of_pages() if one.pattern.startswith(place)
    }
    assert {one for one in found - OTHERS if "ballots" not in one} == PAGES.keys()
    before = written(site_store)

    for name, fields in PAGES.items():
        browser = browser_of(bob if name == "withdraw" else carol)
        answer = browser.post(f"/articles/{merged}/{name}/", fields, follow=True)
        assert answer.redirect_chain[-1][0].startswith(f"/articles/{article}/#merged-"), name
        assert "This article was merged into another one." in answer.text, name
    page = browser_of(carol).post("/preferences/", {"hide": str(merged), "kind": "article"}, follow=True)
    assert "This article was merged into another one." in page.text
    assert written(site_store) == before
    assert User.objects.get(username="carol").hidden == ""


def test_flags_of_a_merged_article_wait_until_it_is_on_its_own_again(site_store, article, story, as_carol, carol):
    site_store.flags.set(root_of(story), ALICE, FlagReason.SPAM)
    comment = comment_on(site_store, story, "Rude")
    site_store.flags.set(comment, ALICE, FlagReason.SPAM)

    def waiting():
        return {row["comment"] and row["comment"]["id"] for row in as_carol.get("queue").json()["entries"]}

    assert waiting() == {None, comment}
    list(site_store.merges.merge(story, article, actor(carol), "The same story"))
    assert waiting() == {comment}
    assert list(site_store.audit.run()) == []
    list(site_store.merges.undo(story, actor(carol), ""))
    assert waiting() == {None, comment}

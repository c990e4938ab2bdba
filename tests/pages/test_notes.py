"""Notes on members: moderators write and delete them, and no one else sees them on the site."""

import json

from accounts import account_deletion
from accounts.models import MemberNote
from tests.factories import browser_of

PAGE, WRITE = "/users/bob/moderation/", "/users/bob/moderation/notes/"


def deletions(site_store):
    """Return who deleted notes, by the moderation log."""
    entries = site_store.moderation_log.get_page().entries
    return [entry.actor_name for entry in entries if entry.action.value == "delete-note"]


def test_moderators_write_and_delete_notes(site_store, bob, carol):
    browser = browser_of(carol)
    for _ in range(2):  # pressed twice
        assert browser.post(WRITE, {"text": "Asked for <b>patience</b>\nin March"}).headers["Location"] == PAGE

    assert "Asked for &lt;b&gt;patience&lt;/b&gt;" in browser.get(PAGE).text
    (note,) = MemberNote.objects.all()
    assert (note.member, note.author) == (bob, carol)
    for text in ("", " ", "x" * 2001):
        browser.post(WRITE, {"text": text})
    assert MemberNote.objects.count() == 1
    for _ in range(2):
        assert browser.post(f"{WRITE}{note.pk}/delete/", {"confirmed": "1"}).headers["Location"] == PAGE
    assert MemberNote.objects.count() == 0
    assert deletions(site_store) == ["carol"]
    log = browser_of(bob).get("/moderation/").text
    assert "deleted a note on a member" in log
    assert "/users/bob/" not in log.partition("<main")[2]  # only moderators know on whom there are notes


def test_only_moderators_see_and_change_notes_except_on_themselves(site_store, bob, carol, mallory):
    note = MemberNote.objects.create(member=bob, author=carol, text="A secret")
    own = MemberNote.objects.create(member=carol, text="Too strict")
    delete = f"{WRITE}{note.pk}/delete/"

    for user in (bob, mallory):
        browser = browser_of(user)
        assert [browser.get(PAGE).status_code, browser.post(WRITE, {"text": "No"}).status_code] == [403, 403]
        assert browser.post(delete).status_code == 403
        assert "A secret" not in browser.get("/users/bob/").text
    assert browser_of(carol, strict=True).post(delete).status_code == 403
    assert "Too strict" not in browser_of(carol).get("/users/carol/moderation/").text
    assert browser_of(carol).post(f"/users/carol/moderation/notes/{own.pk}/delete/").status_code == 403
    assert browser_of(carol).post(f"{WRITE}{own.pk}/delete/").status_code == 302
    assert MemberNote.objects.count() == 2


def test_the_export_has_the_texts_without_the_author_and_the_deletion_removes_them(site_store, bob, carol):
    MemberNote.objects.create(member=bob, author=carol, text="A secret")
    MemberNote.objects.create(member=carol, author=bob, text="Of another")

    exported = json.loads(b"".join(browser_of(bob).get("/settings/data/").streaming_content))[
        "notes_by_moderators"
    ]
    account_deletion.begin(bob.pk)

    assert [(one["text"], *sorted(one)) for one in exported] == [("A secret", "text", "written")]
    assert [(note.text, note.author_name) for note in MemberNote.objects.all()] == [("Of another", "")]

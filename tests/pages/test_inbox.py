"""The inbox of a member: its page, the number in the header, and what members' forms put into it."""

import re
from contextlib import nullcontext

import pytest

from accounts import account_deletion
from articles.repository.finding import Follower
from articles.web import wiring
from tests.cast import MODERATOR
from tests.factories import browser_of, comment_on
from tests.store_state import counted_pipelines

FIELDS = ("until", "csrfmiddlewaretoken")  # of the form that marks all as read


def shown(text: str) -> str:
    """Return the words of a page's main part."""
    return " ".join(re.sub("<[^>]+>", " ", text.split("<main")[1].split("</main", maxsplit=1)[0]).split())


def number_in_header(text: str) -> str:
    found = re.search(r'<span class="badge">([0-9+]+)', text)
    return found[1] if found else ""


def test_the_inbox_shows_replies_mentions_and_moderator_actions(site_store, article, alice, bob, carol):
    browser_of(bob).post(f"/articles/{article}/comments/", {"text": "I *agree* with @carol."})
    (comment,) = site_store.comments.list_by(bob.pk)
    browser_of(alice).post(f"/articles/{article}/comments/", {"text": "Thanks", "parent": comment.id})
    site_store.articles.edit(
        article, MODERATOR, "Better", "https://example.org/b", moderator=True, reason="A typo"
    )

    alices, bobs, carols = (shown(browser_of(one).get("/inbox/").text) for one in (alice, bob, carol))
    assert "bob commented on your article Better" in alices
    assert "I agree with @carol." in alices
    assert "carol edited Better" in alices
    assert "Reason: A typo" in alices
    assert "alice replied to your comment on Better" in bobs
    assert "bob mentioned you in a comment on Better" in carols


def test_members_are_mentioned_by_forms_and_edits_whatever_the_spelling(site_store, alice, bob, carol):
    text = "Hello @BOB, not `@carol`, not bob@carol.example, not @nobody.\n\n> @carol said"
    browser_of(alice).post("/post/", {"title": "Hello", "link": "", "text": text, "groups": []})

    assert "alice mentioned you in Hello" in shown(browser_of(bob).get("/inbox/").text)
    assert "Nothing here yet" in shown(browser_of(carol).get("/inbox/").text)
    (posted,) = site_store.members.get_posted(alice.pk).articles
    browser_of(alice).post(f"/articles/{posted.id}/edit/", {"title": "Hello", "link": "", "text": "@bob @carol"})
    assert "alice mentioned you in Hello" in shown(browser_of(carol).get("/inbox/").text)
    assert shown(browser_of(bob).get("/inbox/").text).count("mentioned you") == 1


def test_members_are_mentioned_in_every_language_and_other_names_stay_text(site_store, article, alice, bob, carol):
    text = "你好@bob，谢谢。_@carol_ @property @types/node @bob/node"
    browser = browser_of(alice)
    browser.post(f"/articles/{article}/comments/", {"text": text})

    (comment,) = browser.get(f"/api/articles/{article}/comments").json()["comments"]
    assert re.findall('href="([^"]*)"', comment["html"]) == ["/users/bob/", "/users/carol/"]
    for member in (bob, carol):
        assert "alice mentioned you" in shown(browser_of(member).get("/inbox/").text)


def by_page(author, path: str, text: str) -> int:
    fields = {"title": "Hello", "link": "https://example.org/a", "text": text}
    return browser_of(author).post(f"/{path}/{'edit' if text else 'delete'}/", fields).status_code


def by_api(author, path: str, text: str) -> int:
    browser = browser_of(author)
    if not text:
        return browser.delete(f"/api/{path}").status_code
    return browser.patch(f"/api/{path}", {"text": text}, content_type="application/json").status_code


@pytest.mark.needs("one server")
@pytest.mark.parametrize("send", [by_page, by_api])
def test_a_mention_by_mistake_is_no_notice_unless_it_was_read(site_store, article, later, alice, bob, carol, send):
    comment = comment_on(site_store, article, "Hello", alice.pk)
    comments, own = f"comments/{comment}", f"articles/{article}"
    for path in (comments, own):
        assert send(alice, path, "Hello @bob and @CAROL") < 400
    assert "mentioned you" in shown(browser_of(carol).get("/inbox/").text)
    later.advance(1)
    browser_of(carol).post("/inbox/read/", {"until": later()})
    for path in (comments, own):
        assert send(alice, path, "Hello @Carol") < 400

    assert "Nothing here yet" in shown(browser_of(bob).get("/inbox/").text)
    assert shown(browser_of(carol).get("/inbox/").text).count("mentioned you") == 2
    assert send(alice, comments, "@bob") < 400
    assert send(alice, comments, "") < 400
    assert "Nothing here yet" in shown(browser_of(bob).get("/inbox/").text)


@pytest.mark.needs("one server")
def test_new_notices_stay_new_until_all_are_marked_as_read(site_store, article, later, alice, bob):
    comment_on(site_store, article, "First", bob.pk)
    browser = browser_of(alice, strict=True)
    page = browser.get("/inbox/").text
    assert browser.get("/inbox/").text.count(">New<") == 1
    form = {name: re.search(rf'name="{name}" value="([^"]+)"', page)[1] for name in FIELDS}
    later.advance(1)
    comment_on(site_store, article, "After the page was shown", bob.pk)

    answer = browser.post("/inbox/read/", form)

    assert (answer.status_code, answer["Location"]) == (302, "/inbox/")
    text = browser.get("/inbox/").text
    new, earlier = text.split(">Earlier<")
    assert "After the page was shown" in new
    assert "First" in earlier
    assert number_in_header(text) == "1"


@pytest.mark.needs("one server")
def test_marking_as_read_rejects_future_and_invalid_times(site_store, article, later, alice, bob):
    browser = browser_of(alice)
    assert browser.post("/inbox/read/", {"until": str(later() + 1000)}).status_code == 302
    later.advance(1)
    comment_on(site_store, article, "Later", bob.pk)

    assert number_in_header(browser.get("/inbox/").text) == "1"
    for until in ("", "x", "nan", "-1"):
        assert browser.post("/inbox/read/", {"until": until}).status_code == 400
    assert browser.post("/inbox/read/", {"until": "5"}).status_code == 302
    assert number_in_header(browser.get("/inbox/").text) == "1"


@pytest.mark.needs("one server")
def test_pages_of_the_store_show_the_number_without_a_round_trip(site_store, article, alice, bob, monkeypatch):
    browser = browser_of(alice)
    addresses = ("/", "/newest/", "/hot/", "/groups/python/", f"/articles/{article}/", "/search/?q=title")
    wiring.finder()
    monkeypatch.setattr(Follower, "catch_up", lambda _: None)  # in this process, it would count

    def opened() -> list[tuple[str, int]]:
        """Return the number that each page shows, and how many round trips it takes."""
        found = []
        for address in addresses:
            with counted_pipelines(site_store) as trips:
                found.append((number_in_header(browser.get(address).text), len(trips)))
        return found

    opened()
    before = opened()
    comment_on(site_store, article, "Hello", bob.pk)

    assert before == [("", count) for _, count in before]
    assert opened() == [("1", count) for _, count in before]
    with monkeypatch.context() as without:
        without.setattr(type(site_store.inbox), "counting", lambda *_: nullcontext())
        assert opened() == before
    assert number_in_header(browser_of().get("/").text) == ""


def test_a_large_number_is_shown_as_99_plus(site_store, article, alice, bob):
    for number in range(100):
        comment_on(site_store, article, f"Comment {number}", bob.pk)

    assert number_in_header(browser_of(alice).get("/").text) == "99+"


def test_what_is_gone_is_shown_as_such_without_its_text(site_store, article, alice, bob):
    texts = ("secret one", "secret two", "secret three")
    deleted, removed, _ = (comment_on(site_store, article, text, bob.pk) for text in texts)
    site_store.comments.delete(deleted, bob.pk)
    site_store.comments.remove(removed, MODERATOR, "Spam")

    text = shown(browser_of(alice).get("/inbox/").text)
    assert ("secret one" in text, "secret two" in text, "secret three" in text) == (False, False, True)
    assert "This comment was deleted by its author." in text
    assert "This comment was removed by a moderator. Reason: Spam" in text
    site_store.articles.remove(article, MODERATOR, "Off topic")
    text = shown(browser_of(alice).get("/inbox/").text)
    assert "secret" not in text
    assert "The article was removed by a moderator." in text


def test_the_inbox_is_private_and_in_the_export(site_store, article, alice, bob):
    comment = comment_on(site_store, article, "Hello", bob.pk)

    assert browser_of().get("/inbox/")["Location"] == "/login/?next=/inbox/"
    answer = browser_of(alice).get("/inbox/")
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex"
    file = b"".join(browser_of(alice).get("/settings/data/").streaming_content).decode()
    assert '"about": "reply"' in file
    assert f'"comment": {comment}' in file


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_notice_outlives_the_deleted_comment(site_store, article, alice, bob, carol, mallory, is_answered):
    comment = comment_on(site_store, article, "A comment with @carol", bob.pk, mentioned=[carol.pk])
    reply = comment_on(site_store, article, "A reply", mallory.pk, comment)
    again = comment_on(site_store, article, "Another", mallory.pk, reply) if is_answered else 0
    notices = {
        alice: "bob commented on your article A title",
        bob: "mallory replied to your comment on A title",
        carol: "bob mentioned you in a comment on A title",
    }
    for member, notice in notices.items():
        assert notice in shown(browser_of(member).get("/inbox/").text)

    for one, author in ((reply, mallory), (comment, bob)):
        site_store.comments.delete(one, author.pk)

    for member, notice in notices.items():
        inbox = shown(browser_of(member).get("/inbox/").text)
        assert notice in inbox
        assert "This comment was deleted by its author." in inbox
        assert "[deleted]" not in inbox
    if is_answered:
        site_store.comments.delete(again, mallory.pk)
        assert "mallory replied to your comment" in shown(browser_of(bob).get("/inbox/").text)


def test_the_name_goes_from_notices_of_deleted_comments_with_the_account(site_store, article, alice, bob):
    comment = comment_on(site_store, article, "A comment", bob.pk)
    site_store.comments.delete(comment, bob.pk)

    account_deletion.begin(bob.pk)

    inbox = shown(browser_of(alice).get("/inbox/").text)
    assert "[deleted] commented on your article A title" in inbox
    assert "bob" not in inbox


def test_those_who_delete_a_comment_read_who_still_sees_their_name(site_store, article, bob):
    comment = comment_on(site_store, article, "A comment", bob.pk)

    page = shown(browser_of(bob).get(f"/comments/{comment}/delete/").text)

    assert "Members who were notified of it still see that you wrote it." in page

"""Discussions on articles' pages: reading, writing, editing, deleting, voting and moderating."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from django.test import Client

from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.views.comments import rows
from articles.views.comments.rows import Viewer, draw_thread
from tests.cast import password_of
from tests.factories import actor, browser_of, comment_on, post_as
from tests.html import tree_of, whole_text_of
from tests.store_state import set_clock


@pytest.fixture
def comment(site_store, article, alice) -> int:
    return site_store.comments.post(article, alice.pk, "alice", "First *words*")


def items(page: str) -> dict[int, str]:
    """Return the text of each comment without that of its replies, by id, in the order of the page."""
    found = {}
    for item in tree_of(page).query("li.comment"):
        for below in item.query("ol.thread"):
            below.parent.remove_child(below)
        found[int(item.attrs["id"].removeprefix("comment-"))] = " ".join(whole_text_of(item).split())
    return found


def order_of(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<li class="comment[^"]*" id="comment-(\d+)"', page)]


def texts(site_store, article):
    thread = site_store.comments.get_thread(article, CommentOrder.OLDEST)
    return [(each.author_name, each.text, each.parent) for each in thread.comments]


def write(browser, article, text, **fields):
    return browser.post(f"/articles/{article}/comments/", {"text": text} | fields)


def hidden_fields(page):
    main = page.text[page.text.index("<main") : page.text.index("</main>")]
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', main)
    return {key: unescape(value) for key, value in hidden}


def log_in(browser, page, name):
    fields = hidden_fields(page)
    return browser.post("/login/", fields | {"username": name, "password": password_of(name)})["Location"]


def test_comments_since_the_last_visit_are_marked_for_members(site_store, article, alice, bob):
    now, browser = site_store.store.now(), browser_of(bob)

    def opened(after_hours, to=browser):
        set_clock(site_store, now + after_hours * 3600)
        page = to.get(f"/articles/{article}/").content.decode()
        return [number for number, text in items(page).items() if " new " in f" {text} "], page

    set_clock(site_store, now - 60)
    old, own = (site_store.comments.post(article, who.pk, who.username, "Old") for who in (alice, bob))
    assert opened(0)[0] == []
    set_clock(site_store, now + 1800)
    first, second, gone = (site_store.comments.post(article, alice.pk, "alice", f"News {n}") for n in range(3))
    site_store.comments.post(article, bob.pk, "bob", "My own")
    site_store.comments.delete(gone, alice.pk)

    new, page = opened(1)

    assert new == [first, second]
    assert f'<a href="#comment-{first}">2 new comments since your last visit</a>' in page
    assert re.findall(r'class="next-new" href="([^"]*)"', page) == [f"#comment-{second}"]
    assert opened(1.25)[0] == new, "the same visit"
    assert opened(9)[0] == []
    assert opened(9, Client())[0] == []
    assert old < own


def test_a_comment_is_posted_and_shown_to_its_author_at_once_and_to_readers(site_store, article, bob):
    browser = browser_of(bob)

    answer = write(browser, article, "I **agree**.\r\n\r\n    code")

    number = root_of(article) + 1
    assert answer["Location"] == f"/articles/{article}/?comment={number}#comment-{number}"
    assert texts(site_store, article) == [("bob", "I **agree**.\n\n    code", None)]
    own, shown = (client.get(answer["Location"]).text for client in (browser, Client()))
    for page in (own, shown):
        assert "<p>I <strong>agree</strong>.</p>\n<pre" in page
        assert "1 comment</h2>" in page
        assert f'href="/comments/{number}/"' in page
    assert f"/comments/{number}/edit/" in own
    assert f'formaction="/comments/{number}/vote/"' not in own
    assert f"/comments/{number}/edit/" not in shown
    assert f'formaction="/comments/{number}/vote/"' in shown
    assert ">1 comment</a>" in Client().get("/newest/").text


def test_a_comment_sent_twice_is_posted_once(site_store, article, bob):
    first, second = (write(browser_of(bob), article, "Twice")["Location"] for _ in range(2))

    assert first == second
    assert len(texts(site_store, article)) == 1


def test_replies_are_drawn_below_what_they_reply_to_with_a_link_to_it(site_store, article, comment, bob):
    write(browser_of(bob), article, "A reply", parent=comment)
    reply = comment + 1

    page = Client().get(f"/articles/{article}/").text

    (inner,) = tree_of(page).query(f"#comment-{comment} ol > li")
    assert inner.attrs["id"] == f"comment-{reply}"
    assert inner.query(f"a[href='#comment-{comment}']")
    assert "A reply" not in items(page)[comment]
    branch = Client().get(f"/comments/{reply}/").text
    assert order_of(branch) == [reply]
    assert branch.count(f'href="/comments/{comment}/"') == 2
    assert f'<link rel="canonical" href="http://testserver/articles/{article}/">' in branch


def test_best_comments_come_first_and_say_why(site_store, article, comment, bob, carol, mallory):
    better = site_store.comments.post(article, bob.pk, "bob", "Better")
    for member in (carol, mallory):
        site_store.comments.cast(better, member.pk, Choice.VOTE)
    site_store.comments.cast(comment, bob.pk, Choice.VOTE)
    site_store.comments.cast(comment, carol.pk, Choice.OPPOSE)
    address = f"/articles/{article}/"

    pages = {
        order: Client().get(address, {"comments": order} if order else {}).text
        for order in ("", "newest", "oldest", "x")
    }

    assert [order_of(page) for page in pages.values()] == [
        [better, comment], [better, comment], [comment, better], [better, comment],
    ]  # fmt: skip
    assert (
        "For it: 2 of 2 votes. With 80% confidence, that is a share of at least 0.549." in items(pages[""])[better]
    )
    assert "For it: 1 of 2 votes." in items(pages[""])[comment]
    assert "Why is it here?" not in pages["oldest"]
    assert [page.count("How comments are sorted") for page in pages.values()] == [1, 0, 0, 1]
    assert '<a href="/articles/1/?comments=oldest#comments" aria-current="true"' in pages["oldest"]


def test_a_deep_thread_continues_on_the_page_of_a_comment(site_store, article, comment, bob):
    numbers = [comment]
    for depth in range(1, 12):
        numbers.append(site_store.comments.post(article, bob.pk, "bob", f"Depth {depth}", parent=numbers[-1]))

    page = Client().get(f"/articles/{article}/").text

    assert order_of(page) == numbers[:9]
    assert f'<a href="/comments/{numbers[8]}/" rel="nofollow">Continue this thread</a>' in page
    branch = Client().get(f"/comments/{numbers[8]}/").text
    assert order_of(branch) == numbers[8:]
    assert f'href="/comments/{numbers[0]}/">Start of this thread' in branch


def test_a_comment_that_the_articles_page_does_not_show_leads_to_its_own(site_store, article, comment, alice, bob):
    deepest = comment
    for depth in range(9):
        deepest = site_store.comments.post(article, bob.pk, "bob", f"Depth {depth}", parent=deepest)
    browser, page = browser_of(bob), f"/articles/{article}/"
    assert browser.get(page, {"comment": deepest})["Location"] == f"/comments/{deepest}/"
    for n in range(200):
        site_store.comments.post(article, alice.pk, "alice", f"Number {n}")

    last = write(browser, article, "The last of many")["Location"]

    assert browser.get(last)["Location"] == f"/comments/{deepest + 201}/"
    assert browser.get(page, {"comment": comment}).status_code == 200
    for number in ("x", "１", "9" * 5000, root_of(article), deepest + 900, root_of(article + 1) + 1):
        assert browser.get(page, {"comment": number}).status_code == 200, "no comment of the article"
    assert Client().get(last).status_code == 200


def test_more_comments_shows_each_once_although_votes_change_the_order(site_store, article, alice, bob):
    numbers = [site_store.comments.post(article, alice.pk, "alice", f"Number {n}") for n in range(403)]
    page, shown = Client().get(f"/articles/{article}/").text, []
    for risen in numbers[-1], numbers[-2]:
        shown += order_of(page)
        site_store.comments.cast(risen, bob.pk, Choice.VOTE)
        site_store.comments.post(article, bob.pk, "bob", f"Another after {risen}")
        page = (
            Client().get(unescape(re.search(r'<a href="([^"]+)" rel="nofollow">More comments</a>', page)[1])).text
        )
    shown += order_of(page)

    assert len(shown) == len(set(shown))
    assert set(shown) >= set(numbers)
    assert "More comments" not in page


def test_a_vote_counts_takes_back_and_returns_to_the_comment(site_store, article, comment, bob):
    browser = browser_of(bob)
    for choice, expected in (("vote", (1, 0)), ("vote", (1, 0)), ("oppose", (0, 1)), ("none", (0, 0))):
        answer = browser.post(
            f"/comments/{comment}/vote/", {"choice": choice, "next": f"/articles/{article}/?comments=newest"}
        )
        assert answer["Location"] == f"/articles/{article}/?comments=newest#comment-{comment}"
        shown = site_store.comments.get(comment, bob.pk)
        assert (shown.votes, shown.opposes, shown.choice) == (*expected, choice)

    told = browser.post(f"/comments/{comment}/vote/", {"choice": "vote"}, headers={"Accept": "application/json"})
    assert (told.json()["id"], told.json()["votes"]) == (f"comment-{comment}", 1)
    assert browser.post(f"/comments/{comment}/vote/", {"choice": "up"}).status_code == 400


def test_a_vote_before_the_login_counts_after_it(site_store, article, comment, bob):
    browser = browser_of(strict=True)
    to_login = browser.post(f"/comments/{comment}/vote/", {"choice": "oppose", "next": f"/articles/{article}/"})
    page = browser.get(to_login["Location"])

    assert "Log in, and your vote against it will be counted." in page.text
    assert log_in(browser, page, "bob") == f"/articles/{article}/#comment-{comment}"
    assert site_store.comments.get(comment).opposes == 1


def test_a_comment_typed_without_an_account_comes_back_after_the_login(site_store, article, comment, bob):
    browser, typed = browser_of(strict=True), "Typed " + "long " * 3_990 + "& <b>"
    page = write(browser, article, typed, parent=comment)

    assert log_in(browser, page, "bob") == f"/articles/{article}/comments/"
    shown = browser.get(f"/articles/{article}/comments/")
    assert "It has not been sent yet." in shown.text
    assert f'name="parent" value="{comment}"' in shown.text
    assert "Reply to alice</h1>" in shown.text
    assert unescape(re.search(r"<textarea[^>]*>\s*(.*?)</textarea>", shown.text, re.DOTALL)[1]) == typed
    assert texts(site_store, article) == [("alice", "First *words*", None)]


def test_a_refused_comment_comes_back_with_reason_and_text(site_store, article, comment, settings, bob, carol):
    browser, other = browser_of(bob), browser_of(carol)
    empty = write(browser, article, " \u200b\n")
    assert (empty.status_code, "Write a comment first." in empty.text) == (400, True)
    long = write(browser, article, "x" * 20_001)
    assert (long.status_code, "The limit is 20,000." in long.text) == (400, True)
    unknown = write(browser, article, "A reply", parent=comment + 100)
    assert (unknown.status_code, "There is no such comment." in unknown.text) == (400, True)
    site_store.comments.lock(article, actor(carol), "Enough")
    locked = write(other, article, "Too late")
    assert (locked.status_code, "This discussion is locked" in locked.text) == (400, True)
    assert ">\nToo late</textarea>" in locked.text
    assert len(texts(site_store, article)) == 1
    assert 'class="write"' not in Client().get(f"/articles/{article}/").text


def test_a_script_learns_where_a_processed_form_leads_and_nothing_of_a_refused_one(site_store, article, bob):
    browser, script = browser_of(bob), {"headers": {"Accept": "application/json"}}

    sent = browser.post(f"/articles/{article}/comments/", {"text": "By a script"}, **script)
    refused = browser.post(f"/articles/{article}/comments/", {"text": ""}, **script)
    to_login = Client().post(f"/articles/{article}/comments/", {}, **script)

    (comment,) = site_store.comments.get_thread(article, CommentOrder.OLDEST).comments
    assert sent.json() == {"address": f"/articles/{article}/?comment={comment.id}#comment-{comment.id}"}
    assert (refused.status_code, refused["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert (to_login.status_code, to_login.content) == (302, b"")
    saved = browser.post(f"/comments/{comment.id}/edit/", {"text": "Edited"}, **script)
    assert saved.json() == sent.json()


@pytest.mark.parametrize("parent", ["x", "0" * 13 + "1000001" + "0" * 5000, "9" * 5000])
def test_a_parent_that_is_no_comment_is_ignored_in_an_address(site_store, article, comment, bob, parent):
    assert browser_of(bob).get(f"/articles/{article}/comments/", {"parent": parent}).status_code == 200


def test_authors_edit_and_delete_their_own_comments_and_no_others(site_store, article, comment, alice, bob):
    path, own, other = f"/comments/{comment}/", browser_of(alice), browser_of(bob)
    for action in ("edit", "delete"):
        assert other.get(f"{path}{action}/").status_code == 403
        assert other.post(f"{path}{action}/", {"text": "Mine"}).status_code == 403
    assert "First *words*</textarea>" in own.get(f"{path}edit/").text

    assert own.post(f"{path}edit/", {"text": "Second words"})["Location"].endswith(f"#comment-{comment}")
    page = Client().get(f"/articles/{article}/").text
    assert "<p>Second words</p>" in page
    assert "First" not in page
    assert "<p>Second words</p>" in own.get(f"{path}delete/").text
    for _ in range(2):
        assert own.post(f"{path}delete/")["Location"] == f"/articles/{article}/#comments"
    assert Client().get(path).status_code == 404
    assert texts(site_store, article) == []


def test_a_deleted_comment_leaves_a_stub_above_its_replies(site_store, article, comment, alice, bob):
    reply = site_store.comments.post(article, bob.pk, "bob", "A reply", parent=comment)
    browser_of(alice).post(f"/comments/{comment}/delete/")

    shown = items(Client().get(f"/articles/{article}/").text)

    assert list(shown) == [comment, reply]
    assert "This comment was deleted by its author." in shown[comment]
    assert "alice" not in shown[comment]
    assert "First" not in shown[comment]


def test_moderators_remove_and_restore_comments_and_the_log_says_so(site_store, article, comment, bob, carol):
    path, moderator = f"/comments/{comment}/", browser_of(carol)
    for action in ("remove", "restore"):
        assert browser_of(bob).post(f"{path}{action}/", {"reason": "Because"}).status_code == 403
    assert moderator.post(f"{path}remove/", {"reason": ""}).status_code == 400

    assert moderator.post(f"{path}remove/", {"reason": "Off & topic"})["Location"] == path
    reader, own = Client().get(f"/articles/{article}/").text, moderator.get(f"/articles/{article}/").text
    assert "Reason: Off &amp; topic" in items(reader)[comment] or "Reason: Off & topic" in items(reader)[comment]
    assert "First" not in reader
    assert "First <em>words</em>" in own
    assert "0 comments</h2>" in reader
    assert f'removed a <a href="{path}">comment</a>' in reader
    moderator.post(f"{path}restore/", {"reason": "A mistake"})
    assert "First <em>words</em>" in Client().get(f"/articles/{article}/").text
    log = Client().get("/moderation/").text
    assert f'restored a <a href="{path}">comment</a> on <a href="/articles/{article}/"' in log


def test_moderators_lock_and_unlock_a_discussion(site_store, article, comment, alice, carol):
    moderator = browser_of(carol)
    assert browser_of(alice).post(f"/articles/{article}/lock/", {"reason": "Because"}).status_code == 403

    moderator.post(f"/articles/{article}/lock/", {"reason": "In circles"})
    page = browser_of(alice).get(f"/articles/{article}/").text
    assert "Reason: In circles" in page
    assert 'class="reply"' not in page
    assert f"/comments/{comment}/edit/" not in page
    assert "carol</a> locked the discussion" in page
    assert browser_of(alice).post(f"/comments/{comment}/edit/", {"text": "Changed"}).status_code == 400

    moderator.post(f"/articles/{article}/unlock/", {"reason": "Cooled down"})
    assert 'class="reply"' in Client().get(f"/articles/{article}/").text


def test_a_members_copy_of_their_data_has_every_comment(site_store, article, comment, alice, carol):
    site_store.comments.remove(comment, actor(carol), "Off topic")

    answer = browser_of(alice).get("/settings/data/")

    (row,) = json.loads(b"".join(answer.streaming_content))["comments"]
    facts = {"id": comment, "article": article, "parent": None, "text": "First *words*", "removed": "Off topic"}
    assert row.items() >= facts.items()


def test_a_members_page_lists_the_latest_comments_without_removed_ones(site_store, article, comment, alice, carol):
    gone = site_store.comments.post(article, alice.pk, "alice", "Spam")
    reply = site_store.comments.post(article, alice.pk, "alice", "A reply", parent=comment)
    site_store.comments.remove(gone, actor(carol), "Off topic")

    page = Client().get("/users/alice/comments/").text

    assert re.findall(r'class="permalink" href="/comments/(\d+)/"', page) == [str(reply), str(comment)]
    assert "First <em>words</em>" in page
    assert "Spam" not in page
    assert '/users/alice/comments/">Comments</a>' in Client().get("/users/alice/").text
    assert Client().get("/users/ALICE/comments/")["Location"] == "/users/alice/comments/"
    assert Client().get("/users/dora/comments/").status_code == 404


@pytest.mark.parametrize("retraction", ["edit", "delete", "remove"])
def test_text_taken_back_is_gone_offline(site_store, article, comment, alice, carol, kept, outage, retraction):
    paths = (f"/articles/{article}/", f"/comments/{comment}/")
    for path in paths:
        assert "words" in Client().get(path).text

    match retraction:
        case "edit":
            browser_of(alice).post(f"/comments/{comment}/edit/", {"text": "Something else"})
        case "delete":
            browser_of(alice).post(f"/comments/{comment}/delete/")
        case "remove":
            browser_of(carol).post(f"/comments/{comment}/remove/", {"reason": "Because"})
    outage()

    for path in paths:
        assert "words" not in Client().get(path).text


def test_a_discussion_is_kept_for_an_outage(site_store, article, comment, kept, outage):
    for path in (f"/articles/{article}/", f"/comments/{comment}/", f"/articles/{article}/?comments=newest"):
        Client().get(path)
    outage()

    for path in (f"/articles/{article}/", f"/comments/{comment}/", f"/articles/{article}/?comments=newest"):
        assert "First <em>words</em>" in Client().get(path).text


def test_drawing_a_discussion_does_not_hold_up_readers_of_another(site_store, article, comment, bob, monkeypatch):
    other = post_as(site_store, bob, "Other", "https://example.org/b").id
    comment_on(site_store, other, "Quick")
    first, second = (site_store.comments.get_thread(one, CommentOrder.BEST) for one in (article, other))
    reader = Viewer(None, is_moderator=False, may_write=True, now=site_store.store.now())
    draw, drawn = rows.kept_comment, []

    def draw_slowly(row, language):
        if row.article == article:
            drawn.append(ThreadPoolExecutor(1).submit(draw_thread, second, reader).result(timeout=20))
        return draw(row, language)

    monkeypatch.setattr(rows, "kept_comment", draw_slowly)

    assert "First" in draw_thread(first, reader)
    assert "Quick" in drawn[0]

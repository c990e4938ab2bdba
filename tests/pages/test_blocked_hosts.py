"""Hosts whose links cannot be posted."""

import re

import pytest

from articles import site
from articles.domain.comments import CommentOrder
from articles.models import BlockedHost
from tests.factories import actor, browser_of

HOSTS = "/moderation/hosts/"
SENTENCE = "Links to spam.example cannot be posted here. Reason: “it copies other sites”."


@pytest.fixture
def blocked(db):
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()


def errors(response):
    return re.findall(r"<li>([^<]+)</li>", response.text)


@pytest.mark.parametrize("host", ["spam.example", "www.spam.example", "a.b.SPAM.example", "spam.example.:8080"])
def test_links_to_a_blocked_host_and_its_sub_domains_are_refused_with_the_reason(site_store, blocked, alice, host):
    response = browser_of(alice).post("/post/", {"title": "A title", "link": f"https://{host}/page"})

    assert errors(response) == [SENTENCE]
    assert site_store.imports.count() == 0


def test_other_hosts_and_the_current_link_of_an_article_stay(site_store, article, blocked, alice):
    other = browser_of(alice).post("/post/", {"title": "A title", "link": "https://notspam.example/"})
    assert other.status_code == 302
    BlockedHost.objects.create(host="example.org", reason="closed")
    site.forget_hosts()

    kept = {"title": "Better", "link": "https://example.org/a"}
    assert browser_of(alice).post(f"/articles/{article}/edit/", kept).status_code == 302
    moved = browser_of(alice).post(f"/articles/{article}/edit/", kept | {"link": "https://example.org/b"})
    assert errors(moved) == ["Links to example.org cannot be posted here. Reason: “closed”."]


LINKS = {
    "inline": "See [this](https://spam.example/page).",
    "bare": "See https://spam.example/page, which is new.",
    "autolink": "See <https://spam.example/page>.",
    "reference": "See [this][1].\n\n[1]: https://spam.example/page",
    "sub-domain": "See [this](https://a.b.SPAM.example.:8080/page).",
    "escaped": "See [this](https:&#47;&#47;spam.example/page).",
    "after others": "[A](https://fine.example/) and ![an image](https://spam.example/page.png)",
}


def texts_of(site_store, article):
    thread = site_store.comments.get_thread(article, CommentOrder.OLDEST)
    return [site_store.articles.get(article, with_text=True).text, *(comment.text for comment in thread.comments)]


@pytest.mark.parametrize("text", LINKS.values(), ids=LINKS)
def test_links_to_a_blocked_host_are_refused_in_texts_and_comments(site_store, article, blocked, alice, text):
    comment = site_store.comments.post(article, alice.pk, "alice", "Fine")
    kept, browser = {"title": "Better", "link": "https://example.org/a"}, browser_of(alice)

    for page, values in (
        ("/post/", {"title": "A title"}),
        (f"/articles/{article}/edit/", kept),
        (f"/articles/{article}/comments/", {}),
        (f"/comments/{comment}/edit/", {}),
    ):
        response = browser.post(page, values | {"text": text})
        assert (response.status_code, errors(response)) == (400, [SENTENCE]), page
    assert site_store.imports.count() == 1
    assert texts_of(site_store, article) == ["", "Fine"]


def test_the_current_links_of_a_text_and_a_comment_stay(site_store, article, alice):
    browser, text = browser_of(alice), "[Old](https://spam.example/old)"
    article = int(browser.post("/post/", {"title": "A title", "text": text})["Location"].split("/")[-2])
    comment = site_store.comments.post(article, alice.pk, "alice", text)
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()

    for page in (f"/articles/{article}/edit/", f"/comments/{comment}/edit/"):
        assert browser.post(page, {"title": "A title", "text": f"{text}, corrected"}).status_code == 302
        moved = browser.post(page, {"title": "A title", "text": f"{text} and https://spam.example/new"})
        assert errors(moved) == [SENTENCE]
    assert texts_of(site_store, article) == [f"{text}, corrected"] * 2


def test_new_links_to_a_blocked_host_are_refused_in_descriptions_of_groups(site_store, article, blocked, carol):
    old, page = "[Old](https://spam.example/old)", "/moderation/groups/python/"
    site_store.groups.describe("python", old, actor(carol), "")

    for text, status, stored in (
        (f"{old} and https://a.spam.example/new", 400, old),
        (f"{old}, corrected", 302, f"{old}, corrected"),
    ):
        response = browser_of(carol).post(page, {"description": text})
        assert response.status_code == status
        assert errors(response) == ([SENTENCE] if status == 400 else [])
        assert site_store.groups.get_descriptions(["python"]) == {"python": stored}


def test_moderators_block_a_host_and_unblock_it_with_a_reason_that_everyone_can_read(
    site_store, alice, carol, django_capture_on_commit_callbacks
):
    def send(path, host, reason):
        with django_capture_on_commit_callbacks(execute=True):
            return browser.post(path, {"host": host, "reason": reason}).headers["Location"]

    browser = browser_of(carol)
    for _ in range(2):  # pressed twice
        assert send(HOSTS, "https://www.Spam.example/page", "it copies other sites") == HOSTS

    refused = browser_of(alice).post("/post/", {"title": "A title", "link": "https://a.spam.example/page"})
    assert errors(refused) == [SENTENCE]
    page = browser.get(HOSTS).text
    assert "<bdi>spam.example</bdi>" in page
    assert "Reason: it copies other sites" in page
    send(HOSTS, "spam.example", "It still does")
    assert BlockedHost.objects.get().reason == "It still does"

    for _ in range(2):  # pressed twice
        assert send(f"{HOSTS}unblock/", "spam.example", "It was sold") == HOSTS
    assert "No hosts are blocked." in browser.get(HOSTS).text
    assert not BlockedHost.objects.exists()
    allowed = browser_of(alice).post("/post/", {"title": "A title", "link": "https://a.spam.example/page"})
    assert allowed.status_code == 302
    entries = site_store.moderation_log.get_page().entries
    assert [(one.action.value, one.actor_name, one.title, one.reason) for one in entries] == [
        ("unblock-host", "carol", "spam.example", "It was sold"),
        ("block-host", "carol", "spam.example", "It still does"),
        ("block-host", "carol", "spam.example", "it copies other sites"),
    ]
    log = re.sub(r"<[^>]+>", "", browser_of(alice).get("/moderation/").text)
    assert "carol blocked links to spam.example" in log
    assert "carol unblocked links to spam.example" in log

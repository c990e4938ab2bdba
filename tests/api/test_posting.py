"""POST /api/articles."""

import json

import pytest

from articles import site
from articles.models import BlockedHost
from tests.caller import error_of
from tests.cases import for_each
from tests.store_state import count_keys, problems

ENTRY = {"title": "A title", "link": "https://example.org/a"}


def test_posting_returns_the_article_and_its_address(as_alice, site_store):
    answer = as_alice.post("articles", ENTRY)

    assert answer.status_code == 201
    body = answer.json()
    assert (body["title"], body["link"], body["poster"]) == ("A title", "https://example.org/a", "alice")
    assert (body["votes"], body["choice"], body["existing"]) == (1, "vote", False)
    assert answer["Location"] == f"/api/articles/{body['id']}"
    assert as_alice.client.get(answer["Location"], headers=as_alice.headers).json()["id"] == body["id"]
    assert problems(site_store) == []


def test_posting_the_same_link_returns_the_existing_article(as_alice, as_bob, site_store):
    first = as_alice.post("articles", ENTRY).json()

    answer = as_bob.post(
        "articles", {"title": "Another title", "link": "HTTP://EXAMPLE.org:80/a/?utm_source=x#top"}
    )

    assert answer.status_code == 200
    assert answer["Location"] == f"/api/articles/{first['id']}"
    body = answer.json()
    assert (body["id"], body["title"], body["poster"], body["existing"]) == (first["id"], "A title", "alice", True)
    assert (body["votes"], body["choice"]) == (1, "none")
    assert as_bob.get("articles").json()["total"] == 1


def test_extra_fields_are_ignored(as_alice, alice):
    extra = {"votes": 999, "is_staff": True, "poster": "carol", "id": 7, "time": 0, "existing": True}

    body = as_alice.post("articles", ENTRY | extra).json()

    assert (body["votes"], body["poster"], body["existing"]) == (1, "alice", False)
    alice.refresh_from_db()
    assert not alice.is_staff


@for_each(
    "change, code",
    [
        ({"title": " \u200b\u202e "}, "title-empty"),
        ({"title": "\ud800"}, "title-encoding"),
        ({"link": "java\tscript:alert('https://')"}, "link-characters"),
        ({"link": "//evil.example"}, "link-scheme"),
        ({"groups": ["a:b"]}, "slug-form"),
        ({"groups": ["unheard-of"]}, "unknown-group"),
        ({"groups": ["python"] * 51}, "invalid"),
        ({"groups": None}, "invalid"),
    ],
)
def test_an_invalid_article_is_refused_and_not_stored(as_alice, site_store, python, change, code):
    keys = count_keys(site_store)

    assert error_of(as_alice.post("articles", ENTRY | change)) == (400, code)
    assert count_keys(site_store) == keys


def test_an_article_can_have_at_most_five_groups(as_alice, site_store):
    names = [f"group-{number}" for number in range(6)]
    site_store.groups.ensure({name: name for name in names})

    assert error_of(as_alice.post("articles", ENTRY | {"groups": names})) == (400, "too-many-groups")
    assert as_alice.post("articles", ENTRY | {"groups": names[:5]}).json()["groups"] == names[:5]


@pytest.mark.parametrize("body", [{}, {"link": "https://example.org/"}])
def test_a_missing_field_is_named(as_alice, body):
    answer = as_alice.post("articles", body)

    assert error_of(answer) == (400, "invalid")
    assert "“title”" in answer.json()["error"]["message"]


def test_an_article_needs_a_link_or_a_text(as_alice):
    assert error_of(as_alice.post("articles", {"title": "x"})) == (400, "article-empty")
    assert error_of(as_alice.post("articles", {"title": "x", "link": "", "text": " \n"})) == (400, "article-empty")


def test_a_text_is_posted_with_and_without_a_link_and_read_back_as_html(as_alice, anyone):
    text = "A *summary*, see <https://example.org/> <script>"

    alone = as_alice.post("articles", {"title": "Alone", "text": text}).json()
    beside = as_alice.post("articles", ENTRY | {"text": text}).json()
    again = as_alice.post("articles", {"title": "Alone", "text": text})

    assert (alone["link"], alone["text"], alone["has_text"]) == (None, text, True)
    assert alone["html"].startswith("<p>A <em>summary</em>, see <a href=")
    assert "<script" not in alone["html"]
    assert (beside["link"], beside["html"]) == (ENTRY["link"], alone["html"])
    assert (again.status_code, again.json()["id"], again.json()["existing"]) == (200, alone["id"], True)
    assert anyone.get(f"articles/{alone['id']}").json()["html"] == alone["html"]
    listed = anyone.get("articles").json()["articles"]
    assert all(article["has_text"] and "text" not in article for article in listed)


@pytest.mark.hostile
def test_naughty_strings_are_stored_or_refused(as_alice, site_store, shared_dir):
    strings = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))

    for number, title in enumerate(strings):
        answer = as_alice.post("articles", {"title": title, "link": f"https://example.org/{number}"})
        assert answer.status_code in (201, 400), (title, answer.content)
    assert problems(site_store) == []


def test_a_link_to_a_blocked_host_is_refused_with_the_reason(as_alice, site_store):
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()

    answer = as_alice.post("articles", ENTRY | {"link": "https://www.spam.example/"})

    assert error_of(answer) == (400, "link-blocked")
    assert "it copies other sites" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "text",
    ["https://a.spam.example/page", "See [this][1].\n\n[1]: https://spam.example/page"],
    ids=["sub-domain", "reference"],
)
def test_texts_and_comments_with_a_link_to_a_blocked_host_are_refused(as_alice, article, site_store, alice, text):
    comment = site_store.comments.post(article, alice.pk, "alice", "Fine")
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()

    for send, path, body in (
        (as_alice.post, "articles", ENTRY),
        (as_alice.patch, f"articles/{article}", {}),
        (as_alice.post, f"articles/{article}/comments", {}),
        (as_alice.patch, f"comments/{comment}", {}),
    ):
        answer = send(path, body | {"text": text})
        assert error_of(answer) == (400, "link-blocked"), path
        assert "it copies other sites" in answer.json()["error"]["message"]
        other = text.replace("spam.example", "notspam.example")
        assert send(path, body | {"text": other}).status_code in (200, 201)


def test_programs_keep_the_current_links_of_a_text_and_a_comment(as_alice, site_store, alice):
    text = "[Old](https://spam.example/old)"
    article = as_alice.post("articles", ENTRY | {"text": text}).json()["id"]
    comment = as_alice.post(f"articles/{article}/comments", {"text": text}).json()["id"]
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    site.forget_hosts()

    assert as_alice.patch(f"articles/{article}", {"title": "Better"}).status_code == 200
    for path in (f"articles/{article}", f"comments/{comment}"):
        assert as_alice.patch(path, {"text": f"{text}, corrected"}).status_code == 200
        moved = as_alice.patch(path, {"text": f"{text} and https://spam.example/new"})
        assert error_of(moved) == (400, "link-blocked")

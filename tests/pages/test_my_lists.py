"""What only the member sees: personal lists, saved articles, the export."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Token
from articles.domain.articles import Choice
from articles.domain.errors import SavedFull
from articles.text.refusals import action_sentence
from tests import extras
from tests.factories import actor, browser_of, post_as, visit
from tests.store_state import lost_connection

LISTS = ["/mine/voted/", "/mine/opposed/", "/mine/saved/"]


def ids(text: str) -> list[int]:
    return [int(found) for found in re.findall(r'<li class="row" id="article-(\d+)"', text)]


@pytest.fixture
def busy(site_store, article, alice, bob):
    """Return three articles: one bob voted for, one he opposed, one he saved."""
    others = [post_as(site_store, alice, f"T{n}", f"https://example.org/{n}").id for n in range(2)]
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    site_store.votes.cast(others[0], bob.pk, Choice.OPPOSE)
    site_store.members.save(bob.pk, others[1], wanted=True)
    return article, *others


def test_each_list_shows_the_members_own(busy, bob, alice):
    mine = browser_of(bob)

    assert [ids(mine.get(address).text) for address in LISTS] == [[one] for one in busy]
    assert ids(browser_of(alice).get("/mine/opposed/").text) == []


def test_only_the_members_own_page_shows_the_tabs(busy, alice, bob):
    for browser, name, there in (
        (browser_of(bob), "bob", True),
        (browser_of(bob), "alice", False),
        (Client(), "bob", False),
    ):
        assert ('href="/mine/opposed/"' in browser.get(f"/users/{name}/").text) is there


# Saving


def save(browser, article, saved="save", back="/newest/"):
    return browser.post(f"/articles/{article}/save/", {"saved": saved, "next": back})


def test_an_article_is_saved_and_unsaved_from_its_row(site_store, article, bob):
    browser = browser_of(bob)
    assert 'value="save"' in browser.get("/newest/").text

    answer = save(browser, article)

    assert (answer.status_code, answer["Location"]) == (302, f"/newest/#article-{article}")
    for page in ("/newest/", f"/articles/{article}/", "/mine/saved/"):
        assert 'name="saved" value="forget" aria-pressed="true"' in browser.get(page).text
    save(browser, article, "forget")
    assert ids(browser.get("/mine/saved/").text) == []


def save_by_script(browser, article, saved="save"):
    fields = {"saved": saved, "next": "/newest/"}
    return browser.post(f"/articles/{article}/save/", fields, headers={"Accept": "application/json"})


def test_a_script_gets_a_message_to_show(site_store, article, bob, carol):
    browser = browser_of(bob)

    assert save_by_script(browser, article).json() == {"told": "Saved for later."}
    assert ids(browser.get("/mine/saved/").text) == [article]
    assert save_by_script(browser, article, "forget").json() == {"told": "No longer saved."}
    assert ids(browser.get("/mine/saved/").text) == []

    gone, logged_out = save_by_script(browser, 999), save_by_script(Client(), article)
    assert (gone.status_code, gone.json()) == (404, {"error": "There is no such article."})
    assert (logged_out.status_code, logged_out.json()) == (
        401,
        {
            "error": "You are logged out. Log in to save articles.",
            "address": f"/login/?next=%2Fnewest%2F%23article-{article}",
        },
    )
    site_store.articles.remove(article, actor(carol), "spam")
    assert save_by_script(browser, article).json() == {"error": "This article has been removed."}


def test_readers_and_scripts_get_an_error_at_the_limit_of_saved_articles(site_store, article, bob):
    object.__setattr__(site_store.rules, "max_saved", 0)

    page = browser_of(bob).post(f"/articles/{article}/save/", {"saved": "save"}, follow=True)
    answer = save_by_script(browser_of(bob), article)

    assert action_sentence(SavedFull(0)) in page.text
    assert (answer.status_code, answer.json()["error"]) == (409, action_sentence(SavedFull(0)))


# Groups


def test_a_group_is_hidden_and_shown_from_its_page(site_store, article, bob):
    for browser in (browser_of(bob), Client()):
        assert 'name="hide" value="python"' in browser.get("/groups/python/").text
        browser.post("/preferences/", {"hide": "python", "next": "/groups/python/"})
        assert 'name="show" value="python"' in browser.get("/groups/python/").text


# The export

NOTHING = """
comments flags held_posts bans moderated_groups decisions notes_by_moderators
passkeys invitations vouches_given vouches
"""
OF_EXTRAS = [name for names in extras.all_of("EXPORTED") for name in names]
"""Parts of it that are lists without an entry."""


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


@pytest.mark.needs("few shards")
def test_the_export_contains_everything_the_documentation_promises(site_store, article, alice, carol):
    carol.email, carol.theme, carol.hidden_groups, carol.keyboard = "c@example.org", "dark", "python,x", False
    carol.hidden = "/example.org,~C++,#7"
    carol.language, carol.last_login, carol.imported = "en", timezone.now(), True
    carol.followed_groups, carol.feed_key = "redis", "x"
    carol.about = "I write"
    carol.save()
    expiry = timezone.now() + timedelta(days=9)
    laptop, plaintext = Token.objects.issue(carol, "laptop 笔记本", scopes=("vote",), expires_at=expiry)
    Token.objects.issue(alice, "not carol's")
    Token.objects.find(plaintext)
    mine = post_as(site_store, carol, "标题 <b>", "https://example.org/mine", ["python"], text="A *text*").id
    site_store.votes.cast(mine, alice.pk, Choice.OPPOSE)
    site_store.votes.cast(article, carol.pk, Choice.OPPOSE)
    site_store.members.save(carol.pk, article, wanted=True)
    site_store.pageviews.record(article, visit(1), carol.pk)
    site_store.pageviews.record(mine, visit(2))
    site_store.groups.create("redis", "Redis", actor(carol))
    carol.blocks.create(blocked=alice)
    carol.flags_on_abouts.create(member=alice, reason="spam", words="Pills")
    carol.mutes.create(article=article)
    comment = site_store.comments.post(mine, alice.pk, "alice", "Yours")
    site_store.articles.remove(mine, actor(carol), "My own, 错了")
    laptop.refresh_from_db()
    posted = site_store.articles.get(mine)
    (opposed_at,) = [at for _, at in site_store.members.iterate_choices(carol.pk, Choice.OPPOSE)]
    (saved_at,) = [at for _, at in site_store.members.iterate_saved(carol.pk)]
    (noticed_at,) = [notice.at for notice in site_store.inbox.iterate(carol.pk)]
    ((_, visited_at),) = site_store.members.list_visits(carol.pk)
    removed, created = site_store.moderation_log.get_page().entries

    answer = browser_of(carol).get("/settings/data/")
    written = answer.getvalue()
    found = json.loads(written)

    assert "标题" in written.decode(), "readable as it is"
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="carol-20')
    assert abs(datetime.fromisoformat(found.pop("written")).timestamp() - site_store.store.now()) < 60
    carol.refresh_from_db()
    of_article = {"id": article, "title": "A title", "link": "https://example.org/a"}
    of_mine = {"id": mine, "title": "标题 <b>", "link": "https://example.org/mine"}
    assert found == {
        "format": 1,
        **{name: [] for name in [*NOTHING.split(), *OF_EXTRAS]},
        "account": {
            "id": carol.pk,
            "name": "carol",
            "email": "c@example.org",
            "email_verified": False,
            "last_verified_email": "",
            "joined": carol.date_joined.astimezone(UTC).isoformat(timespec="seconds"),
            "last_login": carol.last_login.astimezone(UTC).isoformat(timespec="seconds"),
            "came_with_an_import": True,
            "second_step": False,
            "ballot_key": None,
            "recovery_codes_left": 0,
            "trusted_since": None,
            "about": "I write",
            "about_removed": None,
            "invited_by": None,
            "member_of": ["Moderators"],
            "votes_left_out_of_ranking": False,
            "votes_wait": False,
        },
        "settings": {
            "language": "en",
            "theme": "dark",
            "keyboard": False,
            "remembers_read": True,
            "hides_read": False,
            "hidden_groups": ["python", "x"],
            "hidden_hosts": ["example.org"],
            "hidden_words": ["C++"],
            "hidden_articles": [7],
            "blocked_members": ["alice"],
            "muted_discussions": [article],
            "mail_about": [],
            "weekly_mail": False,
            "mail_to_moderators": "daily",
            "inbox_read_until": None,
            "followed_groups": ["redis"],
            "private_feed": True,
        },
        "posted": [
            {
                **of_mine,
                "text": "A *text*",
                "posted": iso(posted.posted_at),
                "votes": 1,
                "opposes": 1,
                "views": 1,
                "visitors": 1,
                "groups": ["python"],
                "removed": "My own, 错了",
                "merged_into": None,
            }
        ],
        "voted": [{**of_mine, "at": iso(posted.posted_at)}],
        "opposed": [{**of_article, "at": iso(opposed_at)}],
        "saved": [{**of_article, "at": iso(saved_at)}],
        "visited": [{**of_article, "at": iso(visited_at)}],
        "flags_on_members": [
            {
                "member": "alice",
                "reason": "spam",
                "words": "Pills",
                "at": carol.flags_on_abouts.get().set_at.astimezone(UTC).isoformat(timespec="seconds"),
                "state": "open",
            }
        ],
        "inbox": [{"about": "reply", "at": iso(noticed_at), "article": mine, "comment": comment}],
        "tokens": [
            {
                "name": "laptop 笔记本",
                "made": laptop.created_at.astimezone(UTC).isoformat(timespec="seconds"),
                "used": laptop.last_used_at.astimezone(UTC).isoformat(timespec="seconds"),
                "expires": expiry.astimezone(UTC).isoformat(timespec="seconds"),
                "scopes": ["read", "vote"],
            }
        ],
        "moderated": [
            {
                "action": "remove",
                "at": iso(removed.at),
                "article": mine,
                "title": "标题 <b>",
                "reason": "My own, 错了",
                "details": {},
            },
            {
                "action": created.action.value,
                "at": iso(created.at),
                "article": None,
                "title": "Redis",
                "reason": "",
                "details": created.details,
            },
        ],
    }


def test_without_the_store_the_export_fails_instead_of_being_incomplete(site_store, bob):
    browser = browser_of(bob)
    with lost_connection(site_store):
        assert browser.get("/settings/data/").status_code == 503
    assert browser_of(bob).post("/settings/data/").status_code == 405


def test_an_export_of_many_articles_is_complete(site_store, bob):
    articles = {post_as(site_store, bob, f"T{n}", f"https://example.org/{n}").id for n in range(450)}

    found = json.loads(browser_of(bob).get("/settings/data/").getvalue())

    assert {one["id"] for one in found["posted"]} == articles == {one["id"] for one in found["voted"]}
    assert len(found["posted"]) == 450

"""Groups for members only: to other readers, neither they nor their articles exist."""

import json
import re
from functools import partial
from html import unescape
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace

import pytest
from django.contrib.messages import get_messages
from django.db import DatabaseError
from django.test import Client

from accounts.models import Token
from articles.configuration import choices
from articles.web.groups import MEMBERS, set_visibility
from articles.web.preferences import HIDDEN_COOKIE
from articles.web.wiring import forget_repositories
from tests.factories import actor, browser_of, comment_on, post_as
from tests.html import tree_of
from tests.pages.telling import ABSENT, METHODS, addresses, asked

PLACES = ("/", "/newest/", "/hot/", "/top/", "/groups/", "/discussions/", "/search/?q=zyx", "/moderation/")


@pytest.fixture
def content(site_store, article, alice, bob, carol):
    """An article with "zyx" in every word, in a group of its own and an open one; return what names it."""
    site_store.groups.create("zyxslug", "Zyxgroup", actor(carol))
    site_store.groups.describe("zyxslug", "Zyxdescription", actor(carol))
    slugs = ["zyxslug", "python"]
    shown = post_as(site_store, alice, "Zyxtitle", "https://zyxhost.example/a", slugs, text="Zyxtext")
    comment = comment_on(site_store, shown.id, "Zyxcomment", bob.pk)
    site_store.comments.lock(shown.id, actor(carol), "Zyxlock")
    names = {"slug": "zyxslug", "slugs": "zyxslug", "host": "zyxhost.example", "name": "alice"}
    return {"article_id": str(shown.id), "comment_id": str(comment)} | names


@pytest.fixture
def committing(django_capture_on_commit_callbacks):
    """A function that returns a context in which changes of the site take effect, as after a commit."""
    return partial(django_capture_on_commit_callbacks, execute=True)


@pytest.fixture
def closed(content, carol, committing, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    with committing():
        set_visibility("zyxslug", actor(carol), "Zyxreason", is_closed=True)
    return content


@pytest.mark.hostile
def test_no_address_tells_others_anything_of_a_group_for_members(closed, bob):
    for path in addresses(closed):
        for method in METHODS:
            assert "zyx" not in asked(path, method).lower(), (method, path)
    for path in PLACES:
        assert "Zyx" not in asked(path), path
    assert f"/articles/{closed['article_id']}/" not in Client().get("/sitemap-articles-1.xml").text


def test_what_is_hidden_answers_like_what_does_not_exist(closed):
    pairs = zip(addresses(closed), addresses(closed | ABSENT | {"name": "alice", "number": "1"}), strict=True)
    for path, other in ((path, other) for path, other in pairs if path != other):
        assert asked(path) == asked(other), path


def test_members_see_all_of_it(closed, bob):
    browser = browser_of(bob)
    article, comment = closed["article_id"], closed["comment_id"]
    pages = [*PLACES[:2], "/groups/", "/groups/zyxslug/", "/groups/python/", "/users/alice/", "/moderation/"]

    for path in (*pages, f"/articles/{article}/", f"/comments/{comment}/", "/groups/zyxslug/"):
        assert "Zyx" in browser.get(path).text, path
    _, plaintext = Token.objects.issue(bob, "script")
    for path in (f"articles/{article}", f"comments/{comment}", "groups/zyxslug", "articles"):
        assert "Zyx" in Client().get(f"/api/{path}", headers={"authorization": f"Bearer {plaintext}"}).text, path
    bob.followed_groups, bob.feed_key = "zyxslug", "a key"
    bob.save()
    assert "Zyx" in Client().get(f"/following/{bob.feed_token}.atom").text


NAMING = (
    "/groups/", "/groups/zyxslug/", "/groups/python+zyxslug/", "/newest/", "/search/?q=zyx", "/following/",
    "/articles/{article_id}/", "/articles/{article_id}/groups/", "/articles/{article_id}/hide/", "/post/",
    "/search/?q=zyx&kind=groups", "/hidden/",
)  # fmt: skip


@pytest.mark.parametrize("path", NAMING)
def test_a_group_for_members_is_marked_wherever_it_is_named(content, carol, committing, settings, tmp_path, path):
    settings.DATA_DIR, browser, address = tmp_path, browser_of(carol), path.format_map(content)
    type(carol).objects.filter(pk=carol.pk).update(followed_groups="zyxslug", is_superuser=True)
    assert "embers only" not in browser.get(address).text

    with committing():
        set_visibility("zyxslug", actor(carol), "Zyxreason", is_closed=True)

    if path == "/hidden/":
        browser.post("/preferences/", {"kind": "group", "hide": "zyxslug"})
    page = browser.get(address)
    assert "embers only" in page.text.partition('id="article-' if path.startswith("/groups/") else "</html>")[0]
    links = [one.to_text() for one in tree_of(page.content).query('main a[href="/groups/zyxslug/"]')]
    assert path == "/groups/" or all("embers only" in one for one in links), "in the list, beside the title"


def test_pages_of_a_closed_group_lead_to_no_feed_that_does_not_exist(closed, carol):
    own = {"followed_groups": "python,zyxslug", "hidden_groups": "python", "feed_key": "a key"}
    type(carol).objects.filter(pk=carol.pk).update(**own)
    browser, article = browser_of(carol), closed["article_id"]

    for path in (
        "/groups/zyxslug/",
        "/groups/python+zyxslug/",
        "/search/?q=zyx&group=zyxslug",
        f"/articles/{article}/",
        "/hosts/zyxhost.example/",
        "/hosts/example.org/",  # all in a group that she hides
    ):
        feeds = re.findall(r'href="(/feeds/[^"]*)"', unescape(browser.get(path).text))
        assert [one for one in feeds if Client().get(one).status_code != 200] == [], path
    assert "private feed" in browser.get("/groups/zyxslug/").text
    assert re.findall(r"/feeds/groups/\w+", browser.get("/following/groups.opml").text) == ["/feeds/groups/python"]


def test_lists_stay_full_and_counts_leave_them_out(site_store, closed, alice):
    for n in range(30):
        post_as(site_store, alice, f"Title {n}", f"https://example.org/{n}", ["python"])

    listed = Client().get("/api/articles?group=python").json()["articles"]

    assert len(listed) == site_store.rules.per_page
    assert not any("Zyx" in one["title"] for one in listed)
    assert Client().get("/api/groups/python").json()["articles"] == 31  # and that of the fixture
    for address in ("/api/articles", "/api/articles?group=python", "/api/articles?order=time"):
        assert Client().get(address).json()["total"] == 31, address
    assert site_store.groups.get("python").articles == 32


def test_opening_and_closing_shows_at_once_in_kept_copies_too(kept, content, carol, committing):
    moderator, path = browser_of(carol), f"/articles/{content['article_id']}/"

    def show(to: str) -> None:
        with committing():
            moderator.post("/moderation/groups/zyxslug/", {"show": "1", "show-visible": to})

    assert "Zyxtitle" in Client().get(path).text
    assert "Zyxtitle" in Client().get("/newest/").text

    show("members")

    assert Client().get(path).status_code == 404
    for public in ("/newest/", "/feeds/newest.atom"):
        assert "Zyx" not in Client().get(public).text
    show("everyone")
    for public in (path, "/newest/", "/feeds/newest.atom"):
        assert "Zyxtitle" in Client().get(public).text


def test_an_article_that_joins_a_closed_group_is_gone_at_once(site_store, kept, closed, article, carol):
    assert Client().get(f"/articles/{article}/").status_code == 200

    browser_of(carol).post(f"/articles/{article}/groups/", {"groups": "zyxslug"})

    assert Client().get(f"/articles/{article}/").status_code == 404


def test_programs_close_groups_and_the_log_says_so_to_members(site_store, content, carol, bob, committing):
    _, plaintext = Token.objects.issue(carol, "script")
    headers, change = {"authorization": f"Bearer {plaintext}"}, {"visible": "members", "reason": "Private talk"}

    with committing():
        Client().patch("/api/groups/zyxslug", json.dumps(change), "application/json", headers=headers)

    assert Client().get("/api/groups/zyxslug", headers=headers).json()["visible"] == MEMBERS
    assert choices.closed_groups() == {"zyxslug"}
    assert "for members only" in browser_of(bob).get("/moderation/").text
    assert "Private talk" not in Client().get("/moderation/").text


def test_forms_that_name_a_closed_group_and_its_log_mark_it(closed, article, carol):
    browser = browser_of(carol)

    for page in ("/moderation/", "/moderation/groups/python/", "/moderation/rules/new/"):
        assert '<option value="zyxslug">Zyxgroup (members only)</option>' in browser.get(page).text, page
    browser.post(f"/articles/{article}/groups/", {"groups": ["python", "zyxslug"]})
    log = browser.get("/moderation/?action=groups").text
    assert re.search(r'dir="auto">Zyxgroup[^/]*<span class="closed"', log)


def test_a_closed_group_is_not_merged_into_an_open_one(site_store, closed, carol):
    fields = {"merge": "1", "merge-into": "python", "merge-sure": "on"}

    page = browser_of(carol).post("/moderation/groups/zyxslug/", fields)

    assert "can only be merged into another one for members only" in page.text
    assert "zyxslug" in site_store.groups.get_titles()


def test_members_see_titles_that_a_reader_made_the_process_remember(closed, bob):
    forget_repositories()

    assert "Zyx" not in Client().get("/groups/python/").text
    assert "Zyxgroup" in browser_of(bob).get(f"/articles/{closed['article_id']}/").text


def test_an_open_group_merged_into_a_closed_one_does_not_tell_of_it(site_store, closed, carol):
    site_store.groups.create("old", "Old", actor(carol))
    site_store.groups.merge("old", "zyxslug", actor(carol))

    for path in (
        "/groups/old/", "/api/groups/old", "/groups/old/feed.atom",
        "/api/articles?group=old", "/groups/old+python/",
    ):  # fmt: skip
        assert "zyx" not in asked(path).lower(), path


def test_hiding_a_group_does_not_tell_of_a_closed_one(site_store, closed, carol):
    site_store.groups.create("old", "Old", actor(carol))
    site_store.groups.merge("old", "zyxslug", actor(carol))

    def told(slug: str) -> tuple[list[str], bool]:
        answer = Client().post("/preferences/", {"hide": slug, "kind": "group"})
        return [str(message) for message in get_messages(answer.wsgi_request)], HIDDEN_COOKIE in answer.cookies

    assert told("old") == told("zyxslug") == told("nothing")
    assert told("python") != told("nothing")


def test_an_explanation_names_no_hidden_neighbour(closed, article, bob):
    paths = (f"/articles/{article}/why/", f"/api/articles/{article}/ranking")

    assert "Zyxtitle" in browser_of(bob).get(paths[0]).text
    for path in paths:
        assert "zyx" not in asked(path).lower(), path


def test_an_article_in_two_closed_groups_counts_once(site_store, closed, article, carol, committing):
    site_store.groups.create("second", "Second", actor(carol))
    site_store.groups.assign(int(closed["article_id"]), ["second"], actor=actor(carol))
    with committing():
        set_visibility("second", actor(carol), "", is_closed=True)

    assert Client().get("/api/groups/python").json()["articles"] == 1


def test_a_process_that_starts_while_the_accounts_are_away_knows_what_the_machine_knew(closed):
    assert choices.closed_groups() == {"zyxslug"}
    spec = find_spec("articles.configuration.choices")
    process = module_from_spec(spec)
    spec.loader.exec_module(process)
    process.apps = SimpleNamespace(get_model=unavailable)

    assert process.closed_groups() == {"zyxslug"}


def unavailable(*_):
    raise DatabaseError

"""Lemmy's API: what of it is what of the site, who may call it, and what it refuses."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
from django.test import Client
from hypothesis import given, settings as examples, strategies as st

from accounts.models import BanScope, GroupModerator, Token, User
from articles.domain.comments import root_of
from articles.domain.limits import Rate
from articles.web import wiring
from articles.web.groups import forget_liveliness, set_visibility
from extras.lemmy import urls  # noqa: F401 - registers all operations
from extras.lemmy.operations import OPERATIONS
from extras.lemmy.shapes import WHOLE_SITE, WHOLE_SITE_NUMBER, number_of
from extras.lemmy.tests.client import Lemmy, log_in, said_in
from moderation.bans import ban
from tests.cast import MODERATOR
from tests.factories import actor, browser_of, comment_on, post, post_as, vote
from tests.internals import failing
from voting_site.serving.workers.environ import refuse

PYTHON = number_of("python")


pytestmark = pytest.mark.usefixtures("lemmy")


@pytest.fixture
def reader(site_store) -> Lemmy:
    return Lemmy()


@pytest.fixture
def as_alice(site_store, alice) -> Lemmy:
    return Lemmy(alice)


@pytest.fixture
def as_bob(site_store, bob) -> Lemmy:
    return Lemmy(bob)


def ids(listed: object) -> list[int]:
    return [view["post"]["id"] for view in listed["posts"]]


# Whether there is such an API


def test_by_default_there_is_no_such_api(site_store, settings, alice):
    settings.LEMMY_API = False

    for path in ("site", "post/list", "user/login"):
        answer = Client().get(f"/api/v3/{path}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not-found")
    assert Client().get("/.well-known/nodeinfo").status_code == 404


def test_other_addresses_and_methods_are_refused_in_lemmys_words(reader):
    assert reader.get("nothing") == "couldnt_find_object"
    assert reader.send("DELETE", "post").status_code == 405
    assert reader.send("DELETE", "post")["Allow"] == "GET, HEAD, POST, PUT"
    assert said_in(reader.send("POST", "post", b"<xml>", content_type="text/xml")) == "unknown"


# Who calls it


@pytest.mark.parametrize("way", ["header", "query", "body"])
def test_a_token_is_taken_in_both_ways_of_authentication(article, bob, way):
    token = Token.objects.issue(bob, "an app")[1]
    app = Lemmy(authorization=f"Bearer {token}") if way == "header" else Lemmy()
    sent = {} if way == "header" else {"auth": token}

    if way != "body":
        assert app.get("site", **sent)["my_user"]["local_user_view"]["person"]["name"] == "bob"
    if way != "query":
        assert app.post("post/like", post_id=article, score=1, **sent)["post_view"]["my_vote"] == 1


def test_a_session_is_no_login_here(site_store, article, bob):
    app = Lemmy(browser=browser_of(bob))

    assert "my_user" not in app.get("site")
    assert app.post("post/like", post_id=article, score=1) == "not_logged_in"
    assert site_store.articles.get(article).votes == 1


@pytest.mark.parametrize("token", ["null", "undefined", ""])
def test_apps_without_a_login_read(article, token):
    assert ids(Lemmy(authorization=f"Bearer {token}").get("post/list")) == [article]


def test_a_stale_token_prevents_neither_a_login_nor_a_look_at_the_site(article, alice):
    app = Lemmy(authorization="Bearer avs_stale")

    assert "my_user" not in app.get("site")
    assert "jwt" in log_in(app)


def test_what_a_token_in_the_address_reads_is_private(article, bob):
    token = Token.objects.issue(bob, "an app")[1]

    assert "private" in Lemmy().send("GET", f"post/list?auth={token}")["Cache-Control"]
    assert "public" in Lemmy().send("GET", "post/list")["Cache-Control"]


def test_a_token_allows_what_its_scopes_say(site_store, article, bob):
    token = Token.objects.issue(bob, "a reader", scopes=["vote"])[1]
    app = Lemmy(authorization=f"Bearer {token}")

    assert app.post("post/like", post_id=article, score=-1)["post_view"]["my_vote"] == -1
    assert app.post("comment", post_id=article, content="No") == "couldnt_create_comment"
    assert app.send("POST", "comment", {"post_id": article, "content": "No"}).status_code == 403


def test_a_site_for_members_shows_apps_nothing_before_the_login(article, settings, alice):
    settings.READING = "members"
    reader = Lemmy()

    for path in ("post/list", "comment/list", "community/list", "modlog", "search?q=title", "user?username=alice"):
        assert said_in(reader.send("GET", path)) == "instance_is_private"
    told = Client().get("/nodeinfo/2.1").json()
    assert (told["software"]["name"], told["usage"]) == ("lemmy", {"users": {}, "localPosts": 0})
    shown = reader.get("site")["site_view"]
    assert (shown["counts"]["posts"], shown["local_site"]["private_instance"]) == (0, True)
    token = log_in(reader)["jwt"]
    assert ids(Lemmy().get("post/list", auth=token)) == [article]


def test_groups_for_members_are_shown_to_members_only(
    site_store, article, bob, carol, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.DATA_DIR = tmp_path
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("python", actor(carol), "For us", is_closed=True)

    for app in (Lemmy(), Lemmy(browser=browser_of(bob))):
        assert ids(app.get("post/list")) == []
        assert app.get("post", id=article) == "couldnt_find_post"
        assert app.get("community", id=PYTHON) == "couldnt_find_community"
    assert ids(Lemmy(bob).get("post/list")) == [article]
    community = Lemmy(bob).get("community", id=PYTHON)["community_view"]["community"]
    assert community["visibility"] == "LocalOnly"


# What is what


def test_an_article_is_in_one_community_the_one_that_is_listed(site_store, as_bob, alice):
    for slug in ("go", "python"):
        site_store.groups.create(slug, slug.title())
    both = post_as(site_store, alice, "Both", "https://example.org/both", ["python", "go"]).id
    none = post_as(site_store, alice, "None", "https://example.org/none").id

    def named(**query):
        return {
            view["post"]["id"]: view["community"]["name"] for view in as_bob.get("post/list", **query)["posts"]
        }

    assert named(sort="New") == {none: WHOLE_SITE, both: site_store.articles.get(both).groups[0]}
    assert named(community_name="python") == {both: "python"}
    assert named(community_id=number_of("go")) == {both: "go"}
    assert named(community_id=WHOLE_SITE_NUMBER) == named(sort="Hot")


def test_ids_of_groups_never_change_and_fit_any_client():
    assert (number_of("python"), number_of("机器学习")) == (740070423, number_of("机器学习"))
    numbers = {number_of(f"group-{n}") for n in range(2_000)}
    assert len(numbers) == 2_000
    assert all(WHOLE_SITE_NUMBER < number < 2**31 for number in numbers)


def test_posting_goes_into_the_group_or_into_none(site_store, article, as_bob, bob):
    said = as_bob.post("post", name="One", community_id=PYTHON, url="https://example.org/one")["post_view"]
    other = as_bob.post("post", name="Two", community_id=WHOLE_SITE_NUMBER, body="Text")["post_view"]

    posted, second = (site_store.articles.get(one["post"]["id"], bob.pk, with_text=True) for one in (said, other))
    assert (posted.title, posted.groups, posted.poster) == ("One", ("python",), bob.pk)
    assert (second.text, second.groups, other["post"]["body"]) == ("Text", (), "Text")
    assert as_bob.post("post", name="One", community_id=12345, body="x") == "couldnt_find_community"
    assert as_bob.post("post", name="x" * 301, community_id=1, body="x") == "post_title_too_long"
    assert as_bob.post("post", name="No", community_id=1, url="ftp://example.org/") == "invalid_url_scheme"
    assert as_bob.post("post", name="No", community_id=1) == "invalid_body_field"
    again = as_bob.post("post", name="Again", community_id=1, url="https://example.org/one")
    assert again["post_view"]["post"]["id"] == said["post"]["id"]


def test_editing_and_withdrawing_are_the_posters_for_some_minutes(site_store, article, as_alice, as_bob, settings):
    assert as_bob.put("post", post_id=article, name="Mine") == "no_post_edit_allowed"
    assert as_alice.put("post", post_id=article, name="Better")["post_view"]["post"]["name"] == "Better"
    assert as_alice.post("post/delete", post_id=article, deleted=False) == "couldnt_update_post"
    assert as_bob.post("post/delete", post_id=article, deleted=True) == "no_post_edit_allowed"
    assert as_alice.post("post/delete", post_id=article, deleted=True)["post_view"]["post"]["deleted"] is True
    assert site_store.articles.get(article).is_withdrawn


def test_closed_votes_bans_locks_removals_refuse(site_store, article, closed, as_alice, as_bob, bob, carol, alice):
    assert as_bob.post("post/like", post_id=closed, score=1) == "couldnt_like_post"
    mine = comment_on(site_store, article, "Mine", alice.pk)
    assert as_alice.post("comment/like", comment_id=mine, score=1) == "couldnt_like_comment"
    ban(bob, BanScope.GROUP, "Off-topic", days=1, moderator=actor(carol), group="python")
    said = as_bob.send("POST", "comment", {"post_id": article, "content": "x"})
    assert (said_in(said), said.status_code) == ("person_is_banned_from_community", 403)
    ban(bob, BanScope.BOTH, "Spam", days=1, moderator=actor(carol))
    for path, body in (("post/like", {"score": 1}), ("comment", {"content": "x"})):
        assert as_bob.post(path, post_id=article, **body) == "site_ban"
    site_store.comments.lock(article, MODERATOR, "Enough")
    assert as_alice.post("comment", post_id=article, content="More") == "locked"
    site_store.articles.remove(article, MODERATOR, "Spam")
    assert as_alice.post("comment", post_id=article, content="More") == "couldnt_find_post"
    assert as_bob.get("post", id=article)["post_view"]["post"] | {"name": ""} == as_bob.get("post", id=article)[
        "post_view"
    ]["post"] | {"name": "", "removed": True}
    assert "url" not in as_bob.get("post", id=article)["post_view"]["post"]


def test_lists_can_be_paged_by_cursor_and_by_number_without_a_repetition(site_store, as_bob, alice):
    posted = [post_as(site_store, alice, f"T{n}", f"https://example.org/{n}").id for n in range(7)]
    vote(site_store, posted[3], 5)

    for sort in ("New", "Hot", "TopAll", "Active"):
        found, cursor = [], {}
        for _page in range(4):
            said = as_bob.get("post/list", sort=sort, limit=2, **cursor)
            found += ids(said)
            cursor = {"page_cursor": said.get("next_page", "")}
        numbered = [
            one for page in range(1, 6) for one in ids(as_bob.get("post/list", sort=sort, limit=2, page=page))
        ]
        assert sorted(found) == sorted(numbered) == posted if sort != "Active" else found == numbered == []
        assert sort != "TopAll" or found[0] == posted[3]
    assert as_bob.get("post/list", page_cursor="forged") == "couldnt_get_posts"


def test_what_is_hidden_followed_and_blocked_is_the_members_own(site_store, article, as_bob, alice, bob):
    other = post_as(site_store, alice, "Other", "https://example.org/other").id
    as_bob.post("post/hide", post_ids=[other], hide=True)
    assert ids(as_bob.get("post/list")) == [article]
    assert set(ids(as_bob.get("post/list", show_hidden=True))) == {article, other}
    view = as_bob.post("community/follow", community_id=PYTHON, follow=True)["community_view"]
    assert view["subscribed"] == "Subscribed"
    assert ids(as_bob.get("post/list", type_="Subscribed")) == [article]
    assert as_bob.get("community/list", type_="Subscribed")["communities"][0]["community"]["name"] == "python"
    assert as_bob.post("community/block", community_id=PYTHON, block=True)["blocked"] is True
    assert ids(as_bob.get("post/list")) == []
    as_bob.post("community/block", community_id=PYTHON, block=False)
    assert as_bob.post("user/block", person_id=alice.pk, block=True)["blocked"] is True
    me = as_bob.get("site")["my_user"]
    assert [one["target"]["name"] for one in me["person_blocks"]] == ["alice"]
    assert [one["community"]["name"] for one in me["follows"]] == ["python"]
    assert ids(as_bob.get("post/list")) == []
    assert as_bob.post("user/block", person_id=bob.pk, block=True) == "cant_block_yourself"
    assert (
        as_bob.post("community/follow", community_id=WHOLE_SITE_NUMBER, follow=True) == "couldnt_update_community"
    )


def test_opening_a_post_counts_as_opening_its_page_and_marking_does_not(site_store, article, as_bob, alice):
    other = post_as(site_store, alice, "Other", "https://example.org/other").id
    browser = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
    as_bob.headers |= browser

    as_bob.get("post", id=article)
    assert as_bob.post("post/mark_as_read", post_ids=[other], read=True) == {"success": True}
    assert as_bob.post("post/mark_as_read", post_ids=[other], read=False) == "couldnt_mark_post_as_read"

    read = {view["post"]["id"]: view["read"] for view in as_bob.get("post/list")["posts"]}
    assert read == {article: True, other: True}
    assert (site_store.articles.get(article).pv, site_store.articles.get(other).pv) == (1, 0)


def test_a_discussion_is_read_in_pages_with_the_path_to_each_comment(site_store, article, as_bob, reader):
    top = [comment_on(site_store, article, f"Top {n}", 77) for n in range(5)]
    reply = comment_on(site_store, article, "Reply", 78, top[0])
    deep = comment_on(site_store, article, "Deep", 79, reply)

    whole = {
        one["comment"]["id"]: one for one in reader.get("comment/list", post_id=article, max_depth=8)["comments"]
    }
    assert whole[deep]["comment"]["path"] == f"0.{top[0]}.{reply}.{deep}"
    assert [whole[one]["counts"]["child_count"] for one in (top[0], reply, deep)] == [2, 1, 0]
    assert reader.get("comment", id=deep)["comment_view"]["comment"]["path"] == whole[deep]["comment"]["path"]
    branch = reader.get("comment/list", parent_id=reply)["comments"]
    assert [one["comment"]["path"] for one in branch] == [whole[one]["comment"]["path"] for one in (reply, deep)]
    paged = [
        one["comment"]["id"]
        for page in range(1, 6)
        for one in reader.get("comment/list", post_id=article, sort="Old", limit=2, page=page)["comments"]
    ]
    assert {*top} <= {*paged}
    found = [one["comment"]["content"] for one in reader.get("comment/list", sort="New", limit=2)["comments"]]
    assert found == ["Deep", "Reply"]
    assert len(reader.get("comment/list", community_id=PYTHON, limit=50)["comments"]) == 7
    assert reader.get("comment/list", community_id=WHOLE_SITE_NUMBER, limit=50, page=2)["comments"] == []


def test_later_pages_of_a_discussion_take_more_of_the_limit(site_store, article, limits, limits_clock):
    for n in range(6):
        comment_on(site_store, article, f"Top {n}", 77)
    limits(api=Rate(1, 600))  # five for a network

    def page(number):
        return Lemmy().get("comment/list", post_id=article, limit=1, page=number)

    assert len(page(3)["comments"]) == 1
    assert page(3) == "rate_limit_error"


def test_comments_are_written_edited_and_deleted_for_good(site_store, article, as_bob, as_alice):
    said = as_bob.post("comment", post_id=article, content="One")["comment_view"]
    number = said["comment"]["id"]
    assert as_alice.put("comment", comment_id=number, content="Two") == "no_comment_edit_allowed"
    assert as_bob.put("comment", comment_id=number, content="Two")["comment_view"]["comment"]["content"] == "Two"
    assert as_bob.put("comment/save", comment_id=number, save=True) == "couldnt_save_comment"
    assert as_bob.post("comment/delete", comment_id=number, deleted=False) == "couldnt_update_comment"
    gone = as_bob.post("comment/delete", comment_id=number, deleted=True)["comment_view"]["comment"]
    assert (gone["deleted"], gone["content"]) == (True, "")
    assert as_bob.get("comment", id=number) == "couldnt_find_comment"
    assert as_bob.get("comment", id=root_of(article)) == "couldnt_find_comment"
    assert as_bob.post("comment", post_id=article, content="") == "invalid_body_field"


def test_what_is_held_for_approval_is_refused_with_the_reason(site_store, article, as_bob, monkeypatch):
    from articles.domain.errors import HeldForApproval
    from articles.web import comments

    with failing(comments, "post", HeldForApproval(1)):
        said = as_bob.send("POST", "comment", {"post_id": article, "content": "x"})
    assert (said.status_code, said_in(said)) == (409, "couldnt_create_comment")
    assert said.json()["message"] == "A moderator has to approve this before others can see it."


def test_replies_and_mentions_are_of_the_inbox_and_one_reads_all_before(site_store, article, as_alice, alice, bob):
    now = site_store.store.now() - 10
    said_by_bob = partial(site_store.comments.post, article, bob.pk, "bob")
    numbers = [said_by_bob(f"Reply {n}", posted_at=now + n) for n in range(3)]
    mention = said_by_bob("@alice", parent=numbers[0], posted_at=now + 4, mentioned=[alice.pk])
    site_store.articles.remove(post_as(site_store, alice, "S", "https://example.org/s").id, MODERATOR, "Spam")

    def unread():
        said = as_alice.get("user/unread_count")
        return said["replies"], said["mentions"]

    assert unread() == (3, 1)
    replies = as_alice.get("user/replies", limit=2)["replies"]
    assert [one["comment_reply"]["id"] for one in replies] == numbers[:0:-1]
    assert as_alice.get("user/replies", limit=2, page=2)["replies"][0]["comment_reply"]["id"] == numbers[0]
    assert as_alice.get("user/mention")["mentions"][0]["person_mention"]["comment_id"] == mention
    said = as_alice.post("comment/mark_as_read", comment_reply_id=numbers[1], read=True)
    assert said["comment_reply_view"]["comment_reply"]["read"] is True
    assert unread() == (1, 1)
    assert (
        as_alice.post("comment/mark_as_read", comment_reply_id=numbers[1], read=False) == "couldnt_update_replies"
    )
    assert as_alice.post("user/mention/mark_as_read", person_mention_id=numbers[1], read=True) == (
        "couldnt_find_person_mention"
    )
    as_alice.post("user/mark_all_as_read")
    assert unread() == (0, 0)
    assert as_alice.get("user/replies", unread_only=True)["replies"] == []


def test_a_member_is_shown_with_posts_comments_and_groups(site_store, article, reader, alice, bob, as_alice):
    comment_on(site_store, article, "Mine", alice.pk)
    GroupModerator.objects.set(alice, "python", by=None, is_current=True)
    forget_liveliness()
    as_alice.put("user/save_user_settings", bio="A reader", show_nsfw=True)

    said = reader.get("user", username="ALICE@testserver")
    assert said["person_view"]["person"]["bio"] == "A reader"
    assert said["person_view"]["counts"] == {"person_id": alice.pk, "post_count": 1, "comment_count": 1}
    assert (ids(said), said["comments"][0]["comment"]["content"]) == ([article], "Mine")
    assert said["moderates"][0]["community"]["name"] == "python"
    assert said["posts"][0]["creator_is_moderator"] is True
    assert reader.get("user", person_id=alice.pk, page=2)["posts"] == []
    assert reader.get("user", person_id=alice.pk, community_id=number_of("go")) == "couldnt_find_community"
    assert reader.get("user", username="nobody") == "couldnt_find_person"
    assert reader.get("user") == "no_id_given"


def test_a_deleted_account_is_a_person_without_a_name(site_store, article, reader, alice):
    User.objects.filter(pk=alice.pk).update(left_at="2026-01-01T00:00:00Z", is_active=False)

    creator = reader.get("post/list")["posts"][0]["creator"]
    assert (creator["name"], creator["deleted"], creator["id"]) == ("[deleted]", True, 0)


def test_the_log_has_what_moderators_did(site_store, article, reader, alice, mallory, carol):
    comment = comment_on(site_store, article, "Spam", mallory.pk)
    site_store.comments.remove(comment, actor(carol), "It is spam")
    site_store.comments.lock(article, actor(carol), "Enough")
    ban(mallory, BanScope.GROUP, "Off-topic", days=1, moderator=actor(carol), group="python")
    ban(mallory, BanScope.BOTH, "Spam", days=1, moderator=actor(carol))
    site_store.articles.remove(article, actor(carol), "It is spam")

    said = reader.get("modlog", limit=50)
    counted = {name: len(rows) for name, rows in said.items() if rows}
    assert counted == dict.fromkeys(("removed_posts", "locked_posts", "banned", "banned_from_community"), 1)
    assert len(said) == 15
    assert said["banned"][0]["mod_ban"]["reason"] == "Spam"
    assert said["banned"][0]["moderator"]["name"] == "carol"
    assert not any(rows for rows in reader.get("modlog", mod_person_id=alice.pk).values())
    of_group = reader.get("modlog", type_="ModBanFromCommunity", other_person_id=mallory.pk, community_id=PYTHON)
    assert {name for name, rows in of_group.items() if rows} == {"banned_from_community"}
    site_store.articles.restore(article, actor(carol), "A mistake")
    (row,) = reader.get("modlog", comment_id=comment)["removed_comments"]
    assert (row["commenter"]["name"], row["comment"]["content"]) == ("mallory", "")
    assert not any(rows for rows in reader.get("modlog", page=2, limit=50).values())


# Everything at once


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=50),
    st.sampled_from(
        ["1", "0", "-1", "All", "New", "1000001", "1000000", "avs_x", "null", "é", "\u202e", "!python", "@a"]
    ),
    st.lists(st.integers(), max_size=5),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
)


def test_apps_cannot_act_on_a_merged_article_and_its_mark_is_of_the_other(site_store, article, carol, bob):
    merged = post(site_store, 2, poster=bob.pk)
    list(site_store.merges.merge(merged, article, actor(carol), "The same story"))
    app, about = Lemmy(bob), {"post_id": merged}
    acts = [
        ("POST", "post/like", {"score": 1}), ("PUT", "post/save", {"save": True}),
        ("PUT", "post", {"name": "Another"}), ("POST", "post/delete", {"deleted": True}),
        ("POST", "post/report", {"reason": "Spam"}), ("POST", "comment", {"content": "A comment"}),
        ("POST", "post/hide", {"hide": True, "post_ids": [merged]}),
    ]  # fmt: skip

    for method, path, body in acts:
        answer = app.send(method, path, about | body)
        assert (answer.status_code, "merged into" in answer.json()["message"]) == (409, True), path
    app.send("POST", "post/mark_as_read", about | {"read": True})
    assert [number for number, _at in site_store.members.list_visits(bob.pk)] == [article]


def test_the_web_servers_own_answers_are_in_lemmys_words():
    said = []
    protocol = SimpleNamespace(response_str=lambda status, _headers, text: said.append((status, json.loads(text))))
    refuse(SimpleNamespace(path="/api/v3/post/list", headers={}), protocol, 414, "The address is too long.")

    assert said == [(414, {"error": "unknown", "message": "The address is too long."})]


PLACES = sorted((method, path) for path, methods in OPERATIONS.items() for method in methods)
NAMES = sorted(
    {name for methods in OPERATIONS.values() for one in methods.values() for name in one.parameters.model_fields}
)


@pytest.fixture
def apps(site_store, article, alice, bob):
    comment_on(site_store, article, "A comment", bob.pk)
    return [Lemmy(), Lemmy(bob)]


@examples(max_examples=100)
@given(
    place=st.sampled_from(PLACES),
    sent=st.dictionaries(st.sampled_from([*NAMES, "auth"]), VALUES, max_size=6),
    own=st.booleans(),
)
def test_no_parameter_gives_a_failure_of_the_site(apps, place, sent, own):
    method, path = place
    options = {"query_params": {name: str(value) for name, value in sent.items()}} if method == "GET" else {}

    answer = apps[own].send(method, path, sent, **options)

    assert answer.status_code < 500, answer.content
    if path == "user/logout" and answer.status_code == 200:
        apps[own] = Lemmy(User.objects.get(username="bob"))


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_bodies_that_are_no_object_are_refused(apps, body):
    for method, path in PLACES:
        if method != "GET" and path != "user/logout":
            assert apps[1].send(method, path, body).status_code < 500, (method, path)


def test_an_outage_is_said_in_lemmys_words(site_store, article, bob, settings):
    app = Lemmy(bob)
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    answer = app.send("GET", "post/list")

    assert (answer.status_code, said_in(answer)) == (503, "couldnt_get_posts")
    assert int(answer["Retry-After"]) > 0

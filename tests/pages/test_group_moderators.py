"""Moderators of a group: what they see and do, what they cannot, and bans from a group.

tests/pages/test_rights.py has who may use which address.
"""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import Ban, BanScope, GroupModerator, User
from accounts.web.backend import needs_second_factor
from articles import housekeeping
from articles.domain.comments import root_of
from articles.domain.errors import DecidedForSite, FellowModerator, OwnMatter
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import SITE, Action
from articles.web import rights
from articles.web.groups import merge
from moderation.bans import ban
from moderation.groups import assign
from tests.caller import error_of, with_token
from tests.factories import actor, browser_of, comment_on, link, member, post_as
from tests.pages.lists import text_of

MANAGE, MODERATORS = "/moderation/groups/python/", "/moderation/groups/python/moderators/"
BANS, QUEUE, WHY = "/moderation/groups/python/bans/", "/moderation/queue/", {"reason": "Because"}


@pytest.fixture
def gina(site_store, article, carol) -> User:
    """She moderates the group python, in which alice's article is; there is also the group redis."""
    site_store.groups.create("redis", "Redis")
    assign(site_store.groups.get("python"), member("gina"), actor(carol), "Knows it", moderates=True)
    return User.objects.get(username="gina")


def fresh(user: User) -> User:
    return User.objects.get(pk=user.pk)


def posted(store, poster, number, *groups):
    return post_as(store, poster, f"Article {number}", link(number), groups).id


def remembered(user: User, article: int):
    """Return a browser of a member whose account the process remembers by now."""
    browser = browser_of(user)
    for _ in range(3):
        browser.get(f"/articles/{article}/")
    return browser


def newest(store):
    return store.moderation_log.get_page().entries[0]


def test_a_moderator_assigns_a_member_and_ends_that(site_store, article, bob, carol):
    for _ in range(2):  # pressed twice
        assert browser_of(carol).post(MODERATORS, {"name": "BOB", **WHY}).headers["Location"] == MODERATORS

    entry = newest(site_store)
    assert (entry.action, entry.title, entry.reason) == (Action.CHANGE_PERMISSIONS, "bob", "Because")
    assert "carol made bob a moderator of Python" in text_of(None, "/moderation/?group=python")
    assert "moderated by bob" in text_of(None, "/groups/python/")
    assert with_token(bob).get("groups/python").json()["moderators"] == ["bob"]
    browser = browser_of(bob)
    assert "carol made you a moderator of Python" in text_of(bob, "/inbox/")
    assert browser.get(QUEUE).status_code == 200

    browser_of(carol).post(MODERATORS + "end/", {"name": "bob", **WHY})
    assert browser.get(QUEUE).status_code == 403, "the session had been read before"
    assert "carol removed you as a moderator of Python" in text_of(bob, "/inbox/")
    assert "moderated by" not in text_of(None, "/groups/python/")
    assert len(site_store.moderation_log.get_page().entries) == 2


def test_no_one_assigns_themselves(site_store, article, carol):
    with pytest.raises(OwnMatter):
        assign(site_store.groups.get("python"), carol, actor(carol), "I can", moderates=True)

    assert not GroupModerator.objects.exists()


def test_the_log_says_in_which_capacity(site_store, article, gina, bob, carol):
    comment = comment_on(site_store, article, "A comment", bob.pk)
    browser = browser_of(gina)
    acts = [
        (f"/comments/{comment}/remove/", WHY),
        (f"/articles/{article}/lock/", WHY),
        (f"/articles/{article}/remove/", WHY),
        (MANAGE, {"description": "Snakes", "reason": "Why"}),
        (MANAGE, {"rename": "1", "title": "Pythons", "reason": "More"}),
        (BANS, {"name": "bob", "days": "7", **WHY}),
        (f"/articles/{article}/groups/", {"groups": ["python"], **WHY}),
    ]
    for address, fields in acts:
        assert browser.post(address, fields).status_code == 302, address

    entries = site_store.moderation_log.get_page().entries[: len(acts)]
    assert {(one.actor_name, one.details.get("capacity")) for one in entries} == {("gina", "python")}
    assert text_of(None, "/moderation/").count("as moderator of Pythons") == len(acts)
    by_site = newest_by(site_store, carol, article)
    assert "capacity" not in by_site.details


def newest_by(store, moderator, article):
    browser_of(moderator).post(f"/articles/{article}/groups/", {"groups": ["redis"], "was": "", **WHY})
    assert newest(store).actor_name == moderator.username
    return newest(store)


def test_what_is_also_in_another_group_can_only_be_taken_out(site_store, alice, gina):
    both = posted(site_store, alice, 5, "python", "redis")
    browser = browser_of(gina)

    for act in ("remove", "lock"):
        assert browser.post(f"/articles/{both}/{act}/", WHY).status_code == 403
    page = browser.get(f"/articles/{both}/").text
    assert f"/articles/{both}/groups/" in page
    assert f"/articles/{both}/remove/" not in page
    offered = re.findall(r"<fieldset.*?</fieldset>", browser.get(f"/articles/{both}/groups/").text, re.DOTALL)
    assert "Redis" not in offered[0]

    browser.post(f"/articles/{both}/groups/", {"groups": ["redis", "python"], **WHY})
    assert site_store.articles.get(both).groups == ("python", "redis"), "redis is not hers"
    browser.post(f"/articles/{both}/groups/", {"groups": ["python"], **WHY})
    assert site_store.articles.get(both).groups == ("redis",)
    assert browser.post(f"/articles/{both}/groups/", {"groups": ["redis"], **WHY}).status_code == 403


def test_a_moderator_of_a_group_puts_no_article_into_it(site_store, alice, gina):
    other = posted(site_store, alice, 5, "redis")
    both = posted(site_store, alice, 6, "python", "redis")
    caller = with_token(gina)

    for number, groups in ((other, ["redis", "python"]), (other, []), (both, []), (both, ["python"])):
        answer = caller.put(f"articles/{number}/groups", {"groups": groups, **WHY})
        assert error_of(answer) == (403, "forbidden"), groups
    for _ in range(2):
        assert caller.put(f"articles/{both}/groups", {"groups": ["redis"], **WHY}).json()["groups"] == ["redis"]


def test_moderators_of_a_group_reverse_each_other_but_not_those_of_the_site(site_store, article, gina, bob, carol):
    member("hugo")
    GroupModerator.objects.set(User.objects.get(username="hugo"), "python", by=carol.pk, is_current=True)
    comment = comment_on(site_store, article, "A comment", bob.pk)
    own, hers = browser_of(gina), browser_of(User.objects.get(username="hugo"))
    pairs = {"lock": "unlock", "remove": "restore"}
    for place in (f"/articles/{article}/", f"/comments/{comment}/"):
        for act, back in pairs.items() if "articles" in place else [("remove", "restore")]:
            hers.post(f"{place}{act}/", WHY)
            own.post(f"{place}{back}/", WHY)
    found = site_store.articles.get(article)
    assert (found.locked, found.removed, site_store.comments.get(comment).removed) == (None, None, None)

    by_site = browser_of(carol)
    by_site.post(f"/comments/{comment}/remove/", WHY)
    own.post(f"/comments/{comment}/restore/", WHY)
    assert site_store.comments.get(comment).removed == "Because"
    for act, back in pairs.items():
        by_site.post(f"/articles/{article}/{act}/", WHY)
        own.post(f"/articles/{article}/{back}/", WHY)
    found = site_store.articles.get(article)
    assert (found.locked, found.removed) == ("Because", "Because")
    answer = with_token(gina).put(f"articles/{article}/removed", {"removed": False, **WHY})
    assert error_of(answer) == (403, "forbidden")


def test_what_flags_removed_by_themselves_a_moderator_of_the_group_restores(site_store, article, gina):
    site_store.articles.remove(article, SITE, "Many flags")

    browser_of(gina).post(f"/articles/{article}/restore/", WHY)

    assert site_store.articles.get(article).removed is None


def test_a_moderator_of_a_group_does_not_restore_what_its_poster_withdrew(site_store, article, alice, gina):
    site_store.articles.withdraw(article, actor(alice))

    browser_of(gina).post(f"/articles/{article}/restore/", WHY)

    assert site_store.articles.get(article).removed is not None


def test_the_queue_and_its_number_have_what_they_can_decide(site_store, article, alice, bob, gina, carol):
    elsewhere, both = posted(site_store, alice, 5, "redis"), posted(site_store, alice, 6, "python", "redis")
    without = posted(site_store, alice, 7)
    comment = comment_on(site_store, article, "Rude words", alice.pk)
    for subject in (root_of(article), comment, *map(root_of, (elsewhere, both, without))):
        site_store.flags.set(subject, bob.pk, FlagReason.SPAM)
    rights.forget_waiting()

    ids = {row["article"]["id"] for row in with_token(gina).get("queue").json()["entries"]}
    assert ids == {article}
    assert len(with_token(carol).get("queue").json()["entries"]) == 5
    page = text_of(gina, QUEUE)
    assert "Queue (2)" in page
    assert "Rude words" in page
    assert "Article 5" not in page
    assert "Moderate alice" not in page
    decision = {"decision": "remove", "usual": "spam", "reason": "", "seen": site_store.store.now()}
    browser = browser_of(gina)
    assert browser.post(QUEUE + "decide/", decision | {"subject": root_of(both)}).status_code == 403
    browser.post(QUEUE + "decide/", decision | {"subject": root_of(article)})
    assert site_store.articles.get(article).removed == "Spam"
    assert newest(site_store).details["capacity"] == "python"


def test_mail_about_what_waits_has_what_they_can_decide(site_store, article, alice, bob, gina, mailoutbox):
    for number, groups in ((5, ["redis"]), (6, ["python", "redis"])):
        site_store.flags.set(root_of(posted(site_store, alice, number, *groups)), bob.pk, FlagReason.SPAM)
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    User.objects.filter(pk=gina.pk).update(
        email="g@example.org", verified_email="g@example.org", waiting_mail="now"
    )
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        housekeeping.run(site_store)

    (mail,) = [one for one in mailoutbox if one.to == ["g@example.org"] and "flagged" in one.body]
    assert "“A title” is flagged" in mail.body
    assert "Article 5" not in mail.body
    assert "Article 6" not in mail.body


def test_the_lists_of_what_is_removed_have_what_is_theirs(site_store, article, alice, gina, carol):
    others = [posted(site_store, alice, number, "redis") for number in range(10, 14)]
    comment = comment_on(site_store, article, "Hers to see", alice.pk)
    other = comment_on(site_store, others[0], "Not hers", alice.pk)
    for one in (comment, other):
        site_store.comments.remove(one, actor(carol), "Why")
    for one in (*others, article):
        site_store.articles.remove(one, actor(carol), "Why")

    assert re.findall("Article 1.|A title", text_of(gina, "/moderation/removed/")) == ["A title"]
    comments = text_of(gina, "/moderation/removed/comments/")
    assert "Hers to see" in comments
    assert "Not hers" not in comments
    caller = with_token(gina)
    assert [row["article"]["id"] for row in caller.get("removed/articles").json()["articles"]] == [article]
    assert [row["text"] for row in caller.get("removed/comments").json()["comments"]] == ["Hers to see"]


def test_a_kept_page_shows_buttons_to_the_right_reader_only(site_store, article, alice, bob, gina):
    comment = comment_on(site_store, article, "A comment", alice.pk)
    otto = member("otto")
    GroupModerator.objects.set(otto, "redis", by=None, is_current=True)
    acts = (f"/articles/{article}/remove/", f"/comments/{comment}/remove/", f"/articles/{article}/groups/")
    for _ in range(2):  # drawn, and from what is kept
        for user, sees in ((gina, True), (bob, False), (otto, False), (None, False)):
            page = browser_of(user).get(f"/articles/{article}/").text
            assert [act in page for act in acts] == [sees] * len(acts), user
            assert f"/articles/{article}/merge/" not in page
        for user, sees in ((gina, True), (otto, False), (bob, False)):
            assert (f'href="{MANAGE}"' in browser_of(user).get("/groups/python/").text) is sees


# Bans from a group


def banned(user: User, moderator, group: str = "python", days: int = 7) -> User:
    ban(user, BanScope.GROUP, "Off topic", days=days, moderator=moderator, group=group)
    return fresh(user)


def test_a_ban_from_a_group_forbids_posting_and_commenting_there_only(site_store, article, alice, bob, gina):
    own = posted(site_store, bob, 20, "python")
    elsewhere, both = posted(site_store, alice, 21, "redis"), posted(site_store, alice, 22, "redis", "python")
    mine = comment_on(site_store, article, "Mine", bob.pk)
    browser_of(gina).post(BANS, {"name": "bob", "days": "7", "reason": "Off topic"})
    browser, caller = browser_of(bob), with_token(fresh(bob))

    refused = [
        caller.post("articles", {"title": "T", "text": "Text", "groups": ["redis", "python"]}),
        caller.post(f"articles/{article}/comments", {"text": "Text"}),
        caller.post(f"articles/{both}/comments", {"text": "Text"}),
        caller.patch(f"comments/{mine}", {"text": "Text"}),
        caller.patch(f"articles/{own}", {"title": "Another"}),
    ]
    assert {error_of(one) for one in refused} == {(403, "banned")}
    page = browser.post("/post/", {"title": "T", "text": "Text", "groups": ["python"]})
    assert page.status_code == 400
    assert "You are banned from the group “Python” until" in page.text
    assert browser.get(f"/articles/{article}/comments/").status_code == 403
    assert "You are banned from parts of the site." in browser.get(f"/articles/{article}/").text
    assert "You are banned" not in browser.get(f"/articles/{elsewhere}/").text
    allowed = [
        caller.post("articles", {"title": "T", "text": "Text", "groups": ["redis"]}),
        caller.post(f"articles/{elsewhere}/comments", {"text": "Text"}),
        caller.put(f"articles/{article}/vote", {"choice": "vote"}),
        caller.patch(f"articles/{own}", {"groups": ["redis"]}),
        caller.send("DELETE", f"comments/{mine}"),
    ]
    assert {one.status_code for one in allowed} <= {200, 201}


def test_a_banned_member_is_told_appeals_and_is_answered_by_the_group(site_store, article, bob, gina, carol):
    banned(bob, rights.Actor(gina.pk, "gina", ("python",)))
    assert "Posting and commenting in the group “Python”" in text_of(bob, "/inbox/")
    (own,) = with_token(fresh(bob)).get("inbox").json()["bans"]
    assert (own["scope"], own["group"]) == ("group", "python")

    browser_of(bob).post("/appeal/", {"text": "It was on topic"})
    rights.forget_waiting()
    for moderator in (gina, carol):
        assert "It was on topic" in text_of(moderator, QUEUE)
    assert "Queue (" not in text_of(gina, QUEUE), "another one can answer"
    row = Ban.objects.get()
    fields = {"decision": "lift", "answer": "You are right"}
    hugo = member("hugo")
    GroupModerator.objects.set(hugo, "python", by=None, is_current=True)
    assert browser_of(gina).post(f"{QUEUE}appeals/{row.pk}/", fields).status_code == 403, "another one can"
    browser_of(fresh(hugo)).post(f"{QUEUE}appeals/{row.pk}/", fields)

    assert "You are right" in text_of(bob, "/appeal/")
    assert with_token(fresh(bob)).post(f"articles/{article}/comments", {"text": "Text"}).status_code == 201
    entry = newest(site_store)
    assert (entry.action, entry.details["slug"]) == (Action.LIFT_BAN, "python")
    assert entry.details["capacity"] == "python"
    assert "Posting and commenting in the group “Python”" in text_of(carol, "/users/bob/moderation/")


def test_whom_a_moderator_of_a_group_cannot_ban(site_store, gina, bob, carol):
    hugo, in_capacity = member("hugo"), rights.Actor(gina.pk, "gina", ("python",))
    GroupModerator.objects.set(hugo, "python", by=None, is_current=True)
    fellows = [carol, hugo, member("tuner", is_staff=True)]

    for user, refusal in [(one, FellowModerator) for one in fellows] + [(gina, OwnMatter)]:
        with pytest.raises(refusal):
            banned(fresh(user), in_capacity)
    assert not Ban.objects.exists()
    assert banned(hugo, actor(carol)).may_be_banned_from == {"python"}, "one of the site may"


def test_a_ban_by_a_moderator_of_the_site_is_not_theirs_to_end_or_to_shorten(site_store, gina, bob, carol):
    banned(bob, actor(carol), days=0)
    (row,) = Ban.objects.all()

    with pytest.raises(DecidedForSite):
        banned(bob, rights.Actor(gina.pk, "gina", ("python",)), days=1)
    browser_of(gina).post(f"{BANS}{row.pk}/lift/", WHY)
    assert [(one.ends_at, one.lifted_at) for one in Ban.objects.all()] == [(None, None)]
    browser_of(carol).post(f"{BANS}{row.pk}/lift/", WHY)
    assert fresh(bob).may_be_banned_from == frozenset()


def test_an_appeal_against_a_ban_by_a_moderator_of_the_site_is_not_theirs_to_answer(site_store, gina, bob, carol):
    banned(bob, actor(carol))
    browser_of(bob).post("/appeal/", {"text": "It was on topic"})
    rights.forget_waiting()
    row = Ban.objects.get()

    assert "It was on topic" not in text_of(gina, QUEUE)
    assert "Queue (" not in text_of(gina, QUEUE)
    fields = {"decision": "lift", "answer": "You are right"}
    assert browser_of(gina).post(f"{QUEUE}appeals/{row.pk}/", fields).status_code == 403
    assert Ban.objects.get().answer == ""


# Merges, deletion, export, second factor


def test_moderators_and_bans_follow_a_merge(site_store, article, bob, gina, carol):
    banned(bob, actor(carol))
    hugo = member("hugo")
    for slug in ("python", "redis"):
        GroupModerator.objects.set(hugo, slug, by=None, is_current=True)

    browser = remembered(bob, article)
    merge("python", "redis", actor(carol), "The same")

    assert browser.post(f"/articles/{article}/comments/", {"text": "Text"}).status_code == 403
    assert fresh(gina).moderated == fresh(hugo).moderated == {"redis"}
    assert fresh(bob).may_be_banned_from == {"redis"}
    assert browser_of(gina).post(f"/articles/{article}/lock/", WHY).status_code == 302
    assert newest(site_store).details["capacity"] == "redis"


def test_housekeeping_completes_what_a_merge_left(site_store, article, gina, carol):
    site_store.groups.merge("python", "redis", actor(carol))
    assert fresh(gina).moderated == {"python"}

    housekeeping.run(site_store)

    assert fresh(gina).moderated == {"redis"}


def test_a_deleted_account_moderates_nothing(site_store, gina):
    browser_of(gina).post("/settings/delete/", {"name": "gina"})

    assert not GroupModerator.objects.exists()
    assert "moderated by" not in text_of(None, "/groups/python/")
    assert newest(site_store).details["slug"] == "python", "the log keeps it"


def test_the_export_has_the_groups_that_a_member_moderates(site_store, gina):
    data = json.loads(browser_of(gina).get("/settings/data/").getvalue())

    ((group, moderates),) = [(one["group"], one["moderates"]) for one in data["moderated_groups"]]
    assert (group, moderates) == ("python", True)


def test_a_second_factor_is_demanded_of_them_as_of_other_moderators(site_store, gina, bob, settings):
    settings.SECOND_FACTOR = "moderators"

    assert needs_second_factor(fresh(gina))
    assert not needs_second_factor(fresh(bob))

"""Moderators gain no control of an article by suggestions; few suggestions change whether everyone sees it."""

import pytest

from accounts.models import User
from tests.caller import error_of, with_token
from tests.factories import actor, browser_of, comment_on
from tests.pages.test_reach import WHY, posted


def suggested(article: int, by: list[User], *slugs: str) -> None:
    for one in by:
        with_token(one).post(f"articles/{article}/suggestions", {"groups": list(slugs)})


@pytest.mark.parametrize(
    ("before", "to", "is_applied"),
    [
        (["inner"], ["python"], False), (["inner"], ["inner", "python"], True),
        (["inner", "python"], ["python"], False), (["python"], ["inner"], False),
        (["python"], ["python", "inner"], False), (["python"], [], False), (["python"], ["redis"], False),
        (["python"], ["python", "redis"], True), (["python", "redis"], ["redis"], True),
        ([], ["redis"], True), ([], ["inner"], False),
    ],
)  # fmt: skip
def test_suggestions_change_no_readers_nor_all_groups(site_store, friends, alice, carol, before, to, is_applied):
    article = posted(site_store, alice, 1, *before)

    suggested(article, friends[:2], *to)

    assert {*site_store.articles.get(article).groups} == {*(to if is_applied else before)}
    if not is_applied:
        (waits,) = with_token(carol).get(f"articles/{article}/suggestions").json()["suggestions"]
        path = f"articles/{article}/suggestions/{waits['id']}"
        changes = ("inner" in before) != ("inner" in to)
        answer = with_token(alice).put(path, {"accepted": True})
        assert (answer.status_code == 409) is changes
        if changes:
            assert with_token(carol).put(path, {"accepted": True}).status_code == 200, "a moderator decides"
        assert {*site_store.articles.get(article).groups} == {*to}


@pytest.mark.parametrize(
    ("before", "to", "by"),
    [
        ([], ["redis"], slice(0, 2)),
        ([], ["redis"], slice(1, 3)),
        (["python"], ["python", "redis"], slice(0, 2)),
        (["python", "redis"], ["redis"], slice(0, 2)),
        (["python", "redis"], ["redis"], slice(1, 3)),
    ],
)
def test_a_moderator_of_a_group_gets_no_hold_of_an_article_suggested(site_store, friends, alice, before, to, by):
    article = posted(site_store, alice, 1, *before)
    comment = comment_on(site_store, article, "A comment", alice.pk)
    suggested(article, friends[by], *to)
    assert {*site_store.articles.get(article).groups} == {*to}

    browser, caller = browser_of(friends[0]), with_token(friends[0])
    for act in ("remove", "lock"):
        assert browser.post(f"/articles/{article}/{act}/", WHY).status_code == 403
    assert browser.post(f"/comments/{comment}/remove/", WHY).status_code == 403
    for path in (f"articles/{article}/kept", f"comments/{comment}/kept"):
        assert caller.put(path, {}).status_code == 403
    assert site_store.articles.get(article).removed is None


def test_two_suggestions_do_not_take_an_article_out_of_all_its_groups(site_store, friends, alice):
    article = posted(site_store, alice, 1, "python")
    for slugs in (["python", "redis"], ["redis"]):
        suggested(article, friends[1:], *slugs)
    assert {*site_store.articles.get(article).groups} == {"python", "redis"}


@pytest.mark.parametrize("way", ["an accepted suggestion", "a merged group", "taking out"])
def test_a_moderator_of_a_group_gets_no_hold_of_an_article_in_steps(site_store, friends, alice, bob, carol, way):
    both = way == "taking out"
    article = posted(site_store, alice, 1, *(["python", "redis"] if both else ["python"] if way[0] != "a" else []))
    with_token(bob).put(f"articles/{article}/flag", {"reason": "against-rules", "words": "For moderators alone"})
    mallory = with_token(friends[0])
    match way:
        case "an accepted suggestion":
            suggested(article, friends[:1], "redis")
            (waits,) = with_token(alice).get(f"articles/{article}/suggestions").json()["suggestions"]
            with_token(alice).put(f"articles/{article}/suggestions/{waits['id']}", {"accepted": True})
        case "a merged group":
            site_store.groups.create("old", "Old", actor(carol))
            suggested(article, friends[:2], "old")
            site_store.groups.merge("old", "redis", actor(carol))
        case _:
            suggested(article, friends[:2], "redis")
            assert mallory.put(f"articles/{article}/groups", {"groups": [], **WHY}).status_code == 403
    assert site_store.articles.get(article).groups == ("redis",)

    assert error_of(mallory.put(f"articles/{article}/removed", {"removed": True, **WHY})) == (403, "forbidden")
    assert mallory.get("queue").json()["entries"] == []
    assert "For moderators alone" not in browser_of(friends[0]).get("/moderation/queue/").text


def test_a_ban_from_a_group_neither_follows_an_article_there_nor_is_evaded(site_store, friends, alice):
    article, other = posted(site_store, alice, 1, "python"), posted(site_store, alice, 2, "python")
    suggested(other, friends[1:], "python", "redis")
    with_token(friends[0]).put("groups/redis/bans/alice", {"banned": True, "days": 7, **WHY})
    banned = with_token(User.objects.get(pk=alice.pk))

    assert banned.post(f"articles/{other}/log/undo", {}).json()["groups"] == ["python"]
    suggested(article, friends[1:], "python", "redis")
    (waits,) = banned.get(f"articles/{article}/suggestions").json()["suggestions"]
    answer = banned.put(f"articles/{article}/suggestions/{waits['id']}", {"accepted": True})
    assert error_of(answer) == (403, "banned")
    assert site_store.articles.get(article).groups == ("python",)


@pytest.mark.parametrize("way", ["edit", "suggestion", "quorum", "undo", "undo what a moderator accepted"])
def test_a_poster_and_friends_do_not_reverse_what_moderators_decide(site_store, friends, alice, carol, way):
    article, poster, moderator = (
        posted(site_store, alice, 1, "python", "redis"),
        with_token(alice),
        with_token(carol),
    )
    path = f"articles/{article}/suggestions"
    if way == "undo":
        suggested(article, friends[1:], "redis")
        assert poster.post(f"articles/{article}/log/undo", {}).status_code == 200
    if way == "undo what a moderator accepted":
        suggested(article, friends[1:2], "redis")
        (waits,) = moderator.get(path).json()["suggestions"]
        moderator.put(f"{path}/{waits['id']}", {"accepted": True})
    else:
        moderator.put(f"articles/{article}/groups", {"groups": ["redis"], **WHY})
    match way:
        case "edit":
            answer = poster.patch(f"articles/{article}", {"groups": ["python", "redis"]})
            assert error_of(answer) == (409, "groups-decided")
        case "suggestion":
            suggested(article, friends[1:2], "python", "redis")
            (waits,) = poster.get(path).json()["suggestions"]
            assert error_of(poster.put(f"{path}/{waits['id']}", {"accepted": True})) == (409, "groups-decided")
        case "quorum":
            suggested(article, friends[1:], "python", "redis")
        case _:
            assert error_of(poster.post(f"articles/{article}/log/undo", {})) == (404, "suggestion-not-found")
    assert site_store.articles.get(article).groups == ("redis",)


def test_a_poster_does_not_undo_a_moderators_title(site_store, friends, alice, carol):
    article = posted(site_store, alice, 1, "python")
    for one in friends[1:]:
        with_token(one).post(f"articles/{article}/suggestions", {"title": "Better"})
    undo = f"articles/{article}/log/undo"
    assert with_token(alice).post(undo, {}).json()["title"] == "Article 1"
    with_token(carol).patch(f"articles/{article}", {"title": "Better", **WHY})
    assert error_of(with_token(alice).post(undo, {})) == (404, "suggestion-not-found")
    assert site_store.articles.get(article).title == "Better"


def test_what_a_moderator_of_the_site_puts_into_a_group_its_moderators_decide(site_store, friends, alice, carol):
    article = posted(site_store, alice, 1)
    suggested(article, friends[:2], "redis")
    for slugs in ([], ["redis"]):
        with_token(carol).put(f"articles/{article}/groups", {"groups": slugs, **WHY})

    assert browser_of(friends[0]).post(f"/articles/{article}/remove/", WHY).status_code == 302
    assert site_store.articles.get(article).removed == "Because"

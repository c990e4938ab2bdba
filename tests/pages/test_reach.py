"""Nobody decides about an article that they brought into reach, and few change whether everyone sees it."""

import random

import pytest

from accounts.models import GroupModerator, ModeratorRule, User
from articles.domain.errors import DuplicateLink, MergeAcrossReaders, ReadersWouldChange
from articles.web.groups import set_visibility
from articles.web.rules import acting
from articles.web.rules.matching import Definition, Rule, RuleAct, Subject
from moderation import merges
from tests.caller import error_of, with_token
from tests.factories import actor, browser_of, comment_on, member, post_as

WHY = {"reason": "Because"}


@pytest.fixture
def groups(site_store, carol, settings, tmp_path, django_capture_on_commit_callbacks):
    """The groups python and redis, and inner, which is for members only."""
    settings.DATA_DIR = tmp_path
    for slug in ("python", "redis", "inner"):
        site_store.groups.create(slug, slug.title(), actor(carol))
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("inner", actor(carol), "Private", is_closed=True)


@pytest.fixture
def friends(groups, settings) -> list[User]:
    """Three members who are no longer new; the first moderates redis."""
    found = [member(name) for name in ("mallory", "peggy", "trudy")]
    for one in found:
        one.trust()
    GroupModerator.objects.set(found[0], "redis", by=None, is_current=True)
    return [User.objects.get(pk=one.pk) for one in found]


def posted(store, poster, number: int, *slugs: str) -> int:
    return post_as(store, poster, f"Article {number}", f"https://example.org/{number}", slugs).id


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


@pytest.mark.parametrize("way", ["a rule", "an accepted suggestion", "a merged group", "taking out"])
def test_a_moderator_of_a_group_gets_no_hold_of_an_article_in_steps(site_store, friends, alice, bob, carol, way):
    both = way == "taking out"
    article = posted(site_store, alice, 1, *(["python", "redis"] if both else ["python"] if way[0] != "a" else []))
    with_token(bob).put(f"articles/{article}/flag", {"reason": "against-rules", "words": "For moderators alone"})
    mallory = with_token(friends[0])
    match way:
        case "a rule":
            row = ModeratorRule.objects.create(name="Mine", version=1, is_on=True)
            wanted = Definition(Subject.REPORT, RuleAct.JOIN, group="redis", sentence="Because")
            row.versions.create(number=1, definition=wanted.plain)
            assert acting._change(article, Rule("Mine", wanted), is_new=False)
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


def test_two_edits_at_once_do_not_open_an_article(site_store, groups, alice, bob):
    """Each of them leaves it in a group for members, as its request reads the article."""
    article = posted(site_store, alice, 1, "inner", "python")
    comment_on(site_store, article, "For members", bob.pk)
    facts = {"moderator": False, "closed": ["inner", "python"]}
    site_store.articles.edit(article, actor(alice), "T", "https://example.org/1", leave=["inner"], **facts)
    with pytest.raises(ReadersWouldChange):
        site_store.articles.edit(article, actor(alice), "T", "https://example.org/1", leave=["python"], **facts)
    assert site_store.articles.get(article).groups == ("python",)


def test_what_a_moderator_of_the_site_puts_into_a_group_its_moderators_decide(site_store, friends, alice, carol):
    article = posted(site_store, alice, 1)
    suggested(article, friends[:2], "redis")
    for slugs in ([], ["redis"]):
        with_token(carol).put(f"articles/{article}/groups", {"groups": slugs, **WHY})

    assert browser_of(friends[0]).post(f"/articles/{article}/remove/", WHY).status_code == 302
    assert site_store.articles.get(article).removed == "Because"


def test_a_moderator_moves_the_own_article_but_not_others_comments_into_reach(site_store, friends, alice):
    article = posted(site_store, friends[0], 1, "python")
    comment = comment_on(site_store, article, "A comment", alice.pk)
    caller = with_token(friends[0])
    assert caller.patch(f"articles/{article}", {"groups": ["redis"]}).status_code == 200

    answer = caller.put(f"comments/{comment}/removed", {"removed": True, **WHY})

    assert error_of(answer) == (403, "forbidden")


@pytest.mark.parametrize(("before", "to"), [("inner", "python"), ("python", "inner")])
def test_a_poster_changes_who_reads_until_there_are_comments(site_store, groups, alice, bob, carol, before, to):
    article, other = posted(site_store, alice, 1, before), posted(site_store, alice, 2, before)
    caller = with_token(alice)
    assert caller.patch(f"articles/{other}", {"groups": [to]}).status_code == 200
    comment_on(site_store, article, "For these readers", bob.pk)

    refused = caller.patch(f"articles/{article}", {"groups": [to]})
    page = browser_of(alice).post(
        f"/articles/{article}/edit/", {"title": "T", "link": "https://example.org/1", "groups": [to]}
    )

    assert error_of(refused) == (409, "readers-would-change")
    assert (page.status_code, "Only a moderator" in page.text) == (400, True)
    assert site_store.articles.get(article).groups == (before,)
    assert with_token(carol).put(f"articles/{article}/groups", {"groups": [to], **WHY}).status_code == 200


def test_a_merge_and_a_moderator_of_a_group_do_not_change_who_reads(site_store, friends, alice, carol):
    inside, outside = posted(site_store, alice, 1, "inner"), posted(site_store, alice, 2, "redis")
    both = posted(site_store, alice, 3, "inner", "redis")
    for pair in ((inside, outside), (outside, inside)):
        with pytest.raises(MergeAcrossReaders):
            merges.merge(*pair, actor(carol), "One story")
    GroupModerator.objects.set(friends[1], "inner", by=None, is_current=True)
    browser, caller = browser_of(friends[1]), with_token(friends[1])

    assert error_of(caller.put(f"articles/{both}/groups", {"groups": ["redis"], **WHY})) == (
        409, "readers-would-change",
    )  # fmt: skip
    assert "Only a moderator" in browser.post(f"/articles/{both}/groups/", {"groups": ["inner"], **WHY}).text
    assert site_store.articles.get(both).groups == ("inner", "redis")


@pytest.mark.parametrize(
    ("act", "before", "group"), [(RuleAct.JOIN, ["python"], "inner"), (RuleAct.LEAVE, ["python"], "python")]
)
def test_a_report_does_not_let_a_rule_change_who_reads(site_store, groups, alice, act, before, group):
    article = posted(site_store, alice, 1, *before)
    rule = Rule("A rule", Definition(Subject.REPORT, act, group=group, sentence="Because"))

    assert not acting._change(article, rule, is_new=False)
    assert site_store.articles.get(article).groups == tuple(before)


@pytest.mark.parametrize("seed", range(2))
def test_members_and_moderators_of_one_group_never_take_over_an_article(site_store, friends, alice, bob, seed):
    """Acts at random: alice's articles keep their readers and one of their groups, and none is removed."""
    dice, callers = random.Random(seed), [with_token(one) for one in friends]
    before = {}
    for number, slugs in enumerate(([], ["python"], ["inner"], ["python", "inner"])):
        article = posted(site_store, alice, number, *slugs)
        comment_on(site_store, article, "A comment", bob.pk)
        before[article] = {*slugs}

    for _ in range(40):
        caller, article = dice.choice(callers), dice.choice([*before])
        slugs = dice.sample(["python", "redis", "inner"], dice.randrange(3))
        match dice.randrange(6):
            case 0 | 1:
                caller.post(f"articles/{article}/suggestions", {"groups": slugs})
            case 2:
                caller.put(f"articles/{article}/removed", {"removed": True, **WHY})
            case 3:
                caller.put(f"articles/{article}/groups", {"groups": slugs, **WHY})
            case 4:
                caller.post(f"articles/{article}/log/undo", {})
            case 5:
                caller.patch(f"articles/{article}", {"groups": slugs})
        for number, was in before.items():
            found = site_store.articles.get(number)
            assert found.removed is None
            assert ("inner" in found.groups) == ("inner" in was)
            assert found.groups or not was


@pytest.mark.parametrize("way", ["page", "api", "store"])
def test_an_article_is_not_restored_beside_a_newer_one_of_its_link(site_store, groups, alice, bob, carol, way):
    article = posted(site_store, alice, 1, "python")
    site_store.articles.withdraw(article, actor(alice))
    newer = posted(site_store, bob, 1, "python")
    match way:
        case "page":
            page = browser_of(carol).post(f"/articles/{article}/restore/", WHY, follow=True)
            assert page.redirect_chain == [(f"/articles/{newer}/", 302)]
            assert "Another article with this link was posted recently." in page.text
        case "api":
            answer = with_token(carol).put(f"articles/{article}/removed", {"removed": False, **WHY})
            assert error_of(answer) == (409, "duplicate-link")
            assert answer.json()["error"]["article_id"] == newer
        case _:
            with pytest.raises(DuplicateLink):
                site_store.articles.restore(article, actor(carol), "An appeal")
    assert site_store.articles.get(article).removed is not None

    site_store.articles.withdraw(newer, actor(bob))
    site_store.articles.restore(article, actor(carol), "The other one is gone")
    assert site_store.articles.find_by_link("https://example.org/1").id == article

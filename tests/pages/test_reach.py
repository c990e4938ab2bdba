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


def test_a_moderator_of_a_group_gets_no_hold_of_an_article_by_a_rule(site_store, friends, alice, bob):
    article = posted(site_store, alice, 1)
    with_token(bob).put(f"articles/{article}/flag", {"reason": "against-rules", "words": "For moderators alone"})
    row = ModeratorRule.objects.create(name="Mine", version=1, is_on=True)
    wanted = Definition(Subject.REPORT, RuleAct.JOIN, group="redis", sentence="Because")
    row.versions.create(number=1, definition=wanted.plain)
    assert acting._change(article, Rule("Mine", wanted), is_new=False)
    assert site_store.articles.get(article).groups == ("redis",)

    mallory = with_token(friends[0])
    assert error_of(mallory.put(f"articles/{article}/removed", {"removed": True, **WHY})) == (403, "forbidden")
    assert mallory.get("queue").json()["entries"] == []
    assert "For moderators alone" not in browser_of(friends[0]).get("/moderation/queue/").text


def test_two_edits_at_once_do_not_open_an_article(site_store, groups, alice, bob):
    """Each of them leaves it in a group for members, as its request reads the article."""
    article = posted(site_store, alice, 1, "inner", "python")
    comment_on(site_store, article, "For members", bob.pk)
    facts = {"moderator": False, "closed": ["inner", "python"]}
    site_store.articles.edit(article, actor(alice), "T", "https://example.org/1", leave=["inner"], **facts)
    with pytest.raises(ReadersWouldChange):
        site_store.articles.edit(article, actor(alice), "T", "https://example.org/1", leave=["python"], **facts)
    assert site_store.articles.get(article).groups == ("python",)


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

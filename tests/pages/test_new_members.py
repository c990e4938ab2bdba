"""Limits of new members: whom they apply to, until when, and what a refusal says."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from articles.domain.limits import Rate
from articles.web import wiring
from tests.factories import browser_of, comment_on, post, vote_by_trusted
from tests.internals import Limits, Members, failing

USES = 2
DAY = 86400


@pytest.fixture(autouse=True)
def _limited(limits, limits_clock) -> None:
    """Limit new members to two uses."""
    limits(**dict.fromkeys(("votes_new", "posts_new", "comments_new"), Rate(USES, DAY)))


def grow_older(user: User, days: float = 3.1) -> None:
    User.objects.filter(pk=user.pk).update(date_joined=timezone.now() - timedelta(days=days))


def give_points(user: User, points: int) -> None:
    """Let the member post an article, and others give it points."""
    vote_by_trusted(wiring.repository(), post(wiring.repository(), 900 + user.pk, poster=user.pk), points)


def is_limited(user: User) -> bool:
    """Return whether the member can post fewer articles than others."""
    fields = [{"title": f"{user} {n}", "link": f"https://example.org/{user}/{n}"} for n in range(USES + 1)]
    *_, last = (browser_of(user).post("/post/", one).status_code for one in fields)
    return last == 429


def test_a_new_members_posts_are_limited_and_the_form_says_until_when(bob):
    browser = browser_of(bob)
    for number in range(USES + 1):
        fields = {"title": f"My long title {number}", "link": f"https://example.org/{number}"}
        response = browser.post("/post/", fields)

    assert (response.status_code, response["Retry-After"]) == (429, str(DAY // USES))
    assert 'value="My long title 2"' in response.text
    assert (
        "New members can post 2 articles in 1 day. You are a new member until your account is 3 days old and "
        "your recent articles have 5 points from members who are no longer new, among them a moderator or three "
        "who are unrelated. Try again in 12 hours."
    ) in response.text


def test_comments_are_limited_too_and_in_the_readers_language(article, bob):
    browser = browser_of(bob)
    for number in range(USES + 1):
        response = browser.post(
            f"/articles/{article}/comments/", {"text": f"Text {number}"}, headers={"accept-language": "zh-Hans"}
        )

    assert response.status_code == 429
    assert (
        "新成员在 1 天内最多可发表 2 条评论。在你注册满 3 天，且你近期的文章从非新成员处获得 5 分"
        "（其中须有一位版主，或三位互不相关的成员）之前，你都算新成员。请在 12 小时后重试。"
    ) in response.text


def test_votes_on_articles_and_on_comments_share_a_limit(site_store, article, alice, bob):
    comment, browser = comment_on(site_store, article, "A comment", alice.pk), browser_of(bob)
    paths = [f"/comments/{comment}/vote/", f"/articles/{article}/vote/", f"/comments/{comment}/vote/"]
    answers = [browser.post(path, {"choice": "vote"}).status_code for path in [*paths, paths[1]]]

    assert answers == [302] * USES + [429] * 2
    assert site_store.comments.get(comment).votes == 1


def test_members_are_new_while_they_are_young_or_have_few_points(alice, bob, mallory, settings):
    give_points(alice, 5)
    assert is_limited(alice), "young"
    grow_older(bob)
    give_points(bob, 4)
    assert is_limited(bob), "one point is lacking"

    settings.NEW_MEMBER_POINTS = 0
    wiring.forget_repositories()
    grow_older(mallory, 2.9)
    assert is_limited(mallory)
    grow_older(mallory)
    assert not is_limited(mallory)


def test_neither_moderators_nor_members_of_a_site_without_these_rules_are_new(carol, mallory, settings):
    assert not is_limited(carol)
    settings.NEW_MEMBER_DAYS = settings.NEW_MEMBER_POINTS = 0
    wiring.forget_repositories()

    assert not is_limited(mallory)


def test_a_member_with_the_points_is_trusted_for_good_and_costs_nothing(article, bob):
    grow_older(bob)
    browser = browser_of(bob)
    give_points(bob, 5)
    for _ in range(USES + 1):
        assert browser.post(f"/articles/{article}/vote/", {"choice": "vote"}).status_code == 302
    assert User.objects.get(pk=bob.pk).trusted_at is not None

    with failing(Members, "get_points", AssertionError("points are read")):
        with failing(Limits, "take", AssertionError("a limit is taken")):
            assert browser.post(f"/articles/{article}/vote/", {"choice": "none"}).status_code == 302
        assert not is_limited(bob)

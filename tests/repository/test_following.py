"""The page of followed groups: each group has its share, and pages hold every article once."""

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.lists import MOST_FOLLOWED_PAGED
from articles.domain.ranking import LAG_SECONDS, LEAST_SPREAD_SECONDS, SHARE, followed_place
from articles.text.searching import Hiding
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import DAY
from tests.factories import post
from tests.store_state import problems

GROUPS = ("busy", "quiet", "old", "empty")


@pytest.fixture
def groups(repository, clock) -> dict[str, list[int]]:
    """Ids by group, best first: an article in half an hour, one in a day, and 3 that are two months old."""
    ids: dict[str, list[int]] = {slug: [] for slug in GROUPS}
    for slug in GROUPS:
        repository.groups.create(slug, slug.title(), MODERATOR)

    def add(slug):
        ids[slug].insert(0, post(repository, sum(map(len, ids.values())), (slug,)))

    for _ in range(3):
        add("old")
        clock.advance(DAY)
    clock.advance(60 * DAY)
    for day in range(15):
        for _ in range(4):
            clock.advance(1800)
            add("busy")
        clock.advance(DAY - 7200)
        add("quiet")
        assert day < 15
    return ids


def page_of(repository, number=1, slugs=GROUPS, **how):
    return [article.id for article in repository.following.get_page(slugs, number, **how).articles]


def test_each_group_has_its_share_whatever_its_pace(repository, groups):
    first = page_of(repository, size=20)

    assert (first[0], first[1]) == (groups["quiet"][0], groups["busy"][0])
    assert sum(one in groups["quiet"] for one in first) == sum(one in groups["busy"] for one in first) == 10
    assert [one for one in first if one in groups["busy"]] == groups["busy"][:10]
    rest = [one for number in (2, 3, 4) for one in page_of(repository, number, size=20)]
    assert [one for one in rest if one in groups["old"]] == groups["old"], "two and a half shares behind"
    assert rest.index(groups["old"][0]) > rest.index(groups["quiet"][-1])
    assert rest.index(groups["old"][0]) > rest.index(groups["busy"][20])


def test_pages_hold_every_article_once_without_hidden_and_removed_ones(repository, groups):
    both = post(repository, 900, ("busy", "quiet"))
    repository.groups.assign(groups["busy"][3], ["old"], actor=MODERATOR, reason="It is")
    repository.articles.remove(groups["busy"][5], MODERATOR, "Spam")
    wanted = {both, *groups["busy"], *groups["quiet"]} - {groups["busy"][5], groups["busy"][3]}
    found, number, more = [], 1, True
    while more:
        page = repository.following.get_page(("busy", "quiet"), number, size=7, hidden=Hiding(("old", "busy")))
        found += [article.id for article in page.articles]
        number, more = number + 1, page.has_next

    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert problems(repository) == []


def test_a_page_has_the_readers_choices_and_ends(repository, groups):
    repository.votes.cast(groups["quiet"][0], BOB, Choice.OPPOSE)

    (first, *_) = repository.following.get_page(("quiet",), reader=BOB).articles

    assert first.choice is Choice.OPPOSE
    assert page_of(repository, slugs=()) == page_of(repository, slugs=("nope", "empty")) == []
    with pytest.raises(PageNotFound):
        repository.following.get_page(("quiet",), 2)
    with pytest.raises(PageNotFound):
        repository.following.get_page(GROUPS, 0)
    with pytest.raises(PageTooDeep):
        repository.following.get_page(GROUPS, MOST_FOLLOWED_PAGED // 25 + 1)
    assert repository.following.get_page(GROUPS, reader=ALICE, size=MOST_FOLLOWED_PAGED).has_next is False


def test_the_formula_measures_each_group_by_its_own_best():
    def place(score, best, last, leading=0.0):
        return followed_place(score, best=best, last=last, leading=leading)

    assert place(0.0, 0.0, -100.0 * DAY) == place(0.0, 0.0, 0.0) == 0
    assert place(-DAY, 0.0, -DAY) == place(-30.0 * DAY, 0.0, -30.0 * DAY) == 1
    assert place(-LEAST_SPREAD_SECONDS, 0.0, 0.0) == 1
    assert place(-float(LAG_SECONDS), -float(LAG_SECONDS), -float(LAG_SECONDS)) == 1
    assert SHARE > 1

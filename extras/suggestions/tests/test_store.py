"""Suggestions of another title or other groups: who supports them, when they apply, and who decides."""

from functools import partial

import pytest

from articles.domain.errors import (
    AccountDeleted,
    ArticleNotFound,
    ArticleRemoved,
)
from articles.domain.lists import Order
from articles.domain.moderation_log import Action
from extras.suggestions.store import Suggestions
from extras.suggestions.suggestions import (
    MOST_SUGGESTIONS,
    SUGGESTION_SECONDS,
    OwnArticle,
    SuggestionClosed,
    SuggestionKind,
    SuggestionNotFound,
    SuggestionsFull,
    SuggestionUnchanged,
)
from tests.cases import for_each
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.factories import post
from tests.repository.racing import race
from tests.repository.usage import listed
from tests.store_state import change_article, problems

TITLE, GROUPS = SuggestionKind


class OfTests(Suggestions):
    """Two supporters apply a suggestion."""

    def support(self, *arguments, quorum=2, **facts):
        return super().support(*arguments, quorum=quorum, **facts)


def of(repository):
    return OfTests(repository.store)


@pytest.fixture
def article(repository):
    """An article by alice, in python."""
    for slug in ("python", "redis", "java"):
        repository.groups.create(slug, slug.title())
    return post(repository, 1, ("python",))


def opened(repository, article):
    """Return what is suggested for an article, with who supports it."""
    found = of(repository).list_open(repository.articles.get(article, with_html=True))
    return {one.to: set(one.by) for one in found}


def only(repository, article):
    (one,) = of(repository).list_open(repository.articles.get(article, with_html=True))
    return one


def log_of(repository, article):
    return [
        (one.action, one.actor_name, one.title)
        for one in repository.moderation_log.get_for_article(article).entries
    ]


def test_the_quorum_applies_a_title_as_the_site_and_logs_it_once(repository, article):
    suggestions = of(repository)

    assert not suggestions.support(article, BOB, TITLE, "Better")
    assert not suggestions.support(article, BOB, TITLE, "Better"), "a member counts once"
    assert opened(repository, article) == {"Better": {BOB}}
    assert suggestions.support(article, CAROL, TITLE, "Better")

    assert repository.articles.get(article).title == "Better"
    assert opened(repository, article) == {}
    entry, *more = repository.moderation_log.get_for_article(article).entries
    assert (entry.action, entry.actor_name, entry.title, more) == (Action.APPLY_SUGGESTION, "*", "Better", [])
    assert entry.details == {"old_title": "Article 1", "supporters": "2"}
    assert problems(repository) == []


def test_the_quorum_applies_groups_with_all_their_lists(repository, article):
    repository.groups.assign(article, ["go"])
    for member in (BOB, CAROL):
        of(repository).support(article, member, GROUPS, "go,java")

    assert repository.articles.get(article).groups == ("go", "java")
    assert [listed(repository, Order.TIME, slug) for slug in ("python", "java")] == [[], [article]]
    (entry,) = repository.moderation_log.get_for_article(article).entries
    assert entry.details == {"added": "java", "removed": "python", "supporters": "2"}
    assert problems(repository) == []


def test_groups_that_were_merged_meanwhile_are_replaced_by_their_target(repository, article):
    of(repository).support(article, BOB, GROUPS, "java,python")
    repository.groups.merge("java", "redis", MODERATOR)

    assert of(repository).support(article, CAROL, GROUPS, "java,python")

    assert repository.articles.get(article).groups == ("python", "redis")
    assert problems(repository) == []


def test_two_who_complete_the_quorum_at_once_apply_it_once(repository, article):
    of(repository).support(article, BOB, TITLE, "Better")

    jobs = [partial(of(repository).support, article, member, TITLE, "Better") for member in range(70, 78)]
    outcomes = race(repository, jobs)

    assert [one for one in outcomes if one is True] == [True]
    assert all(isinstance(one, SuggestionClosed) for one in outcomes if one is not True)
    assert len(log_of(repository, article)) == 1


def test_a_member_supports_one_suggestion_of_each_kind(repository, article):
    for to in ("First", "Second"):
        of(repository).support(article, BOB, TITLE, to)
    of(repository).support(article, BOB, GROUPS, "redis")

    assert opened(repository, article) == {"Second": {BOB}, "redis": {BOB}}


def test_support_can_be_taken_back(repository, article):
    of(repository).support(article, BOB, TITLE, "Better")
    name = only(repository, article).id

    for _ in range(2):
        of(repository).take_back(article, BOB, name)

    assert opened(repository, article) == {}
    assert not of(repository).support(article, CAROL, TITLE, "Better")


def test_an_article_has_a_limited_number_of_suggestions(repository, article):
    for number in range(MOST_SUGGESTIONS):
        of(repository).support(article, 100 + number, TITLE, f"Title {number}")

    with pytest.raises(SuggestionsFull):
        of(repository).support(article, BOB, GROUPS, "redis")
    assert of(repository).support(article, BOB, TITLE, "Title 0")


@pytest.mark.parametrize("accepted", [True, False])
def test_a_decision_ends_a_suggestion_which_cannot_be_made_again_for_a_week(repository, article, clock, accepted):
    of(repository).support(article, BOB, TITLE, "Better")
    one = only(repository, article)

    of(repository).decide(article, MODERATOR, one, accepted=accepted)

    assert repository.articles.get(article).title == ("Better" if accepted else "Article 1")
    acts = [(Action.APPLY_SUGGESTION, MODERATOR.name, "Better")] if accepted else []
    assert log_of(repository, article) == acts
    with pytest.raises(SuggestionNotFound):
        of(repository).decide(article, MODERATOR, one, accepted=True)
    repository.articles.edit(article, MODERATOR, "Other", "https://example.org/1", moderator=True)
    with pytest.raises(SuggestionClosed):
        of(repository).support(article, CAROL, TITLE, "Better")
    clock.advance(SUGGESTION_SECONDS + 1)
    assert not of(repository).support(article, CAROL, TITLE, "Better")


def test_a_suggestion_is_void_once_what_it_changes_has_changed(repository, article):
    of(repository).support(article, BOB, TITLE, "Better")
    of(repository).support(article, BOB, GROUPS, "redis")
    voided = of(repository).list_open(repository.articles.get(article, with_html=True))

    repository.articles.edit(article, MODERATOR, "Other", "https://example.org/1", moderator=True)
    repository.groups.assign(article, ["java"], actor=MODERATOR)

    assert opened(repository, article) == {}
    for one in voided:
        with pytest.raises(SuggestionNotFound):
            of(repository).decide(article, MODERATOR, one, accepted=True)
    assert not of(repository).support(article, CAROL, TITLE, "Better"), "bob's support is void"
    assert opened(repository, article) == {"Better": {CAROL}}


def test_a_suggestion_is_open_for_a_week(repository, article, clock):
    of(repository).support(article, BOB, TITLE, "Better")
    clock.advance(SUGGESTION_SECONDS + 1)

    assert opened(repository, article) == {}
    assert not of(repository).support(article, CAROL, TITLE, "Better")
    assert opened(repository, article) == {"Better": {CAROL}}


@pytest.mark.parametrize(
    ("member", "kind", "to", "error"),
    [
        (ALICE, TITLE, "Better", OwnArticle),
        (BOB, TITLE, "Article 1", SuggestionUnchanged),
        (BOB, GROUPS, "python", SuggestionUnchanged),
    ],
)
def test_a_suggestion_is_refused(repository, article, member, kind, to, error):
    with pytest.raises(error):
        of(repository).support(article, member, kind, to)
    assert opened(repository, article) == {}


def test_a_removed_or_unknown_article_and_a_deleted_member_have_none(repository, article):
    of(repository).support(article, BOB, TITLE, "Better")
    one = only(repository, article)
    repository.account_deletion.advance(CAROL, "carol", "", lambda: True)
    with pytest.raises(AccountDeleted):
        of(repository).support(article, CAROL, TITLE, "Better")
    repository.articles.remove(article, MODERATOR, "spam")
    for number, error in ((article, ArticleRemoved), (article + 1, ArticleNotFound)):
        with pytest.raises(error):
            of(repository).support(number, MALLORY, TITLE, "Better")
        with pytest.raises(error):
            of(repository).decide(number, MODERATOR, one, accepted=True)


def test_the_support_of_a_member_is_withdrawn(repository, article):
    other = post(repository, 2)
    for member in (BOB, CAROL):
        of(repository).support(article, member, TITLE, f"By {member}")
    of(repository).support(other, BOB, TITLE, "Better")

    of(repository).withdraw(BOB)

    assert (opened(repository, article), opened(repository, other)) == ({f"By {CAROL}": {CAROL}}, {})
    assert [*of(repository).iterate_by(BOB)] == []
    assert problems(repository) == []


def test_the_poster_is_notified_of_a_suggestion_and_of_its_application(repository, article, clock):
    for member in (BOB, CAROL):
        of(repository).support(article, member, TITLE, "Better")
        clock.advance(1)

    notices = repository.inbox.get_page(ALICE).notices
    found = [(one.kind, one.entry and one.entry.action) for one in notices]
    assert found == [("moderation", Action.APPLY_SUGGESTION), ("suggestion", None)]


DAMAGED = ["", "[", "{}", "[1]", '[{"id":1}]', "[" * 5000, '[{"id":"a","at":"1","by":[1],"to":"x"}]', "null"]


@for_each("text", DAMAGED)
def test_a_damaged_field_counts_as_no_suggestions(repository, article, text):
    change_article(repository, article, {"suggestions": text})

    assert opened(repository, article) == {}
    assert not of(repository).support(article, BOB, TITLE, "Better")
    assert opened(repository, article) == {"Better": {BOB}}
    change_article(repository, article, {"suggestions": text})
    of(repository).withdraw(BOB)


def test_members_whose_votes_are_left_out_of_ranking_apply_nothing(repository, article):
    list(repository.left_out.leave_out(MALLORY, "mallory", MODERATOR, "A ring"))
    for member in (MALLORY, BOB):
        assert not of(repository).support(article, member, TITLE, "Better")

    assert of(repository).support(article, CAROL, TITLE, "Better")

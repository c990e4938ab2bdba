"""Voting rings: new accounts of one network on one article, as the store notes and flags them."""

import pytest

from articles.domain.articles import Choice, VotingRing
from articles.domain.errors import PageNotFound, VotingClosed
from articles.domain.moderation_log import Action
from tests.cast import ALICE, MODERATOR
from tests.clock import DAY
from tests.factories import comment_on, post
from tests.rules import connect, default_rules
from tests.store_state import problems

HOME, OFFICE = "a" * 16, "b" * 16  # two networks
MINUTE = 60


def choose(repository, article, members, network=HOME, choice=Choice.VOTE):
    """Let new accounts choose; return the sizes of the rings that they completed."""
    tallies = [repository.votes.cast(article, member, choice, network) for member in members]
    return [tally.ring_accounts for tally in tallies if tally.ring_accounts]


def ring_of(repository, article):
    return repository.articles.get(article).ring


def flagged(repository):
    return [article.id for article in repository.voting_rings.get_page().articles]


def check(repository, article):
    repository.voting_rings.check(article, ring_of(repository, article).last_at, MODERATOR)


def test_twenty_new_accounts_of_one_network_flag_the_article_once(repository, article, clock):
    began = clock()
    completed = []
    for member in range(100, 120):
        completed += choose(repository, article, [member])
        clock.advance(3)

    assert completed == [10]
    assert ring_of(repository, article) == VotingRing(20, began, began + 57)
    assert flagged(repository) == [article]
    assert repository.voting_rings.count() == 1
    assert repository.articles.get(article).votes == 21, "they count"
    assert problems(repository) == []


def test_nine_new_accounts_are_none(repository, article):
    assert choose(repository, article, range(100, 109)) == []

    assert ring_of(repository, article) is None
    assert flagged(repository) == []
    assert repository.voting_rings.count() == 0


def test_a_member_who_votes_often_is_one_account(repository, article):
    for choice in (Choice.VOTE, Choice.NONE, Choice.OPPOSE, Choice.VOTE, Choice.VOTE):
        choose(repository, article, range(100, 109), choice=choice)

    assert ring_of(repository, article) is None


def test_choices_without_a_network_that_change_nothing_or_take_a_vote_back_are_not_noted(repository, article):
    assert choose(repository, article, range(100, 120), network="") == []
    assert choose(repository, article, range(100, 120)) == []
    assert choose(repository, article, range(100, 120), choice=Choice.NONE) == []

    assert ring_of(repository, article) is None


def test_networks_and_articles_are_counted_apart(repository, article):
    other = post(repository, 2)
    for network in (HOME, OFFICE):
        choose(repository, article, range(100, 109), network)
    choose(repository, other, range(200, 209))

    assert flagged(repository) == []


# Votes on comments


@pytest.fixture
def comments(repository, article):
    return [comment_on(repository, article, text, ALICE) for text in ("First", "Second")]


def choose_on(repository, comment, members, network=HOME, choice=Choice.VOTE):
    """Let new accounts choose on a comment; return the sizes of the rings that they completed."""
    tallies = [repository.comments.cast(comment, member, choice, network) for member in members]
    return [tally.ring_accounts for tally in tallies if tally.ring_accounts]


def test_new_accounts_that_vote_on_an_article_or_its_comments_flag_it(repository, article, comments, clock):
    began = clock()
    first, second = comments
    completed = choose_on(repository, first, range(100, 104))
    clock.advance(1)
    completed += choose(repository, article, range(100, 107))  # four of them again
    completed += choose_on(repository, second, range(104, 110), choice=Choice.OPPOSE)

    assert completed == [10]
    assert ring_of(repository, article) == VotingRing(10, began, began + 1, second)
    assert flagged(repository) == [article]
    assert repository.comments.get(second).opposes == 6, "they count"
    clock.advance(1)
    assert choose(repository, article, [110]) == []
    assert ring_of(repository, article) == VotingRing(11, began, began + 2, second), "it is still known"
    assert problems(repository) == []
    check(repository, article)
    assert choose_on(repository, first, range(100, 109), choice=Choice.NONE) == []
    assert ring_of(repository, article) is None


def test_the_largest_network_is_shown(repository, article, clock):
    choose(repository, article, range(100, 112))
    clock.advance(MINUTE)
    began = ring_of(repository, article).first_at
    choose(repository, article, range(200, 211), OFFICE)

    assert ring_of(repository, article) == VotingRing(12, began, clock())


@pytest.mark.parametrize(("late", "completed"), [(0, [10]), (0.001, [])])
def test_accounts_that_vote_or_oppose_within_an_hour_make_a_ring(repository, article, clock, late, completed):
    choose(repository, article, range(100, 109))
    clock.advance(60 * MINUTE + late)

    assert choose(repository, article, [109], choice=Choice.OPPOSE) == completed


def test_accounts_that_vote_slowly_around_an_hour_are_seen_in_any_hour(repository, article, clock):
    completed = []
    for member in range(100, 112):
        clock.advance(20 * MINUTE if member < 103 else 5 * MINUTE)
        completed += choose(repository, article, [member])

    assert completed == [10]


def test_what_is_noted_of_accounts_expires(repository, article):
    choose(repository, article, [100])
    name = repository.store.shards.of(article).ring(article, HOME)

    assert 3500 < repository.store.client.ttl(name) <= 3600


def test_an_article_that_was_checked_is_flagged_again_after_ten_more_accounts(repository, article, clock):
    choose(repository, article, range(100, 120))
    check(repository, article)
    assert (ring_of(repository, article), flagged(repository)) == (None, [])

    clock.advance(1)
    again = clock()
    assert choose(repository, article, range(200, 209)) == []
    assert choose(repository, article, range(300, 309), OFFICE) == []
    assert ring_of(repository, article) is None

    assert choose(repository, article, [209]) == [10]
    assert ring_of(repository, article) == VotingRing(10, again, again)
    assert flagged(repository) == [article]
    assert problems(repository) == []


def test_a_check_is_idempotent_and_leaves_a_ring_that_began_later(repository, article, clock):
    choose(repository, article, range(100, 110))
    seen = ring_of(repository, article).last_at
    for _ in range(2):
        repository.voting_rings.check(article, seen, MODERATOR)
        assert flagged(repository) == []
    clock.advance(1)
    choose(repository, article, range(200, 210))

    repository.voting_rings.check(article, seen, MODERATOR)

    assert flagged(repository) == [article]
    (entry,) = repository.moderation_log.get_for_article(article).entries
    assert (entry.action, entry.actor_name, entry.title) == (Action.CHECK_VOTES, "carol", "A title")
    assert repository.inbox.get_page(ALICE).notices == ()  # only moderators see rings


def test_accounts_that_vote_after_the_moderator_looked_count_towards_the_next_ring(repository, article, clock):
    choose(repository, article, range(100, 110))
    seen = ring_of(repository, article).last_at
    clock.advance(1)
    choose(repository, article, range(200, 205))
    repository.voting_rings.check(article, seen, MODERATOR)

    assert choose(repository, article, range(205, 210)) == [10]


def test_the_newest_ring_comes_first_and_the_list_has_pages(server_url, clock):
    repository = connect(server_url, shards=4, rules=default_rules(per_page=2), clock=clock)
    repository.prepare()
    ids = [post(repository, number) for number in range(5)]
    for article in ids:
        choose(repository, article, range(100, 110))
        clock.advance(1)
    pages = [repository.voting_rings.get_page(number) for number in (1, 2, 3)]

    assert [[article.id for article in page.articles] for page in pages] == [ids[:2:-1], ids[2:0:-1], ids[:1]]
    assert [page.has_next for page in pages] == [True, True, False]
    with pytest.raises(PageNotFound):
        repository.voting_rings.get_page(4)


def test_a_removed_article_loses_its_flag(repository, article):
    choose(repository, article, range(100, 110))
    repository.articles.remove(article, MODERATOR, "Spam")
    assert (ring_of(repository, article), flagged(repository)) == (None, [])

    repository.articles.restore(article, MODERATOR, "It was not")

    assert (ring_of(repository, article), repository.voting_rings.count()) == (None, 0)
    assert problems(repository) == []


def test_a_refused_vote_is_not_noted(repository, article, clock):
    clock.advance(8 * DAY)
    with pytest.raises(VotingClosed):
        choose(repository, article, [100])

    assert not repository.store.client.exists(repository.store.shards.of(article).ring(article, HOME))


def test_a_deleted_account_is_in_no_ring_that_outlives_the_hour(repository, article, clock):
    choose(repository, article, range(100, 110))
    repository.account_deletion.advance(100, "user100", "", lambda: True)

    assert problems(repository) == []
    clock.advance(61 * MINUTE)
    choose(repository, article, [200])
    keys = repository.store.shards.of(article)
    assert repository.store.client.zrange(keys.ring(article, HOME), 0, -1) == ["200"]


def test_the_audit_reports_a_flag_of_a_missing_article_and_the_repair_drops_it(repository):
    keys = repository.store.shards.of(4000)
    repository.store.client.zadd(keys.rings, {"4000": 1})

    assert any("article:4000" in problem for problem in problems(repository))
    assert flagged(repository) == []
    repository.repair.run()
    assert repository.voting_rings.count() == 0
    assert problems(repository) == []


def test_a_lost_list_of_rings_is_reported_and_rebuilt_as_a_restored_backup_rebuilds_it(repository, article):
    choose(repository, article, range(100, 110))
    names = repository.store.shards.of(article)
    repository.store.client.delete(names.rings)
    at = ring_of(repository, article).last_at
    assert problems(repository) == [f"{names.article(article)}: voting ring {at:.17g}, listed nowhere"]

    repository.repair.rebuild()

    assert flagged(repository) == [article]
    assert problems(repository) == []

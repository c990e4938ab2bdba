"""Flags in the store: what members set, what moderators decide, and how much a member's flag weighs."""

import pytest

from articles.domain.comments import root_of
from articles.domain.errors import AccountDeleted, FlagsFull
from articles.domain.flags import FLAGGED_REASON, MOST_FLAGS, FlagReason, FlagState, weight
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.factories import comment_on, post
from tests.rules import connect, default_rules
from tests.store_state import contents, problems

SPAM, OFF_TOPIC, AGAINST_RULES = FlagReason.SPAM, FlagReason.OFF_TOPIC, FlagReason.AGAINST_RULES
WITHDRAWAL = FlagReason.WITHDRAWAL


def queued(repository, number=1):
    return [entry.subject for entry in repository.flags.get_page(number).entries]


@pytest.fixture
def subject(article):
    """What is flagged: alice's article."""
    return root_of(article)


@pytest.fixture
def comment(repository, article):
    return comment_on(repository, article, "A comment", ALICE)


def test_the_queue_lists_what_was_first_flagged_in_a_period_of_whole_seconds(repository, clock):
    ids = [root_of(post(repository, number)) for number in range(1, 5)]
    clock.now = 1_900_000_000.5
    for n, subject in enumerate(ids):
        clock.now += 1
        for member in range(100, 101 + n):
            repository.flags.set(subject, member, SPAM)
    clock.now += 1
    repository.flags.set(ids[0], BOB, OFF_TOPIC)

    found = repository.flags.list_flagged(1_900_000_001, 1_900_000_003, most=9)
    assert [entry.subject for entry in found] == [ids[2], ids[1]]
    assert [entry.subject for entry in repository.flags.list_flagged(0, clock(), most=1)] == [ids[3]]


def test_the_heaviest_comes_first_and_of_equal_ones_the_oldest(repository, article, comment, clock):
    ids = [root_of(post(repository, number)) for number in range(2, 5)]
    for subject in (ids[1], ids[0], comment, ids[2]):
        repository.flags.set(subject, BOB, SPAM)
        clock.advance(60)
    repository.flags.set(ids[2], CAROL, AGAINST_RULES)

    assert queued(repository) == [ids[2], ids[1], ids[0], comment]
    assert repository.flags.get_page().entries[3].comment.text == "A comment"
    assert repository.flags.get_page().entries[0].reasons == {SPAM: 1, AGAINST_RULES: 1}


def test_flags_of_members_who_are_rarely_right_weigh_less(repository, clock):
    ids = [post(repository, number) for number in range(6)]
    for number, article_id in enumerate(ids[:4]):
        repository.flags.set(root_of(article_id), BOB if number % 2 else MALLORY, SPAM)
        if number % 2:
            repository.articles.remove(article_id, MODERATOR, "Spam")
        else:
            repository.flags.keep(root_of(article_id), clock())

    repository.flags.set(root_of(ids[4]), MALLORY, SPAM)
    clock.advance(60)
    repository.flags.set(root_of(ids[5]), BOB, SPAM)

    found = [(entry.subject, entry.weight) for entry in repository.flags.get_page().entries]
    assert found == [(root_of(ids[5]), 1.5), (root_of(ids[4]), 0.5)]
    assert [weight(0, 0), weight(8, 0), weight(0, 8)] == [1, 1.8, 0.2]


def test_a_flood_of_flags_removes_nothing_by_itself(repository, article, subject):
    for member in range(100, 100 + MOST_FLAGS):
        repository.flags.set(subject, member, SPAM)

    assert repository.articles.get(article).removed is None
    with pytest.raises(FlagsFull):
        repository.flags.set(subject, BOB, SPAM)
    repository.flags.set(subject, 100, OFF_TOPIC)
    assert problems(repository) == []


def test_flags_remove_content_if_the_operator_allows_it(repository, article, subject, clock):
    rules, shards = default_rules(flags_to_remove=3), repository.store.shards.count
    site = connect(repository.store.client, shards=shards, rules=rules, clock=clock)
    for member in (BOB, CAROL):
        site.flags.set(subject, member, SPAM)
    assert site.articles.get(article).removed is None

    site.flags.set(subject, MALLORY, SPAM)

    assert site.articles.get(article).removed == FLAGGED_REASON
    (entry,) = site.moderation_log.get_page().entries
    assert (entry.actor_name, entry.reason) == ("*", FLAGGED_REASON)
    assert site.flags.get(subject, BOB).state is FlagState.REMOVED


def test_posters_ask_to_withdraw_an_article_which_says_nothing_of_flags(repository, article, subject, clock):
    kept = post(repository, 2)
    for one in (subject, root_of(kept)):
        repository.flags.set(one, ALICE, WITHDRAWAL, "My employer asks")
    entries = {entry.subject: entry for entry in repository.flags.get_page().entries}
    assert entries.keys() == {subject, root_of(kept)}
    entry = entries[subject]
    assert entry.weight == 1
    assert [(flag.member, flag.reason, flag.words) for flag in entry.flags] == [
        (ALICE, WITHDRAWAL, "My employer asks")
    ]
    assert problems(repository) == []

    repository.flags.remove(subject, MODERATOR, "As asked")
    repository.flags.keep(root_of(kept), clock(), "Others have answered")

    assert repository.flags.get(subject, ALICE).state is FlagState.REMOVED
    assert repository.flags.get(root_of(kept), ALICE).state is FlagState.KEPT
    assert repository.flags.get_record(ALICE) == (0, 0)
    assert problems(repository) == []
    repository.repair.run()
    assert repository.flags.get_record(ALICE) == (0, 0)


def test_a_request_to_withdraw_is_no_flag_that_removes(repository, article, subject, clock):
    rules, shards = default_rules(flags_to_remove=1), repository.store.shards.count
    site = connect(repository.store.client, shards=shards, rules=rules, clock=clock)

    site.flags.set(subject, ALICE, WITHDRAWAL)

    assert site.articles.get(article).removed is None


def test_account_deletion_withdraws_the_members_flags(repository, subject, comment):
    for member in (BOB, CAROL):
        for one in (subject, comment):
            repository.flags.set(one, member, AGAINST_RULES, "Personal words")

    assert repository.account_deletion.advance(BOB, "bob", "", lambda: True) == ""

    assert [[flag.member for flag in entry.flags] for entry in repository.flags.get_page().entries] == [
        [CAROL]
    ] * 2
    with pytest.raises(AccountDeleted):
        repository.flags.set(subject, BOB, SPAM)
    assert problems(repository) == []


DAMAGES = {
    "a queue that is lost": lambda client, keys, root: client.delete(keys.flagged),
    "a place in the queue by hand": lambda client, keys, root: client.zadd(keys.flagged, {str(root): 5}),
    "a stranger in the queue": lambda client, keys, root: client.zadd(keys.flagged, {str(root + 77): 5}),
    "a list that is lost": lambda client, keys, root: client.delete(keys.flags_by(BOB)),
    "a state by hand": lambda client, keys, root: client.zadd(keys.flags_by(BOB), {str(root): 1}),
    "an entry without a flag": lambda client, keys, root: client.zadd(keys.flags_by(MALLORY), {str(root): 1}),
}


def test_the_audit_finds_what_the_repair_fixes(repository, article, subject, comment):
    for one in (subject, comment):
        repository.flags.set(one, BOB, SPAM)
    before = contents(repository)
    for name, damage in DAMAGES.items():
        damage(repository.store.client, repository.store.shards.of(article), subject)

        assert problems(repository), name
        repository.repair.run()
        assert contents(repository) == before, name


def test_the_repair_drops_flags_of_nothing_and_decides_those_of_removals(repository, article, subject, comment):
    client, keys = repository.store.client, repository.store.shards.of(article)
    for one in (subject, comment):
        repository.flags.set(one, BOB, SPAM)
    client.hset(keys.flags(subject), mapping={str(MALLORY): "damaged"})
    client.hset(keys.flags(root_of(article) + 77), mapping={str(BOB): "spam 1.000 1.00 open "})
    client.hset(keys.comment(comment), "removed", "By hand")

    assert len(problems(repository)) >= 3
    repository.repair.run()

    assert problems(repository) == []
    found = {flag.subject: flag.state for flag in repository.flags.iterate_by(BOB)}
    assert found == {subject: FlagState.OPEN, comment: FlagState.REMOVED}

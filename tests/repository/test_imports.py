"""Imports: articles with their history, each imported exactly once, whatever happens meanwhile."""

from contextlib import suppress

import pytest
import redis

from articles.domain.articles import Choice, ImportedArticle, ImportedVote
from articles.domain.errors import VotingClosed
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER, PLACEHOLDERS
from articles.repository import ImportRunning
from articles.repository.store import keys as names
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import DAY
from tests.every_server import names_in, with_methods_of
from tests.factories import imported, post
from tests.repository.racing import interleaved
from tests.rules import connect
from tests.searches import ids_found
from tests.store_state import problems

OLD, RECENT = 1_600_000_000.5, 1_699_999_000.0


def row(link="https://example.org/a", at=OLD, votes=3, opposes=1, poster=ALICE, **more):
    return ImportedArticle("T", link, poster, "alice" if poster else "", at, votes, opposes, **more)


def test_an_import_keeps_time_votes_groups_and_poster(repository):
    (number,) = repository.imports.add([row(groups=("python", "web"))])

    found = repository.articles.get(number)
    assert (found.posted_at, found.votes, found.opposes, found.poster) == (OLD, 3, 1, ALICE)
    assert found.groups == ("python", "web")
    assert found.score == OLD + 2 * 432
    assert [a.id for a in repository.lists.get_page(Order.SCORE, slug="web").articles] == [number]
    assert [a.id for a in repository.members.get_posted(ALICE).articles] == [number]


def test_importing_a_row_again_adds_nothing_unless_its_time_differs(repository):
    rows = [row(), row(at=OLD + 1), row(link="https://example.org/b")]
    first = repository.imports.add([*rows, row()])

    assert first == [1, 2, 3, None]
    assert repository.imports.add(rows) == [None, None, None]
    assert repository.imports.add([row(), row(at=OLD + 2)])[0] is None
    assert repository.imports.count() == 4


def test_a_removed_article_is_not_imported_again(repository):
    (number,) = repository.imports.add([row()])
    repository.articles.remove(number, MODERATOR, "spam")

    assert repository.imports.add([row()]) == [None]


@pytest.mark.parametrize("poster", [ALICE, 0])
@pytest.mark.parametrize(("votes", "opposes"), [(5, 2), (1, 40), (0, 3), (1, 0)])
def test_open_articles_get_placeholder_voters(repository, poster, votes, opposes):
    (number,) = repository.imports.add([row(at=RECENT, votes=votes, opposes=opposes, poster=poster)])

    keys = repository.store.shards.of(number)
    voters = {int(user) for user in repository.store.client.smembers(keys.voted(number))}
    opposers = {int(user) for user in repository.store.client.smembers(keys.oppose(number))}
    assert (len(voters), len(opposers)) == (votes, opposes)
    assert (ALICE in voters) == (poster == ALICE and votes > 0)
    assert all(user in PLACEHOLDERS for user in (voters | opposers) - {ALICE})
    assert list(repository.audit.run()) == []
    assert repository.votes.cast(number, BOB, Choice.VOTE).votes == votes + 1


def test_members_who_voted_elsewhere_are_voters_while_voting_is_open_here(repository):
    ballots = ImportedVote(BOB, Choice.OPPOSE, RECENT + 5), ImportedVote(MALLORY, Choice.VOTE, RECENT + 7)
    number, closed = repository.imports.add([row(at=at, voters=ballots) for at in (RECENT, OLD)])

    client, keys = repository.store.client, repository.store.shards.of(number)
    assert {str(ALICE), str(MALLORY)} < client.smembers(keys.voted(number))
    assert client.smembers(keys.oppose(number)) == {str(BOB)}
    assert [*repository.members.iterate_choices(BOB, Choice.OPPOSE)] == [(number, RECENT + 5)]
    assert not client.exists(repository.store.shards.of(closed).voted(closed))
    assert repository.votes.cast(number, BOB, Choice.NONE).opposes == 0
    assert problems(repository) == []


def test_votes_of_members_whose_votes_are_left_out_do_not_rank_an_imported_article(repository):
    list(repository.left_out.leave_out(MALLORY, "mallory", MODERATOR, "A ring"))
    (number,) = repository.imports.add([row(at=RECENT, voters=(ImportedVote(MALLORY, Choice.VOTE, RECENT),))])

    assert repository.articles.get(number).ranked_points == 1
    assert problems(repository) == []


def test_articles_that_are_there_are_found_with_the_time_of_their_edit(repository):
    rows = [row(edited_at=OLD + 60), row(link="https://example.org/b")]
    (number, _) = repository.imports.add(rows)

    assert repository.imports.find([row(at=OLD + 1), *rows]) == [None, 1, 2]
    assert repository.articles.get(number).edited_at == OLD + 60


@pytest.mark.parametrize("at", [RECENT, OLD])
@pytest.mark.parametrize(("votes", "opposes"), [(0, 0), (0, 7), (3, 9)])
def test_totals_below_one_are_kept_and_score_below_the_posting_time(repository, at, votes, opposes):
    (number,) = repository.imports.add([row(at=at, votes=votes, opposes=opposes)])

    found = repository.articles.get(number)
    assert (found.votes, found.opposes) == (votes, opposes)
    ranked = repository.store.client.zscore(repository.store.shards.of(number).order(Order.SCORE), number)
    assert ranked == found.score == at + 432 * (votes - opposes)
    assert problems(repository) == []


@pytest.mark.parametrize(
    "inside",
    # the last on both sides of 2**31, where doubles become coarser
    [OLD, OLD + 0.123, OLD + 0.4994, OLD + 0.07351, 2_147_000_000 + 4 / 1000],
)
def test_an_article_imported_in_the_last_millisecond_of_its_voting_window_has_voters(repository, clock, inside):
    outside, clock.now = inside - 0.001, round(inside + 604_800, 3)
    repository.clock.accept()
    last, closed = repository.imports.add([row(at=inside), row(link="https://example.org/b", at=outside)])

    assert problems(repository) == []
    keys = repository.store.shards.of(closed)
    assert repository.store.client.exists(keys.voted(closed), keys.oppose(closed)) == 0
    assert repository.votes.cast(last, BOB, Choice.VOTE).votes == 4
    with pytest.raises(VotingClosed):
        repository.votes.cast(closed, BOB, Choice.VOTE)


def test_many_articles_are_entered_in_as_many_round_trips_as_few(repository, wire):
    repository.imports.add([row(at=OLD - 1)])
    with wire.counted():
        repository.imports.add([row()])
    few = wire.trips

    with wire.counted():
        repository.imports.add([row(at=OLD + n) for n in range(1, 400)])

    assert wire.trips == few


def test_an_id_counter_behind_the_articles_loses_and_overwrites_no_row(repository):
    there = [post(repository, number) for number in range(1, 6)]
    before = repository.articles.get_many(there)
    repository.store.client.delete(names.COUNTER)

    ids = repository.imports.add([row(at=OLD + n) for n in range(8)])

    assert len(set(ids)) == 8
    assert not set(ids) & set(there)
    assert [repository.articles.get(number).posted_at for number in ids] == [OLD + n for n in range(8)]
    assert repository.articles.get_many(there) == before
    assert problems(repository) == []


def test_repeating_an_interrupted_import_completes_it(repository, monkeypatch):
    rows = [row(at=RECENT), row(link="https://example.org/b", at=RECENT)]
    monkeypatch.setattr(names, "link", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        repository.imports.add(rows)
    monkeypatch.undo()

    assert repository.imports.add(rows) == [None, None]

    assert len(repository.members.get_posted(ALICE).articles) == 2
    assert not repository.articles.post(BOB, "bob", "B", "https://example.org/b").is_new


def test_articles_imported_into_a_group_during_its_merge_follow_it(repository):
    for slug in ("python", "snakes"):
        repository.groups.create(slug, slug)
    overtaken = interleaved(
        repository, "imports/enter", lambda: repository.groups.merge("python", "snakes", MODERATOR)
    )
    (number,) = overtaken.imports.add([row(groups=("python",))])

    assert repository.articles.get(number).groups == ("snakes",)
    assert problems(repository) == []


def test_the_claim_of_a_recent_link_ends_48_hours_after_its_posting(repository, clock):
    repository.imports.add([row(at=clock() - 40 * 3600)])
    (claim,) = names_in(repository.store.client, "link:*")

    assert 8 * 3600 - 5 <= repository.store.client.ttl(claim) <= 8 * 3600


def test_other_processes_are_refused_until_the_lock_left_by_a_crash_expires(repository, clock):
    other = connect(repository.store.client, shards=repository.store.shards.count, clock=clock)
    crashed = other.imports.lock()
    crashed.__enter__()
    with pytest.raises(ImportRunning), repository.imports.lock():
        pass
    assert 0 < repository.store.client.ttl(names.IMPORT_LOCK) <= 120

    repository.store.client.delete(names.IMPORT_LOCK)  # as expiry would

    with repository.imports.lock():
        with pytest.raises(ImportRunning):
            other.imports.add([row()])
        assert repository.imports.add([row()]) == [1]
        crashed.__exit__(None, None, None)
        assert repository.store.client.exists(names.IMPORT_LOCK), "its lock is the other's now"


class HandsOver(redis.Redis):
    """A client whose lock expires, and is taken by another import, after a number of commands."""

    left: int | None = None

    def execute_command(self, *args, **options):
        self._hand_over()
        return super().execute_command(*args, **options)

    def pipeline(self, *args, **options):
        self._hand_over()
        return super().pipeline(*args, **options)

    def _hand_over(self):
        if self.left == 0:
            self.another.set(names.IMPORT_LOCK, "another", ex=30)
        if self.left is not None:
            self.left -= 1


@pytest.mark.parametrize("commands", range(4))
def test_an_import_never_renews_or_releases_the_lock_of_another(repository, clock, commands):
    client = with_methods_of(HandsOver, repository.store.client)
    client.another = repository.store.client
    slow = connect(client, shards=repository.store.shards.count, clock=clock)

    with suppress(ImportRunning), slow.imports.lock():
        client.left = commands
        slow.imports.add([row()])

    assert repository.store.client.get(names.IMPORT_LOCK) == "another"
    assert 0 < repository.store.client.ttl(names.IMPORT_LOCK) <= 30


def is_without_a_name(repository, number):
    found = repository.articles.get(number)
    return (found.poster, found.poster_name) == (DELETED_MEMBER, "") and problems(repository) == []


@pytest.mark.parametrize("at", [OLD, RECENT])
def test_an_article_whose_poster_deleted_the_account_is_imported_without_a_name(repository, at):
    assert repository.account_deletion.advance(ALICE, "alice", "", lambda: True) == ""

    first, second = repository.imports.add([row(at=at), row(link="https://example.org/b", poster=BOB)])

    assert is_without_a_name(repository, first)
    assert repository.articles.get(first).votes == 3
    assert ids_found(repository, "alice") == [second]
    assert repository.members.get_posted(ALICE).articles == ()
    assert repository.imports.add([row(at=at)]) == [None]


def test_an_account_deletion_during_an_import_leaves_no_name(repository):
    overtaken = interleaved(
        repository, "imports/enter", lambda: repository.account_deletion.advance(ALICE, "alice", "", lambda: True)
    )
    (number,) = overtaken.imports.add([row(at=RECENT)])

    assert is_without_a_name(repository, number)
    assert not [key for key in names_in(repository.store.client) if key.endswith((f"posted:{ALICE}", ":alic"))]


@pytest.mark.needs("few shards")
def test_the_longest_window_of_a_batch_is_noted_in_any_order(repository, clock):
    keys = repository.store.shards.all

    windows = enumerate((60, 90, 60, 30, 45) * 8)
    repository.imports.add(
        [imported(number, clock() - 5, closes_at=clock() + days * DAY) for number, days in windows]
    )

    assert {float(repository.store.client.hget(one.ranking, "longest_window")) for one in keys} == {90 * DAY + 5}

"""Housekeeping records the ballots of every article that closes, whatever happens to it, exactly once."""

import gzip

import pytest

from accounts import account_deletion
from accounts.models import BallotKey, BallotRecord
from articles.domain.articles import Choice, LeftOut
from articles.domain.ballots import Ballot, commitment_of, opening_of
from articles.domain.moderation_log import Actor
from articles.web import ballots, wiring
from tests.ballots.records import record_of, wrong
from tests.cast import ALICE, BOB, CAROL
from tests.factories import imported, post
from tests.store_state import change_article, exchange_opposer, problems

MODERATOR = Actor(CAROL, "carol")


@pytest.fixture(autouse=True)
def accounts(alice, bob, carol):
    """The cast has accounts."""


def commitment(article, user):
    key = bytes(BallotKey.objects.get(member=user).key)
    return commitment_of(article, user, opening_of(key, article))


def cast(site_store, article, user, choice=Choice.VOTE):
    site_store.votes.cast(article, user, choice)


def test_each_vote_on_an_article_that_closes_is_in_its_record(site_store, article, close):
    cast(site_store, article, BOB)
    cast(site_store, article, CAROL, Choice.OPPOSE)

    assert close() == 1

    record = record_of(article)
    assert (record.votes, record.opposes, record.version) == (2, 1, 1)
    found = {ballot.commitment: ballot.choice for ballot in record.ballots}
    assert found == {
        commitment(article, ALICE): Choice.VOTE,
        commitment(article, BOB): Choice.VOTE,
        commitment(article, CAROL): Choice.OPPOSE,
    }
    assert site_store.articles.get(article).ballots == 0, "lists do not read it"
    assert wrong(site_store) == []


def test_an_open_article_has_no_record(site_store, article, let_pass):
    assert let_pass(6.99) == 0
    assert let_pass(0.02) == 1


def test_voters_are_not_dropped_before_they_are_recorded(site_store, article, time_of, let_pass):
    cast(site_store, article, BOB)
    time_of.advance(20 * 86400)
    site_store.clock.accept()
    assert site_store.clock.drop_voters(60) == 0

    assert let_pass(0) == 1

    assert site_store.clock.drop_voters(60) == 1
    assert record_of(article).votes == 2


def test_without_records_voters_are_dropped_as_before(site_store, article, time_of, settings):
    settings.BALLOT_DAYS = 0
    site_store.store.rules = wiring.rules()
    time_of.advance(20 * 86400)
    site_store.clock.accept()

    assert ballots.record_closed(site_store, 60) == 0
    assert site_store.clock.drop_voters(60) == 1

    assert not BallotRecord.objects.exists()


def test_an_interrupted_step_is_continued(site_store, article, close, monkeypatch):
    others = [post(site_store, number) for number in range(2, 6)]
    create = BallotRecord.objects.create

    def dies(**facts):
        if BallotRecord.objects.count() == 2:
            raise InterruptedError
        return create(**facts)

    with monkeypatch.context() as patched:
        patched.setattr(BallotRecord.objects, "create", dies)
        with pytest.raises(InterruptedError):
            close()

    assert ballots.record_closed(site_store, 60) == 3

    assert {row.article_id for row in BallotRecord.objects.all()} == {article, *others}
    assert BallotRecord.objects.count() == 5
    assert wrong(site_store) == []


def test_a_vote_that_is_left_out_of_ranking_says_why(site_store, article, close):
    cast(site_store, article, BOB, Choice.OPPOSE)
    list(site_store.left_out.leave_out(BOB, "bob", MODERATOR, "A ring"))

    close()

    record = record_of(article)
    assert record.left_out == LeftOut(0, 1)
    assert [b.left_out for b in record.ballots if b.commitment == commitment(article, BOB)] == ["moderators"]


def test_removed_and_restored_articles_have_records(site_store, article, close, let_pass):
    removed, restored = post(site_store, 2), post(site_store, 3)
    for number in (removed, restored):
        site_store.articles.remove(number, MODERATOR, "Spam")
    site_store.articles.restore(restored, MODERATOR, "No spam")

    assert close() == 3

    site_store.articles.restore(removed, MODERATOR, "No spam")
    assert let_pass(3) == 0
    assert wrong(site_store) == []


def test_a_deleted_members_ballot_stays_and_nothing_opens_it(site_store, article, close):
    cast(site_store, article, BOB)
    close()
    before = record_of(article)
    account_deletion.begin(BOB)
    account_deletion.advance_all(60)

    assert not BallotKey.objects.filter(member=BOB).exists()
    assert record_of(article) == before
    assert wrong(site_store) == []


def test_a_vote_of_an_account_that_was_deleted_before_is_counted(site_store, article, close):
    cast(site_store, article, BOB)
    account_deletion.begin(BOB)
    account_deletion.advance_all(60)

    close()

    assert record_of(article).votes == 2
    assert not BallotKey.objects.filter(member=BOB).exists()


def test_imported_votes_without_members_are_counted_as_such(site_store, close):
    site_store.imports.add([imported(1, site_store.store.now() - 86400, votes=5, opposes=2)])
    number = site_store.changes.get_last_id()

    close()

    record = record_of(number)
    assert (record.votes, record.opposes) == (5, 2)
    assert record.unnamed == (4, 2), "the poster's own vote is a ballot"
    assert wrong(site_store) == []


def test_articles_that_are_imported_closed_have_none(site_store, article, close):
    site_store.imports.add([imported(1, site_store.store.now() - 30 * 86400)])

    assert close() == 1


def test_an_article_imported_after_others_were_recorded_gets_its_record(site_store, article, time_of, close):
    close()
    now = time_of()
    site_store.imports.add([imported(1, now - 8 * 86400, closes_at=now + 86400)])

    assert close() == 1

    assert wrong(site_store) == []


def test_an_article_with_damaged_voter_sets_has_none_and_delays_no_other(site_store, article, close, let_pass):
    other = post(site_store, 2)
    cast(site_store, article, BOB, Choice.OPPOSE)
    exchange_opposer(site_store, article, BOB, ALICE)  # who voted for it

    assert close() == 1

    assert BallotRecord.objects.get().article_id == other
    assert let_pass(10) == 0
    assert site_store.clock.drop_voters(60) == 3


class TestMerges:
    """Votes that come with a merged article are in the record of the one into which it was merged."""

    @pytest.fixture
    def story(self, site_store, article):
        """An article by alice on which bob voted, too."""
        number = post(site_store, 2)
        cast(site_store, number, BOB)
        return number

    def merge(self, site_store, article, into):
        return sum(site_store.merges.merge(article, into, MODERATOR, "One story"))

    def undo(self, site_store, article):
        return sum(site_store.merges.undo(article, MODERATOR, "Two stories"))

    def test_before_closing(self, site_store, article, story, close):
        self.merge(site_store, story, article)

        assert close() == 2

        (brought,) = [ballot for ballot in record_of(article).ballots if ballot.origin]
        assert (brought.commitment, brought.origin) == (commitment(article, BOB), story)
        assert record_of(story).votes == 2
        assert wrong(site_store) == []

    def test_after_closing_there_is_a_new_version(self, site_store, article, story, close, let_pass):
        close()
        self.merge(site_store, story, article)

        assert let_pass(0.01) == 1

        assert (record_of(article).version, record_of(article).votes) == (2, 2)
        assert record_of(article, 1).votes == 1
        assert wrong(site_store) == []

    @pytest.mark.parametrize("days", [0.1, 4])
    def test_undone_after_closing(self, site_store, article, story, close, let_pass, days):
        self.merge(site_store, story, article)
        close()
        let_pass(days)
        site_store.clock.drop_voters(60)
        self.undo(site_store, story)

        assert let_pass(0.01) == 1

        assert (record_of(article).version, record_of(article).votes) == (2, 1)
        assert record_of(article).ballots == tuple(b for b in record_of(article, 1).ballots if not b.origin)
        assert wrong(site_store) == []
        assert problems(site_store) == []

    def test_counts_that_do_not_fit_the_record_delay_no_other(self, site_store, article, story, close, let_pass):
        close()
        self.merge(site_store, story, article)
        change_article(site_store, article, {"votes": 7})
        let_pass(0.01)
        other = post(site_store, 3)

        assert close() == 1
        assert record_of(other).votes == 1
        let_pass(7)
        assert site_store.clock.drop_voters(60) == 3
        assert wrong(site_store)[0] == f"article {article}: its votes are not those of its ballot record"

    def test_while_a_merge_is_being_recorded(self, site_store, article, story, close, let_pass, monkeypatch):
        """The merge comes between the reading of the votes and the note of the record."""
        create = BallotRecord.objects.create

        def written(**facts):
            create(**facts)
            if (facts["article_id"], facts["version"]) == (article, 1):
                self.merge(site_store, story, article)

        monkeypatch.setattr(BallotRecord.objects, "create", written)
        close()
        let_pass(0.01)
        let_pass(0.01)

        assert (record_of(article).version, record_of(article).votes) == (2, 2)
        assert wrong(site_store) == []


@pytest.mark.parametrize(
    "line",
    [
        "{0} vote -", "{0} vote - - ", "{0} vote  - -", "{0} none - -", "{0} vote - 0", "{0} vote - 07",
        "{0} vote - \N{ARABIC-INDIC DIGIT SEVEN}", "{0} vote other -", "{0}\tvote - -", "{0} vote - -\n",
        "A{0} vote - -", "{0}0 vote - -",
    ],
)  # fmt: skip
def test_a_ballot_has_one_spelling(line):
    assert Ballot.of(f"{'a' * 64} vote - 7").origin == 7
    with pytest.raises(ValueError, match="aaaa"):
        Ballot.of(line.format("a" * 64))


def test_versions_follow_one_another_when_the_clock_goes_back(site_store, article, time_of, let_pass):
    other = post(site_store, 2)
    cast(site_store, other, BOB)
    let_pass(10)
    sum(site_store.merges.merge(other, article, MODERATOR, "One story"))
    time_of.advance(-2 * 86400)
    site_store.clock.accept()

    assert ballots.record_closed(site_store, 60) == 1

    first, second = record_of(article, 1), record_of(article, 2)
    assert second.former == first.digest
    assert second.day >= first.day


def test_an_article_of_dropped_ballots_gets_no_record(site_store, article, close, let_pass, settings):
    other = post(site_store, 2)
    cast(site_store, other, BOB)
    settings.BALLOT_DAYS = 1
    close()
    let_pass(2)
    sum(site_store.merges.merge(other, article, MODERATOR, "One story"))

    assert let_pass(0) == 0

    assert BallotRecord.objects.count() == 2


def test_old_ballots_are_dropped_and_the_digest_stays(site_store, article, close, let_pass, settings):
    settings.BALLOT_DAYS = 30
    close()
    let_pass(40)

    row = BallotRecord.objects.get()
    assert row.ballots is None
    assert f'"head":{row.head}' in gzip.decompress(row.packed_file()).decode()
    assert wrong(site_store) == []

"""Every change of what was recorded is found."""

import gzip
import secrets
from dataclasses import replace

import pytest
from django.core.management import call_command

from articles.domain.articles import Choice
from articles.domain.moderation_log import Actor
from integrity.ballots import Ballot, Record, sorted_ballots
from integrity.models import BallotRecord
from integrity.verifying import verify
from tests.cast import BOB, CAROL, MALLORY
from tests.factories import post
from tests.integrity.conftest import record_of
from tests.store_state import change_article


@pytest.fixture
def site(alice, bob, carol, site_store, article, time_of, let_pass):
    """Articles that closed on two days, and their days of the chain."""
    for number in range(2, 5):
        post(site_store, number)
    for number in range(article, article + 4):
        site_store.votes.cast(number, BOB, Choice.VOTE)
    site_store.votes.cast(article, CAROL, Choice.OPPOSE)
    site_store.votes.cast(article + 1, MALLORY, Choice.VOTE)
    let_pass(7.1)
    post(site_store, 5)
    sum(site_store.merges.merge(article + 1, article, Actor(CAROL, "carol"), "One story"))
    let_pass(8)
    let_pass(1)
    return article


def drop(ballots):
    return ballots[1:]


def flip(ballots):
    other = Choice.OPPOSE if ballots[0].choice is Choice.VOTE else Choice.VOTE
    return (replace(ballots[0], choice=other), *ballots[1:])


def add(ballots):
    return sorted_ballots([*ballots, Ballot(secrets.token_hex(32), Choice.VOTE)])


def duplicate(ballots):
    return (ballots[0], *ballots)


def reorder(ballots):
    return ballots[::-1]


def leave_out(ballots):
    return (replace(ballots[0], left_out="moderators"), *ballots[1:])


def move(ballots):
    return (replace(ballots[0], origin=7), *ballots[1:])


TAMPERING = (drop, flip, add, duplicate, reorder, leave_out, move)


class TestTheSite:
    """`manage.py verify_ballots` and `manage.py audit`."""

    @pytest.fixture(autouse=True)
    def opened(self, settings):
        settings.STORE_OPENER = "contextlib.nullcontext"

    def test_nothing_is_wrong(self, site, capsys):
        call_command("verify_ballots")
        assert "6 records and 2 days, no findings" in capsys.readouterr().out

    def test_every_change_of_a_file_is_found(self, site, site_store):
        record = record_of(site, 1)
        for tamper in TAMPERING:
            changed = replace(record, ballots=tamper(record.ballots))
            BallotRecord.objects.filter(article_id=site, version=1).update(ballots=changed.packed())
            assert list(verify(site_store, lambda *_: None)), tamper

    def test_missing_and_foreign_records_are_found(self, site, site_store):
        BallotRecord.objects.filter(article_id=site + 4).delete()
        findings = list(verify(site_store, lambda *_: None))
        assert f"article {site + 4}: its ballot record is missing" in findings
        assert any("of the chain is missing" in finding for finding in findings)

    def test_other_counts_are_found_by_the_audit(self, site, site_store, capsys):
        change_article(site_store, site + 4, {"opposes": 9})
        with pytest.raises(SystemExit):
            call_command("audit")
        assert f"article {site + 4}: its votes are not those of its ballot record" in capsys.readouterr().out


def test_a_record_survives_packing(site):
    record = record_of(site)
    assert Record.unpacked(record.packed()) == record
    assert gzip.decompress(record.packed()) == gzip.decompress(
        bytes(BallotRecord.objects.get(article_id=site, version=2).ballots)
    )

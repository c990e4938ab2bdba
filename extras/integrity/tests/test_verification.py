"""Every change of what was recorded is found."""

import gzip
import json
import re
import secrets
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import BallotRecord
from articles.domain.articles import Choice
from articles.domain.ballots import Ballot, Record, sorted_ballots
from articles.domain.moderation_log import Actor
from articles.web.ballots import check_counts
from articles.web.groups import set_visibility
from extras.integrity.management.commands import verify_ballots
from extras.integrity.tests.doors import find_wrong
from extras.integrity.verify_ballots import Seen, check_site
from extras.integrity.verifying import verify
from tests.ballots.records import record_of
from tests.cast import BOB, CAROL, MALLORY
from tests.factories import post
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

    def test_nothing_is_wrong(self, site, site_store, capsys, monkeypatch):
        monkeypatch.setattr(verify_ballots, "patient_repository", lambda: site_store)
        call_command("verify_ballots")
        assert "No findings. 2 days, 6 records checked, 0 articles cannot be seen" in capsys.readouterr().out

    def test_every_change_of_a_file_is_found(self, site, site_store):
        record = record_of(site, 1)
        for tamper in TAMPERING:
            changed = replace(record, ballots=tamper(record.ballots))
            BallotRecord.objects.filter(article_id=site, version=1).update(ballots=changed.packed())
            assert find_wrong(site_store), tamper

    def test_missing_and_foreign_records_are_found(self, site, site_store):
        BallotRecord.objects.filter(article_id=site + 4).delete()
        assert [*check_counts(site_store)] == [f"article {site + 4}: its ballot record is missing"]
        assert f"15: the record of article {site + 4} version 1 is missing" in find_wrong(site_store)

    def test_other_counts_are_found_by_the_audit(self, site, site_store, capsys):
        change_article(site_store, site + 4, {"opposes": 9})
        with pytest.raises(SystemExit):
            call_command("audit")
        assert f"article {site + 4}: its votes are not those of its ballot record" in capsys.readouterr().out


def public(path, most_bytes):
    """Return a file as a reader without an account gets it."""
    answer = Client().get(path)
    assert answer.status_code in (200, 404)
    return answer.content if answer.status_code == 200 else None


def test_readers_can_check_the_public_files_of_a_site(
    site, site_store, let_pass, time_of, django_capture_on_commit_callbacks
):
    """The files and feeds say what the chain says; an article in a closed group is skipped."""
    let_pass(31)
    let_pass(1)
    today, seen = datetime.fromtimestamp(time_of(), UTC).date(), Seen()

    assert list(check_site(public, waits=(), today=today, seen=seen)) == []
    assert (seen.records, seen.hidden, seen.pending) == (6, 0, 0)

    days = json.loads(public("/integrity/chain.json", 0))["days"]
    months = [row for day, _ in days for row in json.loads(public(f"/integrity/{day}.json", 0))["reports"]]
    assert months
    for kind in ("atom", "rss", "json"):
        feed = Client().get(f"/integrity/days.{kind}").content.decode()
        assert {found for day in days if (found := f"{day[0]}: {day[1]}") not in feed} == set()
        assert {digest for month, digest in months if month not in feed or digest not in feed} == set()
        assert set(re.findall("[0-9a-f]{64}", feed)) == {digest for _, digest in (*days, *months)}

    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("python", Actor(CAROL, "carol"), "Private", is_closed=True)
    seen, everything = Seen(), Seen()
    assert list(check_site(public, waits=(), today=today, seen=seen)) == []
    assert seen.hidden > 0
    assert list(verify(site_store, lambda *_: None, everything, waits=())) == []
    assert (everything.records, everything.hidden) == (6, 0)


def test_a_record_survives_packing(site):
    record = record_of(site)
    assert Record.unpacked(record.packed()) == record
    assert gzip.decompress(record.packed()) == gzip.decompress(
        bytes(BallotRecord.objects.get(article_id=site, version=2).ballots)
    )

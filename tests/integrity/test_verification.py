"""Anyone finds every change of what was recorded, with a script that knows nothing of the site."""

import gzip
import json
import secrets
import subprocess
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import settings
from django.core.management import call_command

from articles.domain.articles import Choice
from articles.domain.moderation_log import Actor
from integrity import recording
from integrity.ballots import FIRST, Ballot, Record, day_hash, sorted_ballots
from integrity.models import BallotRecord, ChainDay
from integrity.verifying import verify
from tests.cast import BOB, CAROL, MALLORY
from tests.factories import browser_of, post
from tests.integrity.conftest import record_of
from tests.store_state import change_article

SCRIPT = settings.BASE_DIR / "tools" / "verify_ballots.py"


class Answering(BaseHTTPRequestHandler):
    """Answers with the site's pages, from the thread of the test, which has the accounts."""

    def do_GET(self):
        answer = browser_of().get(self.path)
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), Answering) as made:
        made.timeout = 0.02
        yield made


@pytest.fixture
def recount(server):
    """A function that runs the script against the site, and returns what it prints."""

    def run(*arguments):
        address = f"http://127.0.0.1:{server.server_port}"
        with subprocess.Popen(
            [sys.executable, SCRIPT, address, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as script:
            while script.poll() is None:
                server.handle_request()
            return script.stdout.read()

    return run


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


def rewrite(record, **changes):
    """Replace a record by what a dishonest operator writes: the head and the digest follow."""
    made = replace(record, **changes)
    BallotRecord.objects.filter(article_id=record.article, version=record.version).update(
        ballots=made.packed(), head=made.head, digest=made.digest
    )


def rechain(first):
    """Rewrite the chain from a day on."""
    previous = (
        ChainDay.objects.filter(day__lt=first).order_by("-day").values_list("hash", flat=True).first() or FIRST
    )
    for day in ChainDay.objects.filter(day__gte=first).order_by("day"):
        digests = sorted(BallotRecord.objects.filter(day=day.day).values_list("digest", flat=True))
        day.previous, day.digests = previous, " ".join(digests)
        previous = day.hash = day_hash(previous, day.day.isoformat(), digests)
        day.save()


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


class TestTheScript:
    """The script, over the network."""

    def test_recounts_what_closed(self, site, recount):
        head = ChainDay.objects.order_by("-day")[0].hash
        assert recount() == (f"2 days, 5 articles recounted, 0 records not public. Latest hash: {head}\n")
        assert "2 days" in recount(ChainDay.objects.order_by("day")[0].hash)

    def test_finds_every_change_of_a_file(self, site, recount):
        record = record_of(site, 1)
        for tamper in TAMPERING:
            changed = replace(record, ballots=tamper(record.ballots))
            BallotRecord.objects.filter(article_id=site, version=1).update(ballots=changed.packed())
            assert "WRONG: record of article" in recount(), tamper

    def test_finds_every_change_that_the_chain_follows(self, site, recount):
        """A hash that a reader kept shows that the chain was rewritten; without one, at the latest counts do."""
        record, known = record_of(site, 1), ChainDay.objects.order_by("-day")[0].hash
        for tamper in TAMPERING:
            rewrite(record, ballots=tamper(record.ballots))
            rechain(record.day)
            assert "WRONG" in recount(known), tamper

    def test_finds_other_counts(self, site, site_store, recount):
        change_article(site_store, site + 4, {"votes": 9})
        assert f"WRONG: counts of article {site + 4}" in recount()

    def test_finds_files_of_two_articles_that_are_swapped(self, site, recount):
        rows = {row.article_id: row for row in BallotRecord.objects.filter(article_id__in=(site + 2, site + 3))}
        one, other = rows[site + 2], rows[site + 3]
        BallotRecord.objects.filter(pk=one.pk).update(ballots=other.ballots)
        BallotRecord.objects.filter(pk=other.pk).update(ballots=one.ballots)
        assert "WRONG" in recount()

    def test_finds_a_day_that_is_left_out_or_changed(self, site, recount):
        first = ChainDay.objects.order_by("day")[0]
        ChainDay.objects.filter(day=first.day).update(digests=first.digests[65:])
        assert f"WRONG: hash of {first.day}" in recount()
        first.delete()
        assert "does not follow the day before" in recount()

    def test_recounts_what_some_readers_do_not_see(self, site, site_store, recount):
        site_store.articles.remove(site + 3, Actor(CAROL, "carol"), "Spam")
        assert "5 articles recounted" in recount()


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


class TestProofs:
    """What a member downloads."""

    @pytest.fixture
    def proof(self, site, bob):
        answer = browser_of(bob).get(f"/articles/{site + 2}/ballots/proof.json")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="ballot-{site + 2}.json"'
        return answer.json()

    def checked(self, proof, tmp_path):
        (tmp_path / "proof.json").write_text(json.dumps(proof))
        command = [sys.executable, SCRIPT, "--proof", tmp_path / "proof.json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    def test_the_script_accepts_it(self, proof, tmp_path):
        found = self.checked(proof, tmp_path)
        assert f"member {BOB} has the ballot" in found
        assert f"hash {proof['hash']}" in found

    def test_every_change_is_found(self, proof, tmp_path):
        for name, value in proof.items():
            wrong = {
                str: lambda text: text[:-1] + ("0" if text[-1] != "0" else "1"),
                int: lambda number: number + 1,
                list: lambda texts: ["0" * 64, *texts[1:]],
            }[type(value)](value)
            assert "WRONG" in self.checked(proof | {name: wrong}, tmp_path), name

    def test_of_records_of_every_size(self, proof, tmp_path, bob):
        ballots = record_of(proof["article"]).ballots
        own = next(one for one in ballots if one.line == proof["line"])
        for size in (1, 2, 3, 4, 5, 8, 13):
            others = [Ballot(secrets.token_hex(32), Choice.OPPOSE) for _ in range(size - 1)]
            record = Record(proof["article"], 1, proof["day"], (0, 0), "0" * 32, sorted_ballots([own, *others]))
            place = record.find(own.commitment)
            facts = {"number": place, "of": size, "path": record.path(place), "head": record.head}
            shown = {name: proof[name] for name in ("article", "member", "opening", "line", "day")}
            assert "has the ballot" in self.checked(shown | facts | {"digest": record.digest}, tmp_path), size

    def test_the_day_of_a_record_may_go_on(self, bob, site, site_store, let_pass, tmp_path):
        post(site_store, 9, poster=BOB)
        let_pass(7.1)
        number = site_store.changes.get_last_id()
        proof = browser_of(bob).get(f"/articles/{number}/ballots/proof.json").json()
        assert "hash" not in proof
        assert "Its day goes on." in self.checked(proof, tmp_path)


def test_a_record_survives_packing(site):
    record = record_of(site)
    assert Record.unpacked(record.packed()) == record
    assert gzip.decompress(record.packed()) == gzip.decompress(
        bytes(BallotRecord.objects.get(article_id=site, version=2).ballots)
    )
    assert recording.FIRST == "0" * 64

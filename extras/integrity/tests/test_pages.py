"""The pages and files of ballot records, as readers and members see them."""

import gzip
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import BallotKey, BallotRecord, Token
from articles.domain.articles import Choice
from articles.domain.ballots import BY_MODERATORS, ON_PROBATION
from articles.domain.moderation_log import Actor
from articles.views.lists import member_export
from articles.web.groups import set_visibility
from extras.integrity import verify_ballots
from extras.integrity.models import ChainDay
from tests.ballots.records import record_of
from tests.cast import BOB, CAROL
from tests.factories import browser_of, post


@pytest.fixture
def closed(alice, bob, carol, site_store, article, close, let_pass):
    """An article that bob opposed, recorded, with its day of the chain."""
    site_store.votes.cast(article, BOB, Choice.OPPOSE)
    close()
    let_pass(1)
    return article


def test_the_page_of_a_closed_article_leads_to_its_record(closed, site_store):
    assert f'href="/articles/{closed}/ballots/"' in browser_of().get(f"/articles/{closed}/").text
    number = post(site_store, 2)
    assert f"/articles/{number}/ballots/" not in browser_of().get(f"/articles/{number}/").text


def test_a_member_sees_their_own_ballot_and_others_none(closed, bob, carol, site_store):
    own = browser_of(bob).get(f"/articles/{closed}/ballots/")
    assert "Your vote is in the record." in own.text
    assert "You opposed it." in own.text
    assert "private" in own.headers["Cache-Control"]
    for reader in (browser_of(), browser_of(carol)):
        page = reader.get(f"/articles/{closed}/ballots/").text
        assert record_of(closed).digest in page
        assert "Your vote is" not in page
        assert reader.get(f"/articles/{closed}/ballots/proof.json").status_code in (401, 404)


@pytest.mark.parametrize("reading", ["everyone", "members"])
def test_programs_get_the_proof_with_a_token(closed, bob, settings, reading):
    settings.READING = reading
    address, token = f"/articles/{closed}/ballots/proof.json", Token.objects.issue(bob, "verifier")[1]

    def proof(**headers):
        return Client().get(address, headers=headers)

    for headers in ({}, {"Authorization": "Basic eA=="}, {"Accept": "application/json"}):
        assert proof(**headers).status_code == 401
        assert "Bearer" in proof(**headers).headers["WWW-Authenticate"]
    assert proof(Authorization="Bearer avs_wrong", Accept="text/html").status_code == 401
    assert proof(Accept="text/html").headers["Location"].startswith("/login/")
    found = proof(Authorization=f"Bearer {token}")
    assert found.headers["Content-Disposition"] == f'attachment; filename="ballot-{closed}.json"'
    assert "no-store" in found.headers["Cache-Control"]
    assert found.content == browser_of(bob).get(address).content
    assert found.json()["head"] == record_of(closed).head


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [
        ("", "It counts in ranking."),
        (BY_MODERATORS, "because moderators excluded your votes."),
        (ON_PROBATION, "because your account was new until voting closed."),
    ],
)
def test_a_member_reads_how_their_vote_counts_and_how_to_check_it(closed, bob, carol, left_out, sentence):
    record = record_of(closed)
    changed = replace(record, ballots=tuple(replace(one, left_out=left_out) for one in record.ballots))
    BallotRecord.objects.filter(article_id=closed).update(ballots=changed.packed())
    address = f"/articles/{closed}/ballots/"

    told = unescape(browser_of(bob).get(address).text)

    assert f"You opposed it. {'It is excluded from ranking ' if left_out else ''}{sentence}" in told
    assert ('class="message success"' in told) is not bool(left_out)
    (program, proof, site) = re.search(
        r"<code>curl -O (\S+) && python3 verify_ballots.py --proof (\S+) (\S+)</code>", told
    ).groups()
    assert browser_of().get(program).content == Path(verify_ballots.__file__).read_bytes()
    assert proof in browser_of(bob).get(f"{address}proof.json").headers["Content-Disposition"]
    assert program == f"{site}/integrity/verify_ballots.py"
    others = browser_of(carol).get(address).text
    assert "You did not vote on this article." in others
    assert "You did not vote" not in told + browser_of().get(address).text
    assert "in ranking." not in others


def test_a_member_whose_vote_is_missing_is_told(closed, bob):
    BallotKey.objects.filter(member=bob).update(key=b"0" * 32)
    assert "t in the record. Please tell" in browser_of(bob).get(f"/articles/{closed}/ballots/").text


def test_the_file_is_the_record(closed):
    plain, packed = (
        Client().get(f"/articles/{closed}/ballots.json", headers={"Accept-Encoding": encoding})
        for encoding in ("identity", "gzip")
    )
    assert plain.content.decode() == record_of(closed).text
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["Content-Encoding"] == "gzip"
    known = Client().get(f"/articles/{closed}/ballots.json", headers={"If-None-Match": plain.headers["ETag"]})
    assert known.status_code == 304


def test_an_open_article_has_no_file(site_store, article, alice):
    assert "Voting is still open." in browser_of().get(f"/articles/{article}/ballots/").text
    assert Client().get(f"/articles/{article}/ballots.json").status_code == 404
    assert Client().get("/articles/999/ballots/").status_code == 404


def test_ballots_that_were_dropped_are_gone(closed, settings, let_pass):
    head = dict(record_of(closed).head)
    settings.BALLOT_DAYS = 1
    let_pass(3)
    assert (
        "The ballots have been deleted because of their age."
        in browser_of().get(f"/articles/{closed}/ballots/").text
    )
    assert Client().get(f"/articles/{closed}/ballots.json").json() == {"head": head}


def test_the_chain_is_public(closed):
    day = ChainDay.objects.get()
    name = day.day.isoformat()
    assert Client().get("/integrity/chain.json").json()["days"] == [[name, day.hash]]
    found = Client().get(f"/integrity/{name}.json")
    assert hashlib.sha256(found.content).hexdigest() == day.hash
    assert found.json()["records"] == [[closed, 1, record_of(closed).digest]]
    assert day.hash in browser_of().get("/integrity/").text
    for kind in ("atom", "rss", "json"):
        assert Client().get(f"/integrity/days.{kind}").content.decode().count(f"{name}: {day.hash}") == 1


def test_an_article_in_a_closed_group_is_a_number_and_a_digest_to_readers_without_an_account(
    closed, site_store, bob, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("python", Actor(CAROL, "carol"), "Private", is_closed=True)
    name = ChainDay.objects.get().day.isoformat()
    for address in (f"/articles/{closed}/ballots/", f"/articles/{closed}/ballots.json"):
        assert Client().get(address).status_code == 404
        assert browser_of(bob).get(address).status_code == 200
    found = Client().get(f"/integrity/{name}.json")
    assert found.json()["records"] == [[closed, 1, record_of(closed).digest]]
    assert browser_of(bob).get(f"/integrity/{name}.json").content == found.content


def test_the_export_has_the_key_of_ones_ballots(closed, bob, site_store):
    key = bytes(BallotKey.objects.get(member=bob).key).hex()
    assert json.loads("".join(member_export.lines(bob, site_store)))["account"]["ballot_key"] == key

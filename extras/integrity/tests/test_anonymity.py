"""Public files do not tell who voted, whatever else an attacker knows: tried with what is public, and more."""

import hashlib
import hmac
import itertools
from dataclasses import replace

import pytest
from django.test import Client

from accounts.models import BallotKey
from articles.domain.articles import Choice
from articles.domain.ballots import canonical, commitment_of, digest_of, opening_of
from extras.integrity.models import ChainDay
from tests.ballots.records import record_of
from tests.cast import ALICE, BOB, CAROL
from tests.factories import post

NAMES = {ALICE: "alice", BOB: "bob", CAROL: "carol"}


@pytest.fixture
def articles(alice, bob, carol, site_store, article, close, let_pass):
    """Two articles with the same voters in other orders, one that bob opposes, one with its poster's vote."""
    numbers = [article, post(site_store, 2), post(site_store, 3)]
    for number, order in zip(numbers, itertools.permutations((BOB, CAROL)), strict=False):
        for member in order:
            site_store.votes.cast(number, member, Choice.VOTE)
    site_store.votes.cast(numbers[2], BOB, Choice.OPPOSE)
    post(site_store, 4)
    close()
    let_pass(1)
    return [*numbers, site_store.changes.get_last_id()]


def public_texts(articles):
    """Return all that a reader without an account gets of records and of the chain."""
    addresses = [f"/articles/{number}/{name}" for number in articles for name in ("ballots.json", "ballots/")]
    addresses += ["/integrity/", "/integrity/chain.json", "/integrity/days.atom", "/integrity/days.json"]
    addresses += [f"/integrity/{day.day.isoformat()}.json" for day in ChainDay.objects.all()]
    return {address: Client().get(address).content.decode() for address in addresses}


def commitments(articles):
    return {number: [ballot.commitment for ballot in record_of(number).ballots] for number in articles}


def guesses(article, member):
    """Yield commitments as they would be with keys that an attacker can guess."""
    name, public = NAMES[member], [str(article), record_of(article).nonce, record_of(article).root]
    for key in (
        b"",
        b"0" * 32,
        bytes(32),
        str(member).encode(),
        name.encode(),
        *(text.encode() for text in public),
    ):
        for opening in (
            opening_of(key, article),
            hmac.digest(key, b"", "sha256"),
            hashlib.sha256(key).digest(),
            key,
        ):
            yield commitment_of(article, member, opening)
    for text in (f"{article} {member}", f"{member}", f"{article} {name}"):
        yield hashlib.sha256(text.encode()).hexdigest()


def test_a_dictionary_of_members_opens_nothing(articles):
    for article, found in commitments(articles).items():
        for member in NAMES:
            assert not {*guesses(article, member)} & {*found}
    key = bytes(BallotKey.objects.get(member=BOB).key)
    own = commitment_of(articles[0], BOB, opening_of(key, articles[0]))
    assert own in commitments(articles)[articles[0]], "with the key, the same attack succeeds"


def test_ballots_of_one_member_have_nothing_in_common(articles):
    found = [one for several in commitments(articles).values() for one in several]
    assert len(found) == len({*found}) == 9
    for length in (8, 16):
        assert len({one[:length] for one in found}) == len({one[-length:] for one in found}) == 9


def test_the_order_and_time_of_votes_leave_no_trace(articles):
    for number in articles:
        record = record_of(number)
        assert [*commitments([number])[number]] == sorted(commitments([number])[number])
        same = replace(record, ballots=tuple(sorted({*record.ballots}, key=lambda one: one.commitment)))
        assert same.packed() == record.packed(), (
            "the file is a function of the votes, their keys, the nonce and the day"
        )


def test_an_opening_of_one_article_opens_no_other(articles):
    key = bytes(BallotKey.objects.get(member=BOB).key)
    known = opening_of(key, articles[0])
    for number in articles[1:]:
        tried = {commitment_of(number, BOB, known), commitment_of(number, BOB, opening_of(known, number))}
        assert not tried & {*commitments([number])[number]}


def test_two_members_cannot_be_shown_one_ballot(articles):
    """A dishonest site gives two members one key: their commitments differ all the same."""
    assert commitment_of(7, ALICE, opening_of(b"k" * 32, 7)) != commitment_of(7, BOB, opening_of(b"k" * 32, 7))


def test_no_public_text_has_a_key_an_opening_or_a_voter(articles):
    texts = public_texts(articles)
    for member in NAMES:
        key = bytes(BallotKey.objects.get(member=member).key)
        secrets = [key.hex(), *(opening_of(key, number).hex() for number in articles)]
        for address, text in texts.items():
            assert not [secret for secret in secrets if secret in text], address
    for address, text in texts.items():
        assert "bob" not in text, address
        assert "carol" not in text, address


def test_nothing_can_be_guessed_from_a_digest(articles):
    """The record of an article with no other vote, of which all is known but its secrets."""
    record = record_of(articles[3])
    head = canonical(record.head)
    assert digest_of(head) == record.digest
    for guess in ("", "0" * 32, record.root[:32]):
        assert digest_of(head.replace(record.nonce, guess)) != record.digest
    assert len(record.nonce) == 32
    assert len({record_of(number).nonce for number in articles}) == 4

"""Old passwords of members who moved in: which are kept, and that they log their owners in once."""

import re

import bcrypt
import pytest
from django.contrib.auth.hashers import check_password, identify_hasher, make_password
from django.test import Client
from hypothesis import example, given, settings as hypothesis_settings
from hypothesis.strategies import from_regex

from accounts import passwords
from accounts.models import User
from extras.moving_in import hashers
from extras.moving_in.hashers import may_be_kept
from extras.moving_in.tests.doors import waiting
from extras.moving_in.tests.lobsters_rows import HASH
from tests.cast import PASSWORD
from tests.factories import member
from tests.internals import meanwhile
from voting_site import settings as site

LONG = "密码" * 20  # bcrypt reads 72 bytes of its 120
KINDS = ["2a", "2b", "2y"]


@pytest.fixture(autouse=True)
def own_hashers(settings):
    settings.PASSWORD_HASHERS = site.PASSWORD_HASHERS


def by_bcrypt(password, kind="2b", cost=4):
    encoded = bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(cost)).decode()
    return f"bcrypt${encoded.replace('$2b$', f'${kind}$')}"


def log_in(password, name="ann"):
    return Client().post("/login/", {"username": name, "password": password})


@pytest.mark.parametrize("password", [PASSWORD, LONG])
@pytest.mark.parametrize("kind", [*KINDS, "pbkdf2_sha256", "argon2"])
def test_an_old_password_logs_in_is_hashed_by_the_site_and_claims_the_account(db, kind, password):
    encoded = by_bcrypt(password, kind) if kind in KINDS else make_password(password, hasher=kind)
    assert may_be_kept(encoded)
    moved = waiting(password=encoded)

    assert log_in("wrong").status_code == 200
    moved.refresh_from_db()
    assert (moved.claimed_at, moved.address) == (None, "ann@old.example")

    assert log_in(password).status_code == 302
    moved.refresh_from_db()
    ann = User.objects.get(username="ann")
    assert moved.claimed_at is not None
    assert moved.address == ""
    assert (ann.email, ann.verified_email) == ("ann@old.example", "")
    assert identify_hasher(ann.password).algorithm == "argon2"
    assert log_in(password).status_code == 302
    assert log_in(f"{password}!").status_code == 200


def test_an_old_password_claims_the_account_in_an_app_as_well(db):
    moved = waiting(password=by_bcrypt(PASSWORD))

    assert moved.user.check_password(PASSWORD)

    moved.refresh_from_db()
    assert moved.claimed_at is not None


def test_a_login_of_a_member_who_has_an_address_here_keeps_it(db):
    moved = waiting(password=make_password(PASSWORD))
    User.objects.filter(username="ann").update(email="ann@new.example")

    log_in(PASSWORD)

    moved.refresh_from_db()
    assert (User.objects.get(username="ann").email, moved.address) == ("ann@new.example", "")


@pytest.mark.parametrize(
    "encoded",
    [
        "", "!abc", "md5$salt$0123", f"bcrypt{HASH}", f"bcrypt$${HASH}", f"bcrypt${HASH[:-1]}", f"bcrypt${HASH}x",
        f"bcrypt${HASH.replace('$10$', '$15$')}", f"bcrypt${HASH.replace('$10$', '$03$')}",
        f"bcrypt${HASH.replace('2a', '2x')}", f"bcrypt${HASH.replace('Mye', 'Myz')}",
        "pbkdf2_sha256$2000000$salt$" + "a" * 43 + "=", "pbkdf2_sha256$0$salt$" + "a" * 43 + "=",
        "argon2$argon2id$v=19$m=200000,t=2,p=8$c2FsdHNhbHQ$" + "a" * 43,
        "argon2$argon2id$v=19$m=102400,t=99,p=8$c2FsdHNhbHQ$" + "a" * 43,
        "argon2$argon2id$v=19$m=102400,t=2,p=9$c2FsdHNhbHQ$" + "a" * 43,
        "argon2$argon2id$v=19$m=102400,t=2,p=8$c2FsdHNhbHQaaaaaa$" + "a" * 43,
    ],
)  # fmt: skip
def test_hashes_that_cost_much_or_are_none_are_not_kept(encoded):
    assert not may_be_kept(encoded)


@example(f"bcrypt${HASH}")
@given(from_regex(hashers._KEPT, fullmatch=True))
@hypothesis_settings(max_examples=60)
def test_no_hash_that_is_kept_fails_a_login(encoded):
    cheap = re.sub(r"(\$2.\$)\d\d", r"\g<1>04", re.sub(r"m=\d+,t=\d,p=\d", "m=64,t=1,p=1", encoded))
    cheap = re.sub(r"(sha256\$)\d+", r"\g<1>1", cheap)

    assert not check_password(PASSWORD, cheap)


def test_an_old_password_waits_for_its_turn_as_others_do(db):
    waiting(password=by_bcrypt(PASSWORD))
    waiting("without")
    member("zoe", password=PASSWORD)
    turns = []

    with meanwhile(passwords.TURNS, "acquire", lambda: turns.append(1)):
        for name in ("ann", "without", "zoe", "nobody"):
            assert log_in("wrong", name).status_code == 200

    assert len(turns) == 4


def test_the_hasher_is_one_of_the_site_and_not_the_first():
    assert "extras.moving_in.hashers.BCryptHasher" in site.PASSWORD_HASHERS[2:]

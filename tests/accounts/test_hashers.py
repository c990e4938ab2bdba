"""A few passwords are hashed at once; neither text nor work reveals whether an account exists."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.test import Client

from accounts import passwords
from accounts.passwords import HashesBusy
from tests.cast import PASSWORD
from tests.factories import member
from tests.internals import meanwhile
from voting_site.configuration.loading import leaving_one_free

pytestmark = pytest.mark.deep


@pytest.fixture
def _argon2(settings) -> None:
    settings.PASSWORD_HASHERS = ["accounts.passwords.Argon2Hasher", "accounts.passwords.PBKDF2Hasher"]


@pytest.fixture
def no_turn(monkeypatch) -> None:
    """Let no request have a turn, without waiting for one."""
    taken = threading.BoundedSemaphore(1)
    taken.acquire()
    monkeypatch.setattr(passwords, "TURNS", taken)
    monkeypatch.setattr(passwords, "LONGEST_WAIT", 0.01)


@pytest.mark.usefixtures("_argon2")
@pytest.mark.parametrize("scheme", ["argon2", "pbkdf2_sha256"])
def test_hashes_take_turns_and_return_them(scheme):
    encoded = make_password("secret", hasher=scheme)
    assert check_password("secret", encoded)
    assert not check_password("other", encoded)

    assert passwords.TURNS._value == passwords.TURNS._initial_value


@pytest.mark.usefixtures("_argon2")
def test_no_more_hashes_run_at_once_than_there_are_turns(monkeypatch):
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(2)

    def hash_slowly(*_: object) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(30)  # two at once, as many as there are turns
        with lock:
            running -= 1
        return "hash"

    monkeypatch.setattr(passwords, "TURNS", threading.BoundedSemaphore(2))
    monkeypatch.setattr(passwords, "LONGEST_WAIT", 30)
    monkeypatch.setattr(passwords.Argon2PasswordHasher, "encode", hash_slowly)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: passwords.Argon2Hasher().encode("a", "b"), range(8)))

    assert done == ["hash"] * 8
    assert most == 2


@pytest.mark.usefixtures("_argon2", "no_turn")
@pytest.mark.parametrize("scheme", ["argon2", "pbkdf2_sha256"])
def test_without_a_turn_hashing_is_refused(scheme):
    with pytest.raises(HashesBusy):
        make_password("secret", hasher=scheme)


@pytest.mark.usefixtures("_argon2")
@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_a_busy_process_asks_known_and_unknown_accounts_alike_to_try_again(db, request, name):
    member("alice", password=PASSWORD)
    request.getfixturevalue("no_turn")

    response = Client().post("/login/", {"username": name, "password": PASSWORD})

    assert (response.status_code, response["Retry-After"]) == (429, "2")
    assert "Many people are logging in right now." in response.content.decode()


@pytest.mark.usefixtures("_argon2", "no_turn")
def test_a_busy_process_refuses_sign_ups(db):
    fields = {"username": "fresh", "password1": PASSWORD, "password2": PASSWORD, "email": ""}

    assert Client().post("/signup/", fields).status_code == 429


@pytest.mark.usefixtures("_argon2")
def test_known_and_unknown_accounts_take_one_turn_each(db):
    member("alice", password=PASSWORD)
    turns = []

    with meanwhile(passwords.TURNS, "acquire", lambda: turns.append(1)):
        for name in ("alice", "nobody"):
            Client().post("/login/", {"username": name, "password": "wrong"})

    assert len(turns) == 2


@pytest.mark.parametrize(
    ("configured", "threads", "at_once"), [(2, 1, 1), (2, 2, 1), (2, 3, 2), (2, 8, 2), (64, 8, 7), (1, 8, 1)]
)
def test_fewer_passwords_are_hashed_at_once_than_there_are_threads(configured, threads, at_once):
    assert leaving_one_free(configured, threads) == at_once


def test_the_site_hashes_in_turns():
    from voting_site import settings as site

    assert site.PASSWORD_HASHES_AT_ONCE == 1, "of two threads"
    assert site.PASSWORD_HASHERS[:2] == ["accounts.passwords.Argon2Hasher", "accounts.passwords.PBKDF2Hasher"]

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from accounts.models import User
from tests.cast import PASSWORD


@pytest.mark.parametrize("spelling", ["alice", "ALICE", "Alice", "ａｌｉｃｅ"])
def test_a_member_is_found_in_every_spelling_of_the_name(alice, spelling):
    assert User.objects.get_by_natural_key(spelling) == alice


@pytest.mark.parametrize(
    "name", ["", None, "bob", "а" * 40, "a" * 1_000_000, "al\x00ice", "\ud800", "alice" + "x" * 26]
)
def test_an_unknown_or_impossible_name_finds_no_member(alice, name):
    with pytest.raises(User.DoesNotExist):
        User.objects.get_by_natural_key(name)


def test_a_name_that_is_too_long_does_not_match_its_prefix(db):
    User.objects.create_user("a" * 30)

    with pytest.raises(User.DoesNotExist):
        User.objects.get_by_natural_key("a" * 31)


def test_two_accounts_cannot_have_spellings_of_one_name(alice):
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("ALICE")


@pytest.fixture
def variables(monkeypatch):
    """An environment that names an administrator."""
    for name, value in {"USERNAME": "Carol", "EMAIL": "", "PASSWORD": PASSWORD}.items():
        monkeypatch.setenv(f"DJANGO_SUPERUSER_{name}", value)
    return monkeypatch


@pytest.mark.django_db
def test_a_superuser_can_be_created_from_environment_variables(variables):
    call_command("createsuperuser", interactive=False, verbosity=0)

    carol = User.objects.get_by_natural_key("carol")
    assert (carol.username, carol.is_superuser, carol.is_staff) == ("Carol", True, True)
    assert carol.check_password(PASSWORD)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PASSWORD", "", "Set DJANGO_SUPERUSER_PASSWORD"),
        ("PASSWORD", "  ", "Set DJANGO_SUPERUSER_PASSWORD"),
        ("PASSWORD", "password", "too common"),
        ("PASSWORD", "carolina", "too similar to the username"),
        ("EMAIL", "ALICE@example.org", "Another account has this email address"),
        ("EMAIL", "nowhere", "valid email address"),
    ],
)
def test_a_superuser_of_the_environment_has_a_good_password_and_address(alice, variables, name, value, reason):
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    variables.setenv(f"DJANGO_SUPERUSER_{name}", value)

    with pytest.raises(CommandError, match=reason):
        call_command("createsuperuser", interactive=False, verbosity=0)
    assert list(User.objects.all()) == [alice]


class _Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.django_db
def test_a_superuser_can_be_created_interactively(alice, monkeypatch):
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    answers = iter(["1nvalid", "carol", "alice@example.org", "carol@example.org"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    monkeypatch.setattr("getpass.getpass", lambda prompt="": PASSWORD)

    call_command("createsuperuser", stdin=_Terminal(), verbosity=0)

    assert User.objects.get_by_natural_key("carol").email == "carol@example.org"


@pytest.mark.django_db
def test_without_a_terminal_the_command_fails_and_says_what_to_set():
    with pytest.raises(CommandError, match=r"no terminal.*DJANGO_SUPERUSER_PASSWORD.*--noinput"):
        call_command("createsuperuser", stdin=StringIO(), verbosity=0)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a", "<b>", "ALICE"])
def test_a_superuser_cannot_have_an_invalid_or_taken_name(alice, variables, name):
    with pytest.raises(CommandError):
        call_command("createsuperuser", username=name, email="", interactive=False, verbosity=0)

"""Providers to sign in with, as the doctor sees them."""

from extras.providers.provider import GITHUB
from tests.doctor.examining import brief, levels, look


def test_a_provider_that_answers_is_fine(club):
    assert brief("sign-in", "providers") == [("fine", "Members can sign in with Club.")]


def test_a_provider_that_is_away_is_an_error_with_its_reason(club):
    club.trouble["discovery"] = "500"

    (finding,) = look("sign-in", "providers")

    assert finding.text == "Members cannot sign in with Club."
    assert "OIDC_CLUB" in finding.advice
    assert "500" in finding.detail


def test_a_provider_with_another_issuer_is_an_error(club):
    club.metadata = {"issuer": "https://evil.example"}

    assert levels("sign-in", "providers") == ["error"]


def test_a_provider_that_signs_with_the_secret_only_is_an_error(club):
    club.metadata = {"id_token_signing_alg_values_supported": ["HS256", "none"]}

    ((level, text),) = brief("sign-in", "providers")

    assert (level, text) == ("error", "Club signs with no algorithm that the site accepts.")


def test_github_is_not_asked(club, settings):
    settings.PROVIDERS = club.settings(issuer=GITHUB)

    assert levels("sign-in", "providers") == ["fine"]
    assert club.requests == []

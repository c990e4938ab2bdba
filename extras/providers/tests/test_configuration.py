"""Settings of providers: a family of variables for each."""

import os

import pytest

from articles.configuration.kinds import BadSetting
from articles.domain.extras import FOLDER
from bench import documentation
from extras.providers.configuration import FAMILY
from voting_site.configuration.loading import load, warnings


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """An environment without providers of the test run."""
    for name in [name for name in os.environ if name.startswith("OIDC_")]:
        monkeypatch.delenv(name)
    return monkeypatch


def test_the_page_explains_each_variable():
    page = (FOLDER / "providers" / "README.md").read_text("utf-8")

    assert documentation.rows_in(page, 4).keys() == {f"OIDC_<NAME>{end}" for end in FAMILY}


def test_lines_of_the_file_that_name_a_variable_of_a_provider_have_an_effect(tmp_path):
    lines = [f"OIDC_CLUB{end}=x" for end in FAMILY]
    (tmp_path / ".env").write_text("\n".join([*lines, "OIDC_CLUB_LABLE=x"]))

    (sentence,) = warnings(tmp_path)

    assert sentence.startswith("The file .env sets OIDC_CLUB_LABLE, which is not a setting of the site")


def test_a_provider_has_a_family_of_variables(tmp_path, environment):
    environment.setenv("OIDC_CLUB", " https://id.example.org/realms/club  site  top-secret ")
    environment.setenv("OIDC_CLUB_LABEL", "The club")
    environment.setenv("OIDC_CLUB_TRUSTED", "yes")
    (tmp_path / ".env").write_text(
        "OIDC_CLUB_MODERATORS=realm_access.roles:a:b\nOIDC_CLUB_SCOPES='openid  groups'\n"
    )

    (club,) = load(tmp_path)["PROVIDERS"].values()

    assert (club.name, club.label, club.issuer) == ("club", "The club", "https://id.example.org/realms/club")
    assert (club.client_id, club.client_secret, club.scopes) == ("site", "top-secret", "openid groups")
    assert (club.is_trusted, club.moderators) == (True, ("realm_access.roles", "a:b"))
    assert "top-secret" not in repr(club)


@pytest.mark.parametrize(
    ("text", "label", "issuer"),
    [
        ("google a b", "Google", "https://accounts.google.com"),
        ("GitLab a b", "GitLab", "https://gitlab.com"),
        ("microsoft a b", "Microsoft", "https://login.microsoftonline.com/{tenantid}/v2.0"),
        ("github a b", "GitHub", "https://github.com"),
        ("http://127.0.0.1:9 a b", "Work", "http://127.0.0.1:9"),
        ("https://id.example.org a b", "Work", "https://id.example.org"),
    ],
)
def test_known_providers_have_short_names(tmp_path, environment, text, label, issuer):
    environment.setenv("OIDC_WORK", text)

    (provider,) = load(tmp_path)["PROVIDERS"].values()

    found = (provider.label, provider.issuer, provider.is_trusted, provider.moderators)
    assert found == (label, issuer, False, None)
    assert provider.scopes == ("read:user user:email" if label == "GitHub" else "openid email profile")


CREDENTIALS = (
    "https://id.example.org site", "https://id.example.org site secret more", "id.example.org site secret",
    "http://id.example.org site secret", "http://127.0.0.1.example.org site secret", "ftp://x site secret",
    "https://user@id.example.org site secret", "https://id.example.org/?a=b site secret",
    "https:///x site secret", "https://id.example.org:x site secret", f"https://id.example.org/{'x' * 256} a b",
)  # fmt: skip


@pytest.mark.parametrize("text", CREDENTIALS)
def test_what_is_wrong_with_a_provider_is_said_without_its_secret(tmp_path, environment, text):
    environment.setenv("OIDC_CLUB", text)

    with pytest.raises(BadSetting) as raised:
        load(tmp_path)

    (sentence,) = raised.value.sentences
    assert sentence.startswith("OIDC_CLUB=… is not an issuer, a client id and a client secret")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "OIDC_CLUB_LABLE",
            "x",
            "OIDC_CLUB_LABLE is not a setting: a provider has OIDC_<NAME>, OIDC_<NAME>_LABEL, ",
        ),
        ("OIDC_my_club", "google a b", "OIDC_my_club is not a setting: a provider has "),
        ("OIDC_OTHER_LABEL", "x", "OIDC_OTHER_LABEL is set, but OIDC_OTHER is not."),
        ("OIDC_CLUB_SCOPES", "email", "OIDC_CLUB_SCOPES='email' has no openid."),
        ("OIDC_CLUB_TRUSTED", "perhaps", "OIDC_CLUB_TRUSTED='perhaps' is not 1 (yes) or 0 (no)."),
        ("OIDC_CLUB_MODERATORS", "mods", "OIDC_CLUB_MODERATORS='mods' is not a claim and its value"),
        ("OIDC_SAME", "google a b", "OIDC_CLUB and OIDC_SAME have the same issuer."),
    ],
)
def test_a_mistake_with_a_provider_is_one_sentence(tmp_path, environment, name, text, sentence):
    environment.setenv("OIDC_CLUB", "google a b")
    environment.setenv(name, text)

    with pytest.raises(BadSetting) as raised:
        load(tmp_path)

    (found,) = raised.value.sentences
    assert found.startswith(sentence)

"""The settings of providers to sign in with: variables for each, such as OIDC_CLUB and OIDC_CLUB_LABEL."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from articles.configuration.kinds import PLAIN, BadSetting, Kind, noted
from extras.providers.provider import GITHUB, TENANT, Provider

PREFIX = "OIDC_"

_KNOWN = {
    "google": ("Google", "https://accounts.google.com"),
    "gitlab": ("GitLab", "https://gitlab.com"),
    "microsoft": ("Microsoft", f"https://login.microsoftonline.com/{TENANT}/v2.0"),
    "github": ("GitHub", GITHUB),
}
"""Label and issuer of providers, by what stands for them in a setting."""

FAMILY = ("", "_LABEL", "_SCOPES", "_TRUSTED", "_MODERATORS")
"""The ends of the variables of each provider. README.md says what they mean."""

_NAME = re.compile(r"[A-Z][A-Z0-9]{0,19}")
_CLAIM = re.compile(r"((?:https?://)?[^:\s]+):(\S.*)")
_LONGEST_ISSUER = 255


def _credentials(text: str) -> tuple[str, str, str]:
    issuer, client_id, secret = text.split()  # raises ValueError for more or fewer
    if issuer.lower() in _KNOWN:
        return _KNOWN[issuer.lower()][1], client_id, secret
    parts = urlsplit(issuer)
    parts.port  # noqa: B018 - raises ValueError for an invalid one
    is_plain = not (parts.query or parts.fragment or parts.username) and len(issuer) <= _LONGEST_ISSUER
    if not (parts.hostname and is_plain and (parts.scheme == "https" or is_loopback(issuer))):
        raise ValueError("not an issuer")
    return issuer, client_id, secret


def is_loopback(address: str) -> bool:
    """Return whether this is a plain address of this machine, which needs no TLS."""
    parts = urlsplit(address)
    try:
        is_here = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
    return parts.scheme == "http" and is_here


def _claim(text: str) -> tuple[str, str]:
    found = _CLAIM.fullmatch(text)
    if not found:
        raise ValueError(text)
    return found[1], found[2]


_PROVIDER = Kind(
    _credentials,
    "an issuer, a client id and a client secret, separated by blanks; the issuer is google, gitlab, microsoft, "
    "github or an https:// address (http:// only on this machine)",
    is_secret=True,
)
_MODERATORS = Kind(_claim, "a claim and its value, such as groups:moderators")


def _parts(variable: str) -> tuple[str, str | None]:
    """Return the name of the provider, and the rest of the variable; None for the rest of any other variable."""
    found = _NAME.match(variable.removeprefix(PREFIX)) if variable.startswith(PREFIX) else None
    return (found[0], variable.removeprefix(PREFIX + found[0])) if found else ("", None)


def parse(texts: Mapping[str, str]) -> dict[str, Provider]:
    """Return the providers by their names in addresses. Raises BadSetting with a sentence for each mistake."""
    given = {name: text.strip() for name, text in texts.items() if name.startswith(PREFIX) and text.strip()}
    mistakes, providers = [], dict[str, Provider]()
    for variable in sorted(given):
        name, end = _parts(variable)
        if end not in FAMILY:
            ends = ", ".join(f"{PREFIX}<NAME>{one}" for one in FAMILY)
            mistakes.append(f"{variable} is not a setting: a provider has {ends}; its name is letters and digits.")
        elif PREFIX + name not in given:
            mistakes.append(f"{variable} is set, but {PREFIX}{name} is not.")
        elif not end:
            with noted(mistakes):
                providers[name.lower()] = _provider(name, given)
    by_issuer: dict[str, str] = {}
    for name, provider in providers.items():
        if (other := by_issuer.setdefault(provider.issuer, name)) != name:
            mistakes.append(f"{PREFIX}{other.upper()} and {PREFIX}{name.upper()} have the same issuer.")
    if mistakes:
        raise BadSetting(*mistakes)
    return providers


def _provider(name: str, given: Mapping[str, str]) -> Provider:
    mistakes: list[str] = []

    def value(end: str, kind: Kind, default: Any = None) -> Any:
        variable = f"{PREFIX}{name}{end}"
        with noted(mistakes):
            return kind.parse(variable, given[variable]) if variable in given else default
        return default

    issuer, client_id, secret = value("", _PROVIDER) or ("", "", "")
    known = {address: label for label, address in _KNOWN.values()}
    label = value("_LABEL", PLAIN["name"], known.get(issuer, name.capitalize()))
    scopes = " ".join(
        value(
            "_SCOPES", PLAIN["text"], "read:user user:email" if issuer == GITHUB else "openid email profile"
        ).split()
    )
    if issuer != GITHUB and "openid" not in scopes.split():
        mistakes.append(f"{PREFIX}{name}_SCOPES={scopes!r} has no openid.")
    is_trusted = value("_TRUSTED", PLAIN["yes/no"], False)
    moderators = value("_MODERATORS", _MODERATORS)
    if mistakes:
        raise BadSetting(*mistakes)
    return Provider(name.lower(), label, issuer, client_id, secret, scopes, is_trusted, moderators)

"""The OpenID Connect providers of the settings, and who comes back from them."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings

if TYPE_CHECKING:
    from extras.providers.protocol import Visit

GITHUB = "https://github.com"  # not an issuer of ID tokens: OAuth 2 with addresses of its own
TENANT = "{tenantid}"  # in the issuer of a provider of many organisations, which Microsoft is: each has a number

_TENANT = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider."""

    name: str  # what addresses call it: that of the setting, in lower case
    label: str  # what pages call it
    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    is_trusted: bool = False  # whether an address that it calls verified counts as verified here
    moderators: tuple[str, str] | None = None
    """The claim, dotted, and the value in it that make a member a moderator."""

    @property
    def is_github(self) -> bool:
        return self.issuer == GITHUB

    @property
    def can_prove(self) -> bool:
        """Whether its answers can say when the person logged in there: those of GitHub have no ID token."""
        return not self.is_github

    def issues_as(self, issuer: str) -> bool:
        """Return whether the provider issues tokens under this name, and identities."""
        if TENANT not in self.issuer:
            return issuer == self.issuer
        return re.fullmatch(_TENANT.join(map(re.escape, self.issuer.split(TENANT))), issuer) is not None

    def __repr__(self) -> str:
        return f"Provider({self.name!r})"  # without its secret


def provider_of(issuer: str) -> Provider | None:
    """Return the provider that issues under this name; None if it is not in the settings."""
    return next((one for one in settings.PROVIDERS.values() if one.issues_as(issuer)), None)


class ProviderAway(Exception):
    """The provider does not answer, or nothing that can be used. The text is for the operator."""


class Refused(Exception):
    """The answer is not from the provider, not for this site, or not of this time. The text is for the log."""


class Unproven(Refused):
    """The provider does not say that the person has just logged in there."""


class Declined(Exception):
    """The person, or the provider, decided against it."""


class Person(NamedTuple):
    """Who came back from a provider. A session can keep it."""

    provider: str
    issuer: str
    subject: str
    label: str  # what the provider calls the person: an address or a name
    email: str
    email_is_verified: bool
    names: list[str]  # what could be their name here, the best first
    is_moderator: bool  # whether the claims give moderation


def visit(provider: Provider) -> "Visit":
    """Return what asks the provider on behalf of one page."""
    from extras.providers.protocol import Visit  # noqa: PLC0415 - its libraries take 20 MB

    return Visit(provider)

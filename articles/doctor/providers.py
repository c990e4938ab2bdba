"""Whether members can sign in with the providers of the settings."""

from collections.abc import Iterator

from django.conf import settings

from accounts.sign_in.provider import ProviderAway, visit
from articles.doctor.examination import Examination, Finding, error, fine, note, warning


def check_ways(_examination: Examination) -> Iterator[Finding]:
    """Look at the settings alone."""
    if settings.PASSWORDS:
        yield fine("Members can sign in with passwords.")
    elif not settings.PROVIDERS:
        yield warning("`PASSWORDS` is off, and there is no provider: no one can join.", "Set `OIDC_<NAME>`.")
    else:
        yield fine("Members sign in with providers and passkeys only.")
    if settings.PROVIDERS and not settings.SITE_URL:
        yield note(
            "Providers lead members back to the address in their browser, as `SITE_URL` is not set.",
            "Set `SITE_URL`, and register its `/login/with/<name>/back/` at each provider.",
        )


def check_providers(_examination: Examination) -> Iterator[Finding]:
    """Ask each provider what it says about itself: its issuer, addresses and algorithms."""
    for provider in settings.PROVIDERS.values():
        setting = f"OIDC_{provider.name.upper()}"
        try:
            asking = visit(provider)
            asking.metadata()
            algorithms = [] if provider.is_github else asking.algorithms()
        except ProviderAway as away:
            advice = f"Check the issuer in `{setting}`, and whether this machine can reach it."
            yield error(f"Members cannot sign in with {provider.label}.", advice, str(away))
            continue
        if not provider.is_github and not algorithms:
            yield error(
                f"{provider.label} signs with no algorithm that the site accepts.",
                "Choose RS256 or ES256 at the provider.",
            )
        else:
            yield fine(f"Members can sign in with {provider.label}.")

"""What the doctor says of providers to sign in with."""

from collections.abc import Iterator

from django.conf import settings

from articles.doctor.examination import Check, Examination, Finding, error, fine, note
from extras.providers.provider import ProviderAway, visit


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


def check_way_back(_examination: Examination) -> Iterator[Finding]:
    """Look at the settings alone."""
    if settings.PROVIDERS and not settings.SITE_URL:
        yield note(
            "Providers lead members back to the address in their browser, as `SITE_URL` is not set.",
            "Set `SITE_URL`, and register its `/login/with/<name>/back/` at each provider.",
        )


CHECKS = (
    Check("sign-in", "way back", check_way_back, slow=True),
    Check("sign-in", "providers", check_providers, slow=True),
)

"""The site's address for absolute URLs: in feeds, sitemaps, cards."""

from django.http import HttpRequest

from accounts.mail import public_address


def site_address(request: HttpRequest) -> str:
    """Return scheme and host, without a trailing slash: those of SITE_URL, or else those of the request."""
    scheme, host = public_address(request)
    return f"{scheme}://{host}"

"""Addresses that leave the site: in feeds, sitemaps, cards."""

from django.http import HttpRequest

from accounts.mail import public_address


def site_address(request: HttpRequest) -> str:
    """Scheme and host, without a slash at the end: the operator's, and only without one the request's."""
    scheme, host = public_address(request)
    return f"{scheme}://{host}"

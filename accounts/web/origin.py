"""Check which site a form was sent from."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest


def comes_from_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that the form is on another origin, including other subdomains.

    Browsers without Sec-Fetch-Site report it by the Origin header only.
    """
    if site := request.headers.get("Sec-Fetch-Site"):
        return site not in ("same-origin", "none")
    if (origin := request.headers.get("Origin")) is None:
        return False
    own = {request.get_host(), urlsplit(settings.SITE_URL).netloc} - {""}
    return origin.partition("://")[2] not in own

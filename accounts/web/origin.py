"""Where a form was sent from, as far as the browser says."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest


def comes_from_elsewhere(request: HttpRequest) -> bool:
    """Whether the browser says that the form stood on another site's page, a neighbour's on the same domain too.

    Older browsers say so by the Origin alone.
    """
    if site := request.headers.get("Sec-Fetch-Site"):
        return site not in ("same-origin", "none")
    if (origin := request.headers.get("Origin")) is None:
        return False
    own = {request.get_host(), urlsplit(settings.SITE_URL).netloc} - {""}
    return origin.partition("://")[2] not in own

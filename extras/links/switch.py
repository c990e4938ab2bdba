"""Whether the site fetches titles, and where: what launcher and workers both know."""

from django.conf import settings

from outgoing.addresses import is_private

SOCKET_VARIABLE = "LINKS_SOCKET"
"""Variable by which the launcher names the fetching process's socket to the web server's processes."""


def is_on() -> bool:
    """Return whether the site fetches what members type: by its setting, or if it has a public address.

    Without one, it may be in a network whose pages are not for all who can post.
    """
    if settings.FETCH_TITLES != "":
        return bool(settings.FETCH_TITLES)
    has_address = settings.SITE_URL and not is_private(f"{settings.SITE_URL}/")
    return bool(has_address and not settings.ALLOW_PRIVATE_LINKS)

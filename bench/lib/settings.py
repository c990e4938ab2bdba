"""The site's settings, without rate limits."""

from voting_site.settings import *  # noqa: F403

RATE_LIMITS = False

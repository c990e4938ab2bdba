"""The site's settings, without rate limits."""

from articles.domain.limits import rates
from voting_site.settings import *  # noqa: F403

LIMITS = rates("off")

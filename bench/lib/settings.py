"""The site's settings, with one more URL: a view that does nothing."""

from voting_site.settings import *  # noqa: F403

RATE_LIMITS = False
ROOT_URLCONF = "bench.lib.urls"

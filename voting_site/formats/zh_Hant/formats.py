"""As in Simplified Chinese."""

from voting_site.formats.zh_Hans.formats import *  # noqa: F403

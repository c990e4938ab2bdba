"""Mail to members that housekeeping sends, outside any request."""

from articles.mailing.digest import WEEK, send_digests
from articles.mailing.notices import SETTLE_SECONDS, send_due

__all__ = ["SETTLE_SECONDS", "WEEK", "send_digests", "send_due"]

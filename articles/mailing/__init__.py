"""Mail to members that housekeeping sends, outside any request."""

from articles.mailing.notices import SETTLE_SECONDS, WEEK, send_digests, send_due

__all__ = ["SETTLE_SECONDS", "WEEK", "send_digests", "send_due"]

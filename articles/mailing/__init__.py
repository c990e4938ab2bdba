"""Mail about new notices, which housekeeping sends."""

from articles.mailing.notices import MAILS_PER_RUN, SETTLE_SECONDS, send_due

__all__ = ["MAILS_PER_RUN", "SETTLE_SECONDS", "send_due"]

"""Format log records as single lines, whatever a client sends in a path, a header or a name."""

import logging


class TracebacksOfFaults(logging.Filter):
    """Keep tracebacks of failures, and drop those of rejected requests, which are not the site's fault."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class OutagesReportedOnce(logging.Filter):
    """Drop Django's line about each answer with status 503: articles/operation/outages.py reports the outage."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name != "django.request" or getattr(record, "status_code", 0) != 503


class OneLineFormatter(logging.Formatter):
    """Format as `2026-01-31 12:00:00+0000 INFO name: message`, with control characters escaped."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S%z")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        record.message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in record.message)
        return super().formatMessage(record)

"""Format log records as single lines, whatever a client sends in a path, a header or a name."""

import json
import logging
from datetime import UTC, datetime


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


class JsonFormatter(logging.Formatter):
    """Format as one line of JSON in ASCII: time, level, logger, message, process; the traceback as a field.

    Of a request there are its method, path and status, not its query or headers, which may have secrets.
    """

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "thread": record.threadName,
        }
        if request := getattr(record, "request", None):
            fields |= {"method": str(getattr(request, "method", "")), "path": str(getattr(request, "path", ""))}
        if (status := getattr(record, "status_code", None)) is not None:
            fields["status"] = int(status)
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)

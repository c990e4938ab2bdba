"""Log lines that stay one line, whatever a visitor put into a path, a header or a name."""

import logging


class OneLineFormatter(logging.Formatter):
    """`2026-01-31 12:00:00 INFO name: message`, with control characters of the message escaped."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        record.message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in record.message)
        return super().formatMessage(record)

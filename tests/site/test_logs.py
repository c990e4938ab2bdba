import logging
import re
import sys

import pytest

from voting_site.configuration.logs import OneLineFormatter, TracebacksOfFaults


def test_a_log_entry_is_one_line_whatever_its_text():
    record = logging.LogRecord("x", logging.INFO, "", 0, "GET %s", ("/a\r\nb\x1b[31m\u202e",), None)

    line = OneLineFormatter().format(record)

    assert "\n" not in line
    assert r"/a\r\nb\x1b[31m\u202e" in line


@pytest.mark.parametrize(("status", "lines"), [(403, 1), (400, 1), (500, 4)])
def test_only_errors_of_the_site_are_logged_with_a_traceback(status, lines):
    try:
        raise PermissionError("no")
    except PermissionError:
        record = logging.LogRecord("django.request", logging.WARNING, "", 0, "GET /x", (), sys.exc_info())
    record.status_code = status

    assert TracebacksOfFaults().filter(record)
    assert len(OneLineFormatter().format(record).splitlines()) >= lines
    assert (record.exc_info is None) == (lines == 1)


def test_a_crash_outside_requests_keeps_its_traceback():
    record = logging.LogRecord("x", logging.ERROR, "", 0, "y", (), (ValueError, ValueError("z"), None))

    TracebacksOfFaults().filter(record)

    assert "ValueError: z" in OneLineFormatter().format(record)


def test_a_log_line_includes_the_time_zone():
    record = logging.LogRecord("x", logging.INFO, "", 0, "y", (), None)

    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4} INFO x: y$", OneLineFormatter().format(record))

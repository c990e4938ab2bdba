import json
import logging
import re
import sys

import pytest

from voting_site.configuration.logs import JsonFormatter, OneLineFormatter, TracebacksOfFaults


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


HOSTILE = (
    "/a\r\nb", "\x1b[31m", "\u202e\u2028\x85", "\udcff", "\0", '"}', "\\", "\N{GRINNING FACE}", "%s %d", "\x7f",
    "{}", "\ufeff", "\ufffe", "\v\f\x1c", "\u2029", "\t", "' OR 1", "</script>", "数据", "\ud800\udc00",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_record_is_one_line_of_json_whatever_its_text(text):
    try:
        raise ValueError(text)
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "GET %s", (text,), sys.exc_info())
    record.request = type("Request", (), {"method": "GET", "path": text})
    record.status_code = 500

    line = JsonFormatter().format(record)

    assert line.isascii()
    assert line.isprintable()
    fields = json.loads(line)
    if "\ud800" not in text:  # JSON joins such a pair
        assert (fields["message"], fields["path"]) == (f"GET {text}", text)
    assert fields["status"] == 500
    assert fields["exception"].startswith("Traceback")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fields["time"])


def test_each_line_of_a_site_with_json_logs_is_an_object_without_the_administrator_s_code(start):
    site = start(is_empty=True, LOG_FORMAT="json")
    site.wait_until_up()
    assert site.stop() == 0

    records = [json.loads(line) for line in site.told().splitlines()]
    assert {"time", "level", "logger", "message", "process"} <= set.intersection(*(set(one) for one in records))
    assert any("The site is at" in one["message"] for one in records)
    assert not any("/first/#" in one["message"] for one in records)

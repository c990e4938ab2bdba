import logging

from voting_site.logs import OneLineFormatter


def test_a_line_stays_one_line_whatever_it_holds():
    record = logging.LogRecord("x", logging.INFO, "", 0, "GET %s", ("/a\r\nb\x1b[31m\u202e",), None)

    line = OneLineFormatter().format(record)

    assert "\n" not in line
    assert r"/a\r\nb\x1b[31m\u202e" in line

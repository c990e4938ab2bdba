"""The report of `manage.py doctor`."""

import json

import pytest

from articles.doctor.checks import CHECKS, Check
from articles.doctor.examination import Result, error, fine, note, warning
from voting_site.doctor_report import status_of, written

RESULTS = [
    Result("files", "secret key", error("All can read it.", "Run chmod.", "mode 644")),
    Result("files", "owner", fine("All is well.")),
    Result("mail", "backend", note("Not sent.")),
    Result("mail", "server", warning("It is slow.")),
]


def test_the_text_has_sections_levels_and_advice():
    assert written(RESULTS).splitlines() == [
        "Files", "  ERROR    All can read it.", "           (mode 644)", "           → Run chmod.",
        "  fine     All is well.", "Mail", "  note     Not sent.", "  WARNING  It is slow.",
        "", "1 error, 1 warning.",
    ]  # fmt: skip


def test_the_json_names_sections_checks_and_levels():
    report = json.loads(written(RESULTS, json=True))

    assert report["status"] == 2
    assert report["findings"][0] == {
        "section": "files",
        "check": "secret key",
        "level": "error",
        "text": "All can read it.",
        "advice": "Run chmod.",
        "detail": "mode 644",
    }
    assert len(report["findings"]) == 4
    assert len(json.loads(written(RESULTS, quiet=True, json=True))["findings"]) == 2


@pytest.mark.parametrize(("results", "status"), [(RESULTS, 2), (RESULTS[1:], 1), (RESULTS[1:3], 0), ([], 0)])
def test_the_worst_finding_decides_the_exit_status(results, status):
    assert status_of(results) == status


def test_a_check_that_fails_is_a_finding_and_the_others_are_run():
    def look(_examination):
        yield fine("So far.")
        raise ValueError("a\nbug")

    first, second = Check("files", "broken", look).results(None)

    assert first.finding.text == "So far."
    assert second.finding.level.label == "error"
    assert second.finding.detail == "ValueError: a bug"


def test_every_check_has_a_name_of_its_own():
    names = [(check.section, check.name) for check in CHECKS]

    assert len(set(names)) == len(names)
    assert [section for section, _name in names] == sorted(
        (section for section, _name in names), key=list(dict.fromkeys(s for s, _ in names)).index
    ), "checks of a section stand together"

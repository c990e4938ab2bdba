"""Looking with one of the doctor's checks."""

from django.utils import translation

from articles.doctor.checks import CHECKS
from articles.doctor.examination import Examination, Finding
from articles.web.wiring import examined_repository


def look(section: str, name: str) -> list[Finding]:
    """Return what the check finds now."""
    (check,) = [check for check in CHECKS if (check.section, check.name) == (section, name)]
    with translation.override("en"):  # a page that another test opened leaves its language active
        return [result.finding for result in check.results(Examination(examined_repository()))]


def brief(section: str, name: str) -> list[tuple[str, str]]:
    """Return level and text of each finding of the check."""
    return [(finding.level.label, finding.text) for finding in look(section, name)]


def levels(section: str, name: str) -> list[str]:
    return [level for level, _text in brief(section, name)]

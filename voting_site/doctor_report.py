"""The report of `manage.py doctor`, as text or as JSON, and its exit status."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from json import dumps

from articles.doctor.examination import Level, Result, error, warning
from voting_site import __version__

EXIT_STATUS = {Level.ERROR: 2, Level.WARNING: 1}  # exit status by the worst finding; 0 for any other

_MARKS = {Level.FINE: "fine", Level.NOTE: "note", Level.WARNING: "WARNING", Level.ERROR: "ERROR"}
_INDENT = " " * 11


def add_form_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print only errors and warnings")
    parser.add_argument("--json", action="store_true", help="print a JSON object, for a monitor")


def form_in(arguments: Sequence[str]) -> dict[str, bool]:
    """Return the form that a command line chooses, whatever else it contains, as `written` takes it."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    add_form_arguments(parser)
    return vars(parser.parse_known_args(arguments)[0])


def settings_results(invalid: Iterable[str], unused: Iterable[str]) -> list[Result]:
    """Return results about settings that cannot be loaded, and about lines of the file .env without effect."""
    return [
        *(Result("settings", "values", error(text)) for text in invalid),
        *(Result("settings", "env file", warning(text)) for text in unused),
    ]


def status_of(results: Iterable[Result]) -> int:
    worst = max((result.finding.level for result in results), default=Level.FINE)
    return EXIT_STATUS.get(worst, 0)


def written(results: Sequence[Result], *, quiet: bool = False, json: bool = False) -> str:
    """Return the report, or only its problems, or as JSON; "" if there is nothing to say."""
    shown = [one for one in results if one.finding.level.needs_attention or not quiet]
    if json:
        findings = [
            {"section": one.section, "check": one.check} | asdict(one.finding) | {"level": one.finding.level.label}
            for one in shown
        ]
        report = {"version": __version__, "status": status_of(results), "findings": findings}
        return dumps(report, indent=2, ensure_ascii=False)
    lines = list(_lines(shown))
    return "\n".join(lines if quiet else [*lines, "", _summary(results)])


def _lines(results: Iterable[Result]) -> Iterator[str]:
    for section, group in groupby(results, key=lambda one: one.section):
        yield section.capitalize()
        for one in group:
            yield f"  {_MARKS[one.finding.level]:8} {one.finding.text}"
            if one.finding.detail:
                yield f"{_INDENT}({one.finding.detail})"
            if one.finding.advice:
                yield f"{_INDENT}→ {one.finding.advice}"


def _summary(results: Iterable[Result]) -> str:
    counts = Counter(one.finding.level for one in results)
    if not any(level.needs_attention for level in counts):
        return "No errors, no warnings."
    named = ((counts[Level.ERROR], "error"), (counts[Level.WARNING], "warning"))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in named if count) + "."

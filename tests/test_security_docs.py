"""The check of docs/security.md against the tests that it names and the identifiers that it uses."""

import ast
import re
from functools import cache

from tests.cases import for_each
from tests.source import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
ITEMS = re.findall(
    r"^\| v5\.0\.0-(\d+\.\d+\.\d+) \| ([12]) \| .+ \| (yes|partly|no) \| .+ \|$", PAGE, re.MULTILINE
)
ATTACKS = re.findall(r"^\| (\d+) \| .+ \| (.+) \|$", PAGE.partition("## Attacks")[2], re.MULTILINE)


@cache
def functions_of(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@for_each("path, name", NAMED)
def test_every_named_test_exists(path, name):
    assert (ROOT / path).is_file()
    assert not name or name in functions_of(path)


def test_the_standard_is_covered_item_by_item():
    identifiers = [identifier for identifier, _level, _met in ITEMS]

    assert len(ITEMS) >= 60
    assert len(set(identifiers)) == len(identifiers)
    assert identifiers == sorted(identifiers, key=lambda text: [int(part) for part in text.split(".")])
    assert len(ITEMS) == len(re.findall(r"^\| v5", PAGE, re.MULTILINE)), (
        "a row does not have the form of the others"
    )


def test_every_item_that_is_met_names_a_test_or_says_why_none_can_exist():
    rows = [line for line in PAGE.splitlines() if line.startswith("| v5")]

    assert [row for row in rows if "| yes |" in row and "`tests/" not in row and "no test" not in row] == []


def test_the_attacks_are_all_in_the_table():
    numbers = [int(number) for number, _tests in ATTACKS]

    assert numbers == list(range(1, 49))
    assert [number for number, tests in ATTACKS if "`tests/" not in tests and "not met" not in tests] == []

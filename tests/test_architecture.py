"""The check of docs/architecture.md against the files it names."""

import re
from pathlib import Path

import pytest

from articles.domain import extras
from bench.documentation import doors
from tests.cases import for_each
from tests.source import ROOT
from tests.test_floors import FLOORS

pytestmark = pytest.mark.source

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "docs" / "contributing.md").read_text("utf-8")

SCRIPTS = "articles/repository/"  # folder of `lua/`, which both pages abbreviate


MOST_FILES = 10  # files that a row names: where a change needs more, the design is what to change


def paths_in(text: str) -> list[str]:
    """Return the files and folders that a text names, each once. Addresses and patterns are not among them."""
    named = re.findall(r"`([A-Za-z.][\w.-]*(?:/[\w.-]+)*/?)`", text)
    known = ("py", "lua", "html", "css", "js", "md", "txt", "po", "mo", "toml", "in")
    return list(dict.fromkeys(one for one in named if one.endswith("/") or one.rpartition(".")[2] in known))


def file_of(path: str) -> Path:
    if path.startswith("lua/"):
        return ROOT / SCRIPTS / path
    return ROOT / path


def rows() -> list[list[str]]:
    """Return the rows of the table of changes."""
    lines = PAGE.partition("## To change X, open Y")[2].splitlines()
    found = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return found[2:]


@for_each("path", [one for one in paths_in(PAGE) if "/" in one])
def test_the_architecture_names_files_that_exist(path):
    assert file_of(path).exists()


@for_each("path", [one for one in paths_in(CONTRIBUTING) if "/" in one])
def test_the_contributors_guide_names_files_that_exist(path):
    assert file_of(path).exists()


@for_each("path, name", re.findall(r"`([\w/]+\.py)`\s+`(\w+)(?:\(\))?`", PAGE))
def test_a_walk_names_functions_that_exist(path, name):
    assert re.search(rf"^\s*(?:def|class) {name}\b", file_of(path).read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("extra", extras.names())
def test_the_table_of_extras_has_their_doors(extra):
    assert PAGE.count(f"\n{doors(extra)}\n") == 1


def test_no_row_names_more_than_ten_files():
    crowded = {row[0]: len(paths_in(" ".join(row))) for row in rows()}

    assert {change: files for change, files in crowded.items() if files > MOST_FILES} == {}


def test_first_tasks_name_rows_of_the_table():
    named = set(re.findall(r"\(\*([^*]+)\*\)", CONTRIBUTING))

    assert named
    assert named <= {row[0].strip(" *") for row in rows()}


def test_the_documented_floors_match_the_import_rules():
    block = PAGE.partition("## Floors")[2].partition("```\n")[2].partition("```")[0]
    drawn = [re.split(r" {5,}", line.lstrip("0123456789 "))[0].split() for line in block.splitlines()]

    floors = [{re.sub(r"^extras[.]\w+", "extras.*", package) for package in floor} for floor in FLOORS]
    floors[1].add("extras.*")  # also where all were deleted
    assert [set(floor) for floor in drawn] == floors

"""Prepared data directories, and the table at the end of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import stage as table
from tests.chaos.stage import Stage, prepare
from tests.waiting import fill_once

ARTICLES = {"small": 300, "large": table.scaled(100_000, 2_000)}


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill_once(tmp_path_factory, "small", lambda folder: prepare(folder, ARTICLES["small"]))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill_once(tmp_path_factory, "large", lambda folder: prepare(folder, ARTICLES["large"]))


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path, static_files: Path) -> Iterator[Stage]:
    """Where a fault happens; sites that the test starts end with it."""

    def prepared(size: str) -> Path:
        folder: Path = request.getfixturevalue(size)
        return folder

    stage = Stage(tmp_path, prepared, static_files)
    yield stage
    stage.end()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if table.ROWS:
        terminalreporter.write_line(table.HEAD)
        for row in sorted(table.ROWS, key=lambda row: row.number):
            terminalreporter.write_line(str(row))

"""docs/hot-list.md against the code: its numbers and its settings."""

import re
from pathlib import Path

import pytest

from articles.domain import ranking
from articles.domain.ranking import RANGES, Parameters, half_life, hotness
from tests.rules import default_rules

PAGE = (Path(__file__).parents[2] / "docs" / "hot-list.md").read_text("utf-8")


def rows_after(heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading."""
    lines = [line for line in PAGE.partition(heading)[2].splitlines() if line.strip()]
    at = next(n for n, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip(" *") for cell in line.strip("|").split("|")])
    return table


def test_the_parameters_have_the_documented_defaults_and_ranges():
    defaults, names = Parameters(), {"α": "alpha", "β": "beta", "base": "base", "γ": "gamma"}
    documented = {names[row[0]]: (float(row[1]), row[2]) for row in rows_after("## The formula")}

    assert documented == {
        name: (getattr(defaults, name), "{:g}–{:g}".format(*RANGES[name]).replace("1–2.5", "1.0–2.5"))
        for name in names.values()
    }


@pytest.mark.parametrize("row", rows_after("### What is left"))
def test_the_documented_remaining_hotness_matches_the_formula(row):
    gamma, *shares, halves = row
    parameters = Parameters(gamma=float(gamma))
    left = [100 * hotness(1, 1, hours, parameters) / hotness(1, 1, 0, parameters) for hours in (1, 6, 24, 72, 168)]

    for share, exact in zip(shares, left, strict=True):
        digits = len(share.partition(".")[2])
        assert float(share) == pytest.approx(exact, abs=0.51 * 10**-digits)
    assert halves == f"{half_life(parameters):.2f} h"


@pytest.mark.parametrize(("base", "hours"), re.findall(r"([\d.]+) h at base (\d+)", PAGE))
def test_the_documented_half_lives_match_the_formula(base, hours):
    assert float(base) == pytest.approx(half_life(Parameters(base=float(hours))), abs=0.06)


def test_the_example_of_a_day_old_article_matches_the_formula():
    told = re.search(r"needs (\d+) times the readers", PAGE)

    assert told
    assert int(told[1]) == round(hotness(1, 1, 0, Parameters()) / hotness(1, 1, 24, Parameters()))


def test_the_documented_limits_match_the_rules():
    rules = default_rules()

    assert f"**Rescored every {rules.hot_refresh} s**" in PAGE
    assert f"**Trimmed to {rules.hot_size:,} after scoring,**" in PAGE
    assert f"again within {rules.view_repeat // 60} minutes" in PAGE
    assert f"more than {rules.views_per_network_and_article} views of one article" in PAGE
    assert f"or {rules.views_per_network} of all, from one network" in PAGE
    assert f"for {rules.archive_after / 86400:g} days" in PAGE
    assert "{:g}–{:g} suits news".format(*ranking.RECOMMENDED_GAMMA) in PAGE

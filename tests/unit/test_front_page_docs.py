"""docs/front-page.md against the rules it describes."""

from pathlib import Path

from articles.domain import weight
from articles.domain.ranking import Parameters
from tests.internals import MOST_ARTICLES

PAGE = " ".join(
    (Path(__file__).parents[2] / "docs" / "front-page.md").read_text("utf-8").replace("**", "").split()
)


def test_the_documented_limits_match_the_rules():
    assert f"takes the {weight.PERCENT}th percentile of their points" in PAGE
    assert f"at least {weight.LOWEST} and at most {weight.HIGHEST}" in PAGE
    assert f"articles of the last {weight.RECENT / weight.DAY:.0f} days before the newest one" in PAGE
    assert f"at least {weight.FEWEST_ARTICLES}, with at least {weight.FEWEST_CHOICES} votes and opposes" in PAGE
    assert (weight.PATIENCE, weight.SETTLED) == (7 * weight.DAY, weight.DAY)
    assert "until its first article is a week old" in PAGE
    assert "leaves out those that are less than a day old" in PAGE
    assert f"If there are more than {MOST_ARTICLES:,} articles, an evenly spread selection is read." in PAGE


def test_a_site_starts_with_the_constant_of_the_source_documents():
    assert (Parameters().votes_per_day, Parameters().seconds_per_point) == (200, 432)
    assert "With `auto` a site begins with 200." in PAGE
    assert "200 is the constant of the source documents: 432 seconds per point" in PAGE

"""docs/front-page.md against the rules it describes."""

from pathlib import Path

from articles.domain import ranking
from articles.domain.ranking import Parameters
from tests.internals import MOST_ARTICLES

PAGE = " ".join(
    (Path(__file__).parents[2] / "docs" / "front-page.md").read_text("utf-8").replace("**", "").split()
)


def test_the_documented_limits_match_the_rules():
    assert f"takes the {ranking.PERCENT}th percentile of their points" in PAGE
    assert f"at least {ranking.LOWEST} and at most {ranking.HIGHEST}" in PAGE
    assert f"articles of the last {ranking.RECENT / ranking.DAY:.0f} days before the newest one" in PAGE
    assert f"at least {ranking.FEWEST_ARTICLES}, with at least {ranking.FEWEST_CHOICES} votes and opposes" in PAGE
    assert (ranking.PATIENCE, ranking.SETTLED) == (7 * ranking.DAY, ranking.DAY)
    assert "until its first article is a week old" in PAGE
    assert "leaves out those that are less than a day old" in PAGE
    assert f"If there are more than {MOST_ARTICLES:,} articles, an evenly spread selection is read." in PAGE


def test_a_site_starts_with_the_constant_of_the_source_documents():
    assert (Parameters().votes_per_day, Parameters().seconds_per_point) == (200, 432)
    assert "With `auto` a site begins with 200." in PAGE
    assert "200 is the constant of the source documents: 432 seconds per point" in PAGE

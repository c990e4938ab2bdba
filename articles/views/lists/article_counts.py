"""Counts of an article or a comment for scripts: as numbers, and as words in the reader's language."""

from typing import Any

from django.utils.translation import ngettext

from articles.domain.articles import Article, ArticleId, Choice, Tally
from articles.formatting.values import grouped


def counts(thing: ArticleId | str, source: Article | Tally) -> dict[str, Any]:
    """Return the counts as numbers, and as the pages show them. `thing`: an article, or `comment-<id>`."""
    votes, opposes = grouped(source.votes), grouped(source.opposes)
    return {
        "id": thing,
        "votes": source.votes,
        "opposes": source.opposes,
        "choice": source.choice.value,
        "points": grouped(source.points),
        "unit": ngettext("point", "points", abs(source.points)),
        "numbers": ngettext(
            "%(votes)s vote, %(opposes)s opposed", "%(votes)s votes, %(opposes)s opposed", source.votes
        )
        % {"votes": votes, "opposes": opposes},
    }


def comments_label(number: int) -> str:
    """Return the number of an article's comments in words."""
    return ngettext("%(num)s comment", "%(num)s comments", number) % {"num": grouped(number)}


def sentence(tally: Tally) -> str:
    """Return what a screen reader announces after a choice."""
    numbers = {"points": grouped(tally.points)}
    match tally.choice:
        case Choice.VOTE:
            text = ngettext(
                "Your vote is counted: %(points)s point now.",
                "Your vote is counted: %(points)s points now.",
                abs(tally.points),
            )
        case Choice.OPPOSE:
            text = ngettext(
                "Your opposition is counted: %(points)s point now.",
                "Your opposition is counted: %(points)s points now.",
                abs(tally.points),
            )
        case _:
            text = ngettext(
                "Your choice is taken back: %(points)s point now.",
                "Your choice is taken back: %(points)s points now.",
                abs(tally.points),
            )
    return text % numbers

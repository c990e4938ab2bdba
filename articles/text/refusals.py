"""Why something was refused, as a sentence in the reader's language."""

from django.utils.translation import gettext, gettext_lazy

from articles.domain import errors
from articles.domain.refusals import refusal_of
from articles.formatting.values import grouped
from articles.text.lines import InvalidInput
from articles.text.messages import INPUT


def input_sentence(refused: InvalidInput) -> str:
    """Return why an input was refused."""
    return gettext(INPUT[refused.code]) % {name: grouped(number) for name, number in refused.params.items()}


ACTIONS = {
    "article-not-found": gettext_lazy("There is no such article."),
    "article-removed": gettext_lazy("This article was removed by a moderator."),
    "group-not-found": gettext_lazy("There is no such group."),
    "page-not-found": gettext_lazy("There is no such page."),
    "page-too-deep": gettext_lazy("Pages of a list end here. Groups and the search lead to older articles."),
    "not-the-poster": gettext_lazy("Only its poster and moderators can edit an article."),
    "member-gone": gettext_lazy("This account is deleted."),
    "voting-closed": gettext_lazy("Voting on this article is closed: its voting window has ended."),
    "editing-closed": gettext_lazy("The time in which posters can edit their article has ended."),
    "duplicate-link": gettext_lazy("Another article with this link was posted recently."),
    "saved-full": gettext_lazy("You have saved the maximum number of articles. Forget some of them first."),
    "group-exists": gettext_lazy("There is a group of this name already."),
    "not-removed": gettext_lazy("This article is not removed."),
    "refused": gettext_lazy("This is not possible right now. Please try again in a moment."),
    "unavailable": gettext_lazy("The site cannot reach its store right now. Please try again in a moment."),
    "unconfirmed": gettext_lazy(
        "The store did not answer, so it is not certain whether this was saved. "
        "Please try again: nothing counts twice."
    ),
}
"""Sentences of the table in articles/domain/refusals.py, by `Refusal.sentence_key`."""


def action_sentence(error: errors.ArticlesError) -> str:
    """Return why the site refused a request."""
    return str(ACTIONS[refusal_of(error).sentence_key])

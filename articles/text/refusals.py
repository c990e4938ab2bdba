"""Why something was refused, as a sentence in the reader's language."""

from django.utils.translation import gettext_lazy

from articles.domain import errors
from articles.domain.refusals import refusal_of
from articles.formatting.values import grouped
from articles.text import lines

_INPUT = {
    "title-empty": gettext_lazy("The title has nothing that can be seen."),
    "title-long": gettext_lazy("The title has %(length)s characters; at most %(limit)s are possible."),
    "title-marks": gettext_lazy("The title has more than %(limit)s accents on one letter."),
    "title-encoding": gettext_lazy("The title is not valid Unicode text."),
    "reason-empty": gettext_lazy("The reason has nothing that can be seen."),
    "reason-long": gettext_lazy("The reason has %(length)s characters; at most %(limit)s are possible."),
    "reason-marks": gettext_lazy("The reason has more than %(limit)s accents on one letter."),
    "reason-encoding": gettext_lazy("The reason is not valid Unicode text."),
    "group-title-empty": gettext_lazy("The group's title has nothing that can be seen."),
    "group-title-long": gettext_lazy(
        "The group's title has %(length)s characters; at most %(limit)s are possible."
    ),
    "group-title-marks": gettext_lazy("The group's title has more than %(limit)s accents on one letter."),
    "group-title-encoding": gettext_lazy("The group's title is not valid Unicode text."),
    "token-name-empty": gettext_lazy("The token's name has nothing that can be seen."),
    "token-name-long": gettext_lazy("The token's name has %(length)s characters; at most %(limit)s are possible."),
    "token-name-marks": gettext_lazy("The token's name has more than %(limit)s accents on one letter."),
    "token-name-encoding": gettext_lazy("The token's name is not valid Unicode text."),
    "link-empty": gettext_lazy("The link is empty."),
    "link-long": gettext_lazy("The link has %(length)s characters once encoded; at most %(limit)s are possible."),
    "link-characters": gettext_lazy("The link contains spaces, line breaks or characters that cannot be seen."),
    "link-scheme": gettext_lazy("The link must start with http:// or https://."),
    "link-host": gettext_lazy("The link has no valid host, such as example.org."),
    "link-userinfo": gettext_lazy("The link must not contain a user name or a password."),
    "slug-form": gettext_lazy("A group's name is made of letters and digits, with single - or _ between them."),
    "slug-long": gettext_lazy("The group's name has %(length)s characters; at most %(limit)s are possible."),
}


def input_sentence(refused: lines.InvalidInput) -> str:
    """Why an input was refused."""
    return str(_INPUT[refused.code]) % {name: grouped(number) for name, number in refused.params.items()}


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
    "saved-full": gettext_lazy("You have saved as many articles as one can. Forget some of them first."),
    "group-exists": gettext_lazy("There is a group of this name already."),
    "not-removed": gettext_lazy("This article is not removed."),
    "refused": gettext_lazy("This is not possible right now. Please try again in a moment."),
    "unavailable": gettext_lazy("The site cannot reach its store right now. Please try again in a moment."),
}
"""Sentences of the table in articles/domain/refusals.py, by `Refusal.sentence_key`."""


def action_sentence(error: errors.ArticlesError) -> str:
    """Why the site did not do what was asked."""
    return str(ACTIONS[refusal_of(error).sentence_key])

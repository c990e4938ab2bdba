"""What is wrong with an input, as English sentences by code: the one table of pages, the API and the importer.

`articles.text.refusals` translates `INPUT`. The importer's report is in English only.
"""

from articles.domain import extras


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Mark a text for the catalogue, without translating it."""
    return text


INPUT = {
    "title-empty": N_("Enter a title."),
    "title-long": N_("The title has %(length)s characters. The limit is %(limit)s."),
    "title-marks": N_("A letter in the title has more than %(limit)s accents."),
    "title-encoding": N_("The title is not valid Unicode text."),
    "text-long": N_("The text has %(length)s characters. The limit is %(limit)s."),
    "text-marks": N_("A letter in the text has more than %(limit)s accents."),
    "text-encoding": N_("The text is not valid Unicode text."),
    "about-links": N_("New members cannot put links into this text yet."),
    "article-empty": N_("Enter a link, a text, or both."),
    "reason-empty": N_("Enter a reason."),
    "reason-long": N_("The reason has %(length)s characters. The limit is %(limit)s."),
    "reason-marks": N_("A letter in the reason has more than %(limit)s accents."),
    "reason-encoding": N_("The reason is not valid Unicode text."),
    "appeal-empty": N_("Write your appeal first."),
    "cited-empty": N_("Say which rule, or which law."),
    "notice-empty": N_("Explain what is wrong with it, and where."),
    "notice-address": N_("Enter the address of an article, a comment or a member’s page of this site."),
    "note-empty": N_("Write the note first."),
    "comment-empty": N_("Write a comment first."),
    "comment-long": N_("The comment has %(length)s characters. The limit is %(limit)s."),
    "comment-marks": N_("A letter in the comment has more than %(limit)s accents."),
    "comment-encoding": N_("The comment is not valid Unicode text."),
    "group-title-empty": N_("Enter a title for the group."),
    "group-title-long": N_("The group’s title has %(length)s characters. The limit is %(limit)s."),
    "group-title-marks": N_("A letter in the group’s title has more than %(limit)s accents."),
    "group-title-encoding": N_("The group’s title is not valid Unicode text."),
    "group-description-long": N_("The description has %(length)s characters. The limit is %(limit)s."),
    "group-description-marks": N_("A letter in the description has more than %(limit)s accents."),
    "group-description-encoding": N_("The description is not valid Unicode text."),
    "token-name-empty": N_("Enter a name for the token."),
    "token-name-long": N_("The token’s name has %(length)s characters. The limit is %(limit)s."),
    "token-name-marks": N_("A letter in the token’s name has more than %(limit)s accents."),
    "token-name-encoding": N_("The token’s name is not valid Unicode text."),
    "rule-name-empty": N_("Enter a name for the rule."),
    "rule-name-long": N_("The rule’s name has %(length)s characters. The limit is %(limit)s."),
    "rule-name-marks": N_("A letter in the rule’s name has more than %(limit)s accents."),
    "rule-name-encoding": N_("The rule’s name is not valid Unicode text."),
    "word-empty": N_("Enter a word of letters or digits."),
    "word-long": N_("The word has %(length)s characters. The limit is %(limit)s."),
    "word-marks": N_("A letter in the word has more than %(limit)s accents."),
    "word-encoding": N_("The word is not valid Unicode text."),
    "member-unknown": N_("There is no such member."),
    "group-closed": N_("This group is for members only: it can only be merged into another one for members only."),
    "member-self": N_("You cannot hide what you post yourself."),
    "link-empty": N_("Enter a link."),
    "link-long": N_("The link has %(length)s characters once encoded. The limit is %(limit)s."),
    "link-characters": N_("The link contains spaces, line breaks or invisible characters."),
    "link-scheme": N_("The link must start with http:// or https://."),
    "link-host": N_("The link needs a valid host name, such as example.org."),
    "link-private": N_("The link leads to a private or local address, which other readers cannot open."),
    "link-blocked": N_("Links to %(host)s cannot be posted here. Reason: “%(reason)s”."),
    "link-userinfo": N_("The link must not contain a username or password."),
    "slug-form": N_("A group’s name can only contain letters and digits, with single - or _ between them."),
    "slug-long": N_("The group’s name has %(length)s characters. The limit is %(limit)s."),
    **extras.inputs(),
}
"""Input that readers and programs send. The API documents these codes: they are stable."""

_NEEDED = ("title", "link", "text", "time", "votes")
_TEXTS = ("title", "link", "text", "poster", "author", "reason")

ROWS = {
    "row-encoding": "The line is not UTF-8 text.",
    "row-json": "The line is not valid JSON.",
    "row-object": "The line is not a JSON object.",
    "row-long": "The line is too long.",
    **{f"{name}-missing": f"The field {name!r} is missing." for name in _NEEDED},
    **{f"{name}-kind": f"The {name} is not text." for name in _TEXTS},
    "time-kind": "The time is not a number of Unix seconds.",
    "time-early": "The time is before 1990.",
    "time-late": "The time is more than a day in the future.",
    "closes-kind": "The end of voting is not a number of Unix seconds.",
    "closes-early": "Voting ends before the time of posting.",
    "closes-late": "Voting ends more than a year after the time of posting.",
    "votes-kind": "The votes are not a whole number.",
    "votes-many": "There are more votes than the site can store.",
    "votes-open": "Voting is still open. Until it ends there can be at most %(limit)s votes and opposes.",
    "opposes-kind": "The votes and opposes are not whole numbers from 0.",
    "groups-kind": "The groups are not a list.",
    "slug-kind": "A group's name is not text.",
    "comment-number-kind": "A comment's number is not a whole number below a million.",
    "comment-number-order": "The comment's number is not higher than that of the comment above it.",
    "comment-number-taken": "The article has another comment with this number here.",
    "comment-article": "The comment has no article: none is above it, or it was rejected.",
    "comment-parent": "The comment that it replies to is not above it, or was rejected.",
    "comment-parent-gone": "The comment that it replies to is not here.",
    "edited-kind": "The time of the edit is not a number of Unix seconds.",
    "edited-early": "The comment was edited before the time of posting.",
    "edited-late": "The time of the edit is more than a day in the future.",
    "deleted-kind": "The field 'deleted' is neither true nor false.",
    "slug-many": "The article is in more than %(limit)s groups. Only the first %(limit)s are kept.",
}
"""Rows of a file to import, besides `INPUT`."""


def english_sentence(code: str, params: dict[str, int | str]) -> str:
    """Return the sentence of a code of either table, with the facts it names."""
    sentence = INPUT.get(code) or ROWS[code]
    return sentence % {name: fact if isinstance(fact, str) else f"{fact:,}" for name, fact in params.items()}

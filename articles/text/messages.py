"""What is wrong with an input, as English sentences by code: the one table of pages and the API.

`articles.text.refusals` translates them.
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


def english_sentence(code: str, params: dict[str, int | str]) -> str:
    """Return the sentence of a code of `INPUT`, with the facts it names."""
    return with_facts(INPUT[code], params)


def with_facts(sentence: str, facts: dict[str, int | str]) -> str:
    return sentence % {name: fact if isinstance(fact, str) else f"{fact:,}" for name, fact in facts.items()}

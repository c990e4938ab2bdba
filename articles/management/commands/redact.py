"""`manage.py redact`: replace texts for good, in the moderation log and in what is removed."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from django.core.management.base import CommandError, CommandParser

from articles.domain.errors import ArticleNotFound
from articles.domain.moderation_log import OPERATOR, Redactable
from articles.management.base import StoreCommand
from articles.repository import Repository
from articles.text.lines import InvalidInput, clean_reason
from articles.text.refusals import input_sentence
from articles.web.wiring import patient_repository
from moderation import redactions


class _Found(NamedTuple):
    """Texts that can be redacted together. `where`: what they are about."""

    where: str
    texts: list[Redactable]
    redact: Callable[[list[str], str], int]


class Command(StoreCommand):
    """Safe while the site is in use, and safe to interrupt and repeat."""

    help = (
        "List the titles, links, texts and reasons that contain WORDS, in the moderation log and in removed "
        "articles and comments. With --reason, replace each of them as a whole by “[redacted]”, which cannot be "
        "undone. What everyone can read on the pages of articles and comments stays: edit or remove it first."
    )
    when_interrupted = "Interrupted. Run it again to finish."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("words", metavar="WORDS", help="what to look for, whatever the letter case")
        parser.add_argument("--reason", help="redact; everyone can read the reason in the moderation log")

    def handle(self, *_: Any, words: str, reason: str | None, **__: Any) -> None:
        if not words.strip():
            raise CommandError("Give the words to look for.")
        try:
            cleaned = None if reason is None else clean_reason(reason)
        except InvalidInput as refused:
            raise CommandError(input_sentence(refused)) from None
        places = found = 0
        for one in _find(patient_repository(), words.casefold()):
            for part, text in one.texts:
                found += 1
                self.stdout.write(f"{one.where}, {part}: {text}")
            if cleaned is not None:
                places += one.redact([text for _, text in one.texts], cleaned)
        if cleaned is None:
            self.stdout.write(f"Found {found:,} texts. Run it with --reason to redact them.")
        else:
            self.stdout.write(f"Redacted {found:,} texts in {places:,} places.")


def _find(repository: Repository, words: str) -> Iterator[_Found]:
    """Yield what contains the words, casefolded: about each article, then in entries about none."""
    articles, moments = set(repository.removed_articles.iterate_ids()), set[float]()
    for entry in repository.moderation_log.iterate():
        if entry.article_id:
            articles.add(entry.article_id)
        else:
            moments.add(entry.at)
    for number in sorted(articles):
        with suppress(ArticleNotFound):
            texts = repository.redactions.list_texts(number)
            yield from _matching(f"article {number}", texts, words, partial(redactions.redact_article, number))
    for at in sorted(moments):
        texts = repository.redactions.list_texts_of(repository.redactions.list_entries(at))
        yield from _matching("log", texts, words, partial(redactions.redact_entries, at))


def _matching(where: str, texts: list[Redactable], words: str, redact: Callable[..., int]) -> Iterator[_Found]:
    found = [one for one in texts if words in one.text.casefold()]
    if found:
        yield _Found(where, found, lambda chosen, reason: redact(chosen, reason, OPERATOR))

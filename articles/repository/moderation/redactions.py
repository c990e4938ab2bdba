"""Redactions: texts that are replaced for good, in the moderation log and in what is removed."""

from collections.abc import Collection, Iterable, Iterator

from articles.domain.articles import WITHDRAWN, Article, ArticleId
from articles.domain.errors import ArticleNotFound
from articles.domain.moderation_log import REDACTED, Actor, LogEntry, Redactable
from articles.domain.reasons import OwnText, recorded
from articles.repository.changes import Changes
from articles.repository.lists.reading import read_articles
from articles.repository.moderation.log import entries_from
from articles.repository.store.connection import OfStore, Value, exact_time
from articles.repository.store.keys import Keys

_MOST_ENTRIES = 1000  # entries about an article whose texts are listed, the newest


class Redactions(OfStore):
    """The redactions of a store. Nothing reverses them."""

    def list_texts(self, article_id: ArticleId) -> list[Redactable]:
        """Return the texts about an article that can be redacted, each once. At most three round trips.

        Those of its entries in the log; if it is removed, its own; and those of its removed comments. The title
        and the link that readers see are left out. Raises ArticleNotFound.
        """
        article = self._read(article_id)
        keys = self._store.shards.of(article_id)
        _left, *texts = self._store.run(
            "moderation_log/find", [keys.article(article_id), keys.log], [_MOST_ENTRIES, ""]
        )
        entries = list(entries_from(texts))
        found = [*_of_article(article), *_of_entries(entries), *self._of_comments(entries)]
        shown = () if article.removed is not None else (article.title, article.link)
        return [one for one in dict.fromkeys(found) if _redactable([one.text]) and one.text not in shown]

    def _of_comments(self, entries: Iterable[LogEntry]) -> Iterator[Redactable]:
        """Yield the texts of comments that are removed. One round trip, none without comments."""
        comments = dict.fromkeys(int(one.details["comment"]) for one in entries if one.details.get("comment"))
        with self._store.pipeline() as pipe:
            for comment in comments:
                pipe.hmget(self._store.shards.of_comment(comment).comment(comment), "removed", "text")
            texts = pipe.execute() if comments else []
        yield from (Redactable("text", text) for removed, text in texts if removed is not None and text)

    def list_entries(self, at: float) -> list[LogEntry]:
        """Return the entries that concern no article and were logged at this moment. One round trip."""
        log = self._store.shards.directory.log
        return list(entries_from(self._store.run("redactions/find", [log], [exact_time(at)])))

    def list_texts_of(self, entries: Iterable[LogEntry]) -> list[Redactable]:
        """Return the texts of such entries that can be redacted, each once."""
        return [one for one in dict.fromkeys(_of_entries(entries)) if _redactable([one.text])]

    def redact_article(self, article_id: ArticleId, texts: Collection[str], actor: Actor, reason: str) -> int:
        """Replace texts; return in how many places. Idempotent. Two round trips. Raises ArticleNotFound."""
        store, keys = self._store, self._store.shards.of(article_id)
        arguments = [article_id, *self._facts(actor, reason, keys), *_redactable(texts)]
        with store.retracting([article_id]):
            (places,) = store.change(
                "redactions/redact_article", article_id, [keys.article(article_id), keys.log], arguments
            )
        if int(places):
            Changes(store).begin_copy()  # so that no index keeps the words in its files
        return int(places)

    def redact_entries(self, at: float, texts: Collection[str], actor: Actor, reason: str) -> int:
        """Replace texts of such entries; return in how many places. Idempotent. One round trip."""
        store, keys = self._store, self._store.shards.directory
        arguments = [exact_time(at), *self._facts(actor, reason, keys), *_redactable(texts)]
        with store.retracting([]):
            (places,) = store.change("redactions/redact_entries", at, [keys.log, keys.tunings], arguments)
        return int(places)

    def _facts(self, actor: Actor, reason: str, keys: Keys) -> list[Value]:
        return [actor.name, exact_time(self._store.now()), reason, keys.prefix, REDACTED]

    def _read(self, article_id: ArticleId) -> Article:
        for article in read_articles(self._store, [article_id], None, with_texts=True):
            return article
        raise ArticleNotFound(article_id)


def _of_article(article: Article) -> Iterator[Redactable]:
    if article.removed is not None:
        yield Redactable("title", article.title)
        yield Redactable("link", article.link)
        yield Redactable("text", article.text)
        yield Redactable("reason", article.removed)


def _of_entries(entries: Iterable[LogEntry]) -> Iterator[Redactable]:
    for entry in entries:
        if not entry.names_member:
            yield Redactable("title", entry.title)
        yield Redactable("title", entry.details.get("old_title", ""))
        yield Redactable("link", entry.details.get("old_link", ""))
        yield Redactable("reason", entry.reason)


def _redactable(texts: Iterable[str]) -> list[str]:
    """Return those of these texts that can be redacted: none of the site's own."""
    found = (text for text in dict.fromkeys(texts) if text not in ("", WITHDRAWN))
    return [text for text in found if not isinstance(recorded(text), OwnText)]

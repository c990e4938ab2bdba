"""The audit and the repair of comments: their places, votes, authors' lists, and the counts of articles.

The repair rebuilds lists of replies, authors' lists and counts from the comments themselves.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.comments import COMMENTS_PER_ARTICLE, CommentId, article_of, root_of
from articles.domain.errors import StoreDamaged
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK, KEYS_PER_READ, KEYS_PER_SCAN
from articles.repository.store.connection import Call, OfStore, Store, Value, exact_time
from articles.repository.store.findings import Finding, Verb, attempt, attempt_each, carry_out, findings_from
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, batches, portions, ranked_members
from articles.repository.store.values import count_from
from articles.repository.upkeep.long_articles import MOST_LOOKED_AT

MOST_RECOUNTS = 3  # attempts to count the comments of an article while members are posting


@dataclass(slots=True)
class Shown:
    """Comments that an article shows: their number, and the time of the last one as the store has it, or ""."""

    number: int = 0
    last: str = ""

    def add(self, time: str) -> None:
        """Count a comment; call it in the order of their ids."""
        self.number, self.last = self.number + 1, time

    def agrees_with(self, noted: "NotedComments") -> bool:
        """Return whether the article records the same."""
        return count_from(noted.number) == self.number and (noted.last or "") == self.last


class NotedComments(NamedTuple):
    """What an article records about its comments: how many are shown, the last number given, the last time."""

    number: str | None
    last_number: str | None
    last: str | None


_NOTHING_NOTED = NotedComments(None, None, None)


CommentState = tuple[CommentId, str, str]
"""A comment; "shown", "removed", "stub", "damaged" or "missing"; and when it was posted, as the store has it."""


class CommentAudit(OfStore):
    """The audit of the comments of one shard. Read-only."""

    def run(self, keys: Keys, contents: Contents, discussed: Set[ArticleId]) -> Iterator[Finding]:
        """Yield every broken invariant of the comments in a shard. In batches. Raises StoreError.

        `discussed`: the articles that have any field about comments, or could not be read.
        """
        shown = defaultdict[ArticleId, Shown](Shown)
        check_one = partial(self._check, keys, shown)
        for batch in batches(known_comments(self._store, keys, contents), ARTICLES_PER_CHECK):
            yield from attempt_each(keys.comment, batch, check_one)
        for name, subjects, check in (
            (keys.replies_best, contents.threads, self.check_replies),
            (keys.commented, contents.authors, self.check_authors),
        ):
            for batch in batches(subjects, KEYS_PER_READ):
                yield from attempt_each(name, batch, partial(check, keys))
        highest = {article_of(one): one % COMMENTS_PER_ARTICLE for one in sorted(contents.comments)}
        for ids in portions(sorted(contents.articles & (discussed | shown.keys())), KEYS_PER_SCAN):
            yield from attempt(keys.article(ids[0]), self._check_counts(keys, ids, shown, highest))

    def _check(self, keys: Keys, shown: dict[ArticleId, Shown], batch: list[str]) -> Iterator[Finding]:
        """Yield what is wrong with these comments; count the shown ones for their articles."""
        states, findings = check_comments(self._store, keys, batch)
        for comment_id, state, time in states:
            if state == "shown":
                shown[article_of(comment_id)].add(time)
        yield from findings

    def check_replies(self, keys: Keys, parents: Sequence[str], verb: Verb = "audit") -> Iterator[Finding]:
        """Yield what is wrong with lists of replies; or repair them. One round trip unless one is long."""
        lists = [keys.replies(int(parent)) for parent in parents]
        yield from self._check_lists(keys, f"{verb}/replies", parents, lists)

    def check_authors(self, keys: Keys, authors: Sequence[str], verb: Verb = "audit") -> Iterator[Finding]:
        """Do the same with the lists of these members' comments."""
        lists = [(keys.commented(int(author)),) for author in authors]
        yield from self._check_lists(keys, f"{verb}/commented", authors, lists)

    def _check_lists(
        self, keys: Keys, script: str, subjects: Sequence[str], lists: Sequence[tuple[str, ...]]
    ) -> Iterator[Finding]:
        """Yield what a script finds in parts of lists. The first parts are read together."""

        def call(subject: str, names: tuple[str, ...], done: int) -> Call:
            return Call(script, names, (subject, keys.prefix, done, ENTRIES_PER_CHECK))

        first = [call(subject, names, 0) for subject, names in zip(subjects, lists, strict=True)]
        replies = self._store.run_many(first)
        for subject, names, (length, examined, found) in zip(subjects, lists, replies, strict=True):
            entries, done, problems = length, examined, set(found)
            while done < entries:
                entries, done, more = self._store.run(*call(subject, names, done))
                problems.update(more)
            yield from (Finding(names[0], problem) for problem in sorted(problems))

    def _check_counts(
        self, keys: Keys, ids: Iterable[ArticleId], shown: dict[ArticleId, Shown], highest: dict[ArticleId, int]
    ) -> Iterator[Finding]:
        """Check what articles record about their comments. What members change meanwhile is counted again."""
        for article_id, first in read_counts(self._store, keys, ids).items():
            if shown[article_id].agrees_with(first):
                continue
            for _ in range(MOST_RECOUNTS):
                before = read_counts(self._store, keys, [article_id])
                noted = before[article_id]
                found = self.count_shown(
                    keys, article_id, max(highest.get(article_id, 0), count_from(noted.last_number))
                )
                if read_counts(self._store, keys, [article_id]) == before:
                    yield from (Finding(keys.article(article_id), problem) for problem in _problems(noted, found))
                    break

    def count_shown(self, keys: Keys, article_id: ArticleId, last: int) -> Shown:
        """Return what an article shows of its comments up to this number. In batches."""
        shown = defaultdict[ArticleId, Shown](Shown)
        root = root_of(article_id)
        for batch in portions(map(str, range(root + 1, root + last + 1)), ARTICLES_PER_CHECK):
            for _ in self._check(keys, shown, batch):
                pass
        return shown[article_id]


def _problems(noted: NotedComments, found: Shown) -> Iterator[str]:
    if count_from(noted.number) != found.number:
        yield f"comments {count_from(noted.number)}, shown {found.number}"
    if (noted.last or "") != found.last:
        yield f"last comment {noted.last or 'none'}, shown {found.last or 'none'}"


def check_comments(
    store: Store, keys: Keys, batch: list[str], verb: Verb = "audit"
) -> tuple[list[CommentState], list[Finding]]:
    """Return the states of these comments, and what is wrong with them; or repair them. In batches."""
    states, findings = list[CommentState](), list[Finding]()
    while batch:
        arguments: list[Value] = [keys.prefix, exact_time(store.now()), MOST_LOOKED_AT, *batch]
        checked, found, problems = store.run(f"{verb}/comments", [keys.comment_voters], arguments)
        states += zip(map(int, batch), found[::2], found[1::2], strict=False)
        findings += findings_from(keys.comment, problems)
        batch = batch[checked:]
    return states, findings


def known_comments(store: Store, keys: Keys, contents: Contents) -> set[CommentId]:
    """Return the comments of a shard, and what is listed as voted on."""
    voted = ranked_members(store, keys.comment_voters)
    return contents.comments | {int(member) for member in voted if member.isdecimal()}


def read_counts(store: Store, keys: Keys, ids: Iterable[ArticleId]) -> dict[ArticleId, NotedComments]:
    """Return what articles record about their comments. One round trip."""
    articles, width, noted = list(ids), 1 + len(NotedComments._fields), dict[ArticleId, NotedComments]()
    batches_read = list(portions(articles, ARTICLES_PER_CHECK))
    calls = [Call("comments/read_counts", list(map(keys.article, batch)), []) for batch in batches_read]
    for batch, flat in zip(batches_read, store.run_many(calls), strict=True):
        for at in range(0, len(flat), width):
            noted[batch[flat[at] - 1]] = NotedComments(*flat[at + 1 : at + width])
    return {article_id: noted.get(article_id, _NOTHING_NOTED) for article_id in articles}


Tell = Callable[[Finding], object]


class CommentRepair(OfStore):
    """The repair of the comments of one shard. Idempotent, and safe while the site is in use."""

    def run(self, keys: Keys, contents: Contents, discussed: Set[ArticleId], tell: Tell) -> None:
        """Repair the comments of a shard. In batches. Raises StoreError.

        `discussed`: the articles that have any field about comments, or could not be read. `tell` receives each
        damaged comment, which stays as it is until its hash is fixed.
        """
        shown, stubs = defaultdict[ArticleId, Shown](Shown), list[CommentId]()
        highest = dict[ArticleId, int]()
        for batch in batches(known_comments(self._store, keys, contents), ARTICLES_PER_CHECK):
            for comment_id, state, time in self._put_into_lists(keys, batch):  # ids ascend
                if state == "shown":
                    shown[article_of(comment_id)].add(time)
                if state != "missing":
                    highest[article_of(comment_id)] = comment_id % COMMENTS_PER_ARTICLE
                if state == "stub":
                    stubs.append(comment_id)
                elif state == "damaged":
                    tell(Finding(keys.comment(comment_id), "is damaged, and left as it is"))
        audit = CommentAudit(self._store)
        for parents in batches(contents.threads, KEYS_PER_READ):
            carry_out(audit.check_replies(keys, parents, "repair"))
        for authors in batches(contents.authors, KEYS_PER_READ):
            carry_out(audit.check_authors(keys, authors, "repair"))
        for numbers in portions(reversed(stubs), ARTICLES_PER_CHECK):
            self._store.run("repair/stubs", [keys.comment_voters], [keys.prefix, *numbers])
        self._correct_counts(keys, contents.articles & (discussed | highest.keys()), shown, highest)

    def _put_into_lists(self, keys: Keys, batch: list[str]) -> list[CommentState]:
        """Repair these comments, one by one if they cannot be all together; return their states."""
        try:
            return check_comments(self._store, keys, batch, "repair")[0]
        except StoreDamaged:
            if len(batch) == 1:
                return [(int(batch[0]), "damaged", "")]
            return [state for one in batch for state in self._put_into_lists(keys, [one])]

    def _correct_counts(
        self,
        keys: Keys,
        articles: Set[ArticleId],
        shown: Mapping[ArticleId, Shown],
        highest: Mapping[ArticleId, int],
    ) -> None:
        """Correct what articles record about comments; those that members change meanwhile are counted again."""
        for ids in portions(sorted(articles), KEYS_PER_SCAN):
            for article_id, noted in read_counts(self._store, keys, ids).items():
                last = max(highest.get(article_id, 0), count_from(noted.last_number))
                if shown[article_id].agrees_with(noted) and count_from(noted.last_number) == last:
                    continue
                for _ in range(MOST_RECOUNTS):
                    if self._correct(keys, article_id, last):
                        break

    def _correct(self, keys: Keys, article_id: ArticleId, highest: int) -> bool:
        """Count an article's comments and correct its record; return whether it stayed the same meanwhile."""
        noted = read_counts(self._store, keys, [article_id])[article_id]
        last = max(highest, count_from(noted.last_number))
        found = CommentAudit(self._store).count_shown(keys, article_id, last)
        (is_done,) = self._store.run(
            "repair/discussion",
            [keys.article(article_id)],
            [*(value or "" for value in noted), found.number, last, keys.prefix, article_id],
        )
        return bool(is_done)

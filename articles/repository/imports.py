"""Importing articles with their history, and reading all of them for an export."""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, groupby
from typing import TypeAlias

from articles.domain.articles import WITHDRAWN, Article, ArticleId, Choice, ImportedArticle, ImportedVote
from articles.domain.comments import Comment, CommentEntry, CommentId, CommentPlace, ImportedComment
from articles.domain.errors import ImportRunning, StoreUnavailable
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER, PLACEHOLDERS, UserId
from articles.repository.comments.reading import FIELDS, comments_from
from articles.repository.groups import Groups
from articles.repository.lists.reading import read_articles
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.scan import filled, portions, set_members
from articles.repository.store.values import content_values, count_from
from articles.text.links import post_digest

Mark: TypeAlias = tuple[str, str]
"""Link, or else title, and posting time of an article, which identify it across imports."""

AT_ONCE = 5000
"""Weight of the articles or comments that an import enters in one step, unless one of them is heavier: some
milliseconds of the store's time, in which it serves no one else, and some hundred kilobytes of its file."""

_STEPS_SENT = 10  # with articles, one after the other without waiting for replies: the store serves others between

_VOTERS_PER_READ = 250
_COMMENTS_PER_READ = 500  # comments, and KB of their texts, in one reply
_WEIGHT = 40  # weight of an article without text and voters: many are listed with few commands
_LOCK_LIFE = 120  # seconds
_TIMES_PER_SCRIPT = 250  # posting times of rows that one script looks up
_FOUND_PER_SCRIPT = 1000  # articles of these times that one script finds: some milliseconds of the store's time


class Imports:
    """The imports into a store, and the reads for exports from it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._groups = Groups(store)
        self._token = ""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other imports, for two minutes if the process dies. Two round trips. Raises ImportRunning."""
        token = secrets.token_hex(8)
        self._hold_lock(token)
        self._token = token
        try:
            yield
        finally:
            self._token = ""
            with suppress(StoreUnavailable):  # the lock expires by itself
                self._store.run("lease/release", [names.IMPORT_LOCK], [token])

    def renew(self) -> None:
        """Renew the lock that this process holds, if any. One round trip. Raises ImportRunning if it was lost."""
        if self._token:
            self._hold_lock(self._token)

    def _hold_lock(self, token: str) -> None:
        """Acquire or renew the lock. Raises ImportRunning if another import holds it."""
        if not self._store.run("lease/acquire", [names.IMPORT_LOCK], [token, _LOCK_LIFE]):
            raise ImportRunning

    def get_shift(self, file_digest: str, proposed: float) -> float:
        """Return by how many seconds a file's times are shifted: as at first, else `proposed`. Two round trips."""
        with self._store.commands() as client:
            client.set(names.shift(file_digest), exact_time(proposed), nx=True)
            return float(client.get(names.shift(file_digest)))

    def add(self, articles: Sequence[ImportedArticle]) -> list[ArticleId | None]:
        """Add articles that do not exist yet; return their new ids, None for existing ones.

        Articles are identical if their link, or else their title, and their posting time, to the millisecond, are
        equal. While voting is open, voters who are not given are added as placeholders. An article whose poster's
        account is deleted is added without a name. Repeating an interrupted import completes it. At most eight
        round trips, and one for each `_STEPS_SENT`; two more if accounts are deleted meanwhile. Raises
        ImportRunning if the `lock` expired and another import began.
        """
        self.renew()
        marks = list(map(_mark, articles))
        known, fresh = self._existing({time for _, time in marks}), dict[Mark, ImportedArticle]()
        for mark, article in zip(marks, articles, strict=True):
            if mark not in known:
                fresh.setdefault(mark, article)
        groups = self._replace_groups(fresh)
        entered = self._enter(fresh)
        self._claim_links(articles, known | entered)
        self._groups.follow_merges(groups)
        return [entered.pop(mark, None) for mark in marks]

    def find(self, articles: Sequence[ImportedArticle]) -> list[ArticleId | None]:
        """Return the ids of these articles, None for those that do not exist. One round trip, or a few."""
        marks = list(map(_mark, articles))
        return list(map(self._existing({time for _, time in marks}).get, marks))

    def save(self, user: UserId, times: Mapping[ArticleId, float]) -> None:
        """Save articles for a member, as of these times, until the list is full. One round trip."""
        key, most = names.saved(user), self._store.rules.max_saved
        newest_first = sorted(times.items(), key=lambda one: -one[1])
        self._store.run_many(Call("members/save", (key,), (one, exact_time(at), most)) for one, at in newest_first)

    def add_comments(
        self, comments: Sequence[ImportedComment], ids: Sequence[ArticleId] | None = None
    ) -> list[CommentEntry]:
        """Add comments on existing articles; return the outcome of each.

        Those of one article are together, in the order of their numbers. A comment is there already if the
        article has one with its number and its posting time. Voters are added as by `add`; a comment whose
        author's account is deleted is added without a name. Repeating an interrupted import completes it, and
        brings no comment back that was deleted here. `ids`: those of the articles, which are else found by what an
        import knows of them. At most two round trips, and one for each `AT_ONCE`. Raises ImportRunning as `add`.
        """
        if not comments:
            return []
        self.renew()
        if ids is None:
            commented = (article for article, _ in groupby(comments, lambda comment: comment.article))
            known = self._existing({exact_time(article.posted_at) for article in commented})
            return _enter_comments(self._store, comments, [known.get(_mark(one.article)) for one in comments])
        return _enter_comments(self._store, comments, ids)

    def _enter(self, fresh: dict[Mark, ImportedArticle]) -> dict[Mark, ArticleId]:
        """Add these articles; return their ids.

        Retries those whose ids are taken, because the counter is behind the articles, and those whose posters'
        accounts are deleted: only the script that would write the name can tell.
        """
        entered = dict[Mark, ArticleId]()
        while waiting := [mark for mark in fresh if mark not in entered]:
            numbers = dict(zip(self._new_ids(len(waiting)), waiting, strict=True))
            for number, status in self._enter_as({number: fresh[mark] for number, mark in numbers.items()}):
                mark = numbers[number]
                if status == "ok":
                    entered[mark] = number
                elif status == "gone":
                    fresh[mark] = replace(fresh[mark], poster=DELETED_MEMBER, poster_name="")
        return entered

    def _enter_as(self, articles: Mapping[ArticleId, ImportedArticle]) -> Iterator[tuple[ArticleId, str]]:
        """Add articles under these ids; yield the status of each. A round trip for each `_STEPS_SENT`."""
        now, weights = self._store.now(), dict[ArticleId, int]()
        for number, article in articles.items():
            is_over = _closes_at(self._store, article) < now
            weights[number] = _weight_of(article.text, 0 if is_over else article.votes + article.opposes, _WEIGHT)
        steps = chain.from_iterable(
            filled(numbers, weights.__getitem__, AT_ONCE)
            for numbers in self._store.shards.split(articles).values()
        )
        for exchange in filled(steps, lambda step: sum(map(weights.__getitem__, step)), _STEPS_SENT * AT_ONCE):
            calls = [self._call([(number, articles[number]) for number in step]) for step in exchange]
            for step, statuses in zip(exchange, self._store.run_many(calls), strict=True):
                yield from zip(step, statuses, strict=True)

    def _existing(self, times: Collection[str]) -> dict[Mark, ArticleId]:
        """Return the ids of all articles posted at these times. One round trip, unless many share one."""
        found = dict[Mark, ArticleId]()
        waiting = [
            (keys, ranking, batch, 0)
            for keys in self._store.shards.all
            for ranking in (keys.order(Order.TIME), keys.removed)
            for batch in portions(times, _TIMES_PER_SCRIPT)
        ]
        while waiting:
            replies = self._store.run_many(
                Call("imports/find", (ranking,), (keys.prefix, skip, _FOUND_PER_SCRIPT, *batch))
                for keys, ranking, batch, skip in waiting
            )
            for *_, flat in replies:
                rows = (flat[at : at + 3] for at in range(0, len(flat), 3))
                found |= {(link, time): int(number) for time, link, number in rows}
            waiting = [
                (keys, ranking, batch[done:], skip)
                for (keys, ranking, batch, _), (done, skip, _) in zip(waiting, replies, strict=True)
                if done < len(batch)
            ]
        return found

    def _new_ids(self, count: int) -> range:
        with self._store.commands() as client:
            last = int(client.incrby(names.COUNTER, count))
        return range(last - count + 1, last + 1)

    def _replace_groups(self, fresh: dict[Mark, ImportedArticle]) -> list[str]:
        """Replace the articles' groups by their targets, which are created if necessary; return the targets."""
        slugs = sorted({slug for article in fresh.values() for slug in article.groups})
        targets = self._groups.ensure_targets(slugs, self._groups.get_targets(slugs))
        for mark, article in fresh.items():
            groups = tuple(dict.fromkeys(map(targets.__getitem__, article.groups)))
            if groups != article.groups:
                fresh[mark] = replace(article, groups=groups)
        return sorted(set(targets.values()))

    def _call(self, articles: Sequence[tuple[ArticleId, ImportedArticle]]) -> Call:
        keys = self._store.shards.of(articles[0][0])
        rows: list[list[Value]] = [
            [
                article_id, article.poster, article.poster_name, exact_time(article.posted_at),
                article.votes, article.opposes, ",".join(article.groups),
                exact_time(_closes_at(self._store, article)),
                article.removed or "", article.locked or "", article.comment_numbers,
                "" if article.edited_at is None else exact_time(article.edited_at),
                _ballots(article, article.poster),
                *content_values(article, self._store.kept_html.make(article.text)),
            ]
            for article_id, article in articles
        ]  # fmt: skip
        first: list[Value] = [keys.prefix, exact_time(self._store.now()), PLACEHOLDERS.start, len(rows[0])]
        return Call("imports/enter", (keys.removed,), [*first, *chain.from_iterable(rows)])

    def _claim_links(self, articles: Sequence[ImportedArticle], ids: Mapping[Mark, ArticleId]) -> None:
        """Claim what was posted recently and not withdrawn, so that posting it again leads to these articles."""
        oldest = self._store.now() - self._store.rules.repost_window
        with self._store.pipeline() as pipe:
            for article in articles:
                seconds_left = int(article.posted_at - oldest)
                if seconds_left > 0 and article.removed != WITHDRAWN:
                    key = names.link(post_digest(article.title, article.link, article.text))
                    pipe.set(key, ids[_mark(article)], nx=True, ex=seconds_left)
            pipe.execute()

    def iterate(self, start: ArticleId = 1, *, with_texts: bool = False) -> Iterator[Article]:
        """Yield every article from an id on, removed ones included. One round trip, and one for each 500 ids."""
        with self._store.commands() as client:
            last = int(client.get(names.COUNTER) or 0)
        for first in range(start, last + 1, ARTICLES_PER_READ):
            ids = range(first, min(first + ARTICLES_PER_READ, last + 1))
            yield from read_articles(self._store, ids, None, with_texts=with_texts)

    def get_comment_numbers(self, ids: Sequence[ArticleId]) -> dict[ArticleId, int]:
        """Return the highest number given to a comment, for articles that have had comments. One round trip."""
        with self._store.pipeline() as pipe:
            for article_id in ids:
                pipe.hget(self._store.shards.of(article_id).article(article_id), "comment_ids")
            replies = pipe.execute()
        numbers = {number: count_from(reply) for number, reply in zip(ids, replies, strict=True)}
        return {number: highest for number, highest in numbers.items() if highest}

    def iterate_comments(self, article_id: ArticleId) -> Iterator[Comment]:
        """Yield an article's comments by number, with removed ones and stubs. One round trip for each batch."""
        keys, number = self._store.shards.of(article_id), 1
        while number:
            number, *rows = self._store.run(
                "imports/read_comments",
                [keys.article(article_id)],
                [article_id, number, _COMMENTS_PER_READ, keys.prefix, *FIELDS],
            )
            yield from comments_from(self._store, rows)

    def iterate_voters(self, article_id: ArticleId) -> Iterator[ImportedVote]:
        """Yield the votes of members on an open article. A round trip for each batch of each choice."""
        keys, choices = self._store.shards.of(article_id), (Choice.VOTE, Choice.OPPOSE)
        sets = [keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)]
        for choice in choices:
            cursor = ""
            while cursor != "0":
                given: list[Value] = [article_id, choice.value, cursor or "0", _VOTERS_PER_READ, keys.prefix]
                cursor, *found = self._store.run("merges/read_voters", sets, given)
                for user, at in zip(found[::2], found[1::2], strict=True):
                    if int(user) < PLACEHOLDERS.start:
                        yield ImportedVote(int(user), choice, float(at))

    def iterate_comment_voters(self, comment_id: CommentId) -> Iterator[tuple[UserId, Choice]]:
        """Yield the votes of members on an open comment. A round trip for each batch of each choice."""
        keys = self._store.shards.of_comment(comment_id)
        for key, choice in ((keys.comment_voted, Choice.VOTE), (keys.comment_oppose, Choice.OPPOSE)):
            for user in map(int, set_members(self._store, key(comment_id))):
                if user < PLACEHOLDERS.start:
                    yield user, choice

    def count(self) -> int:
        """Return the number of articles, removed ones included. One round trip."""
        return sum(
            self._store.in_shards(
                lambda pipe, keys: (pipe.zcard(keys.order(Order.TIME)), pipe.zcard(keys.removed))
            )
        )


def _mark(article: ImportedArticle) -> Mark:
    return article.link or article.title, exact_time(article.posted_at)


def _ballots(one: ImportedArticle | ImportedComment, poster: UserId = 0) -> str:
    """Return the votes by members, as scripts read them. A poster who is not among them votes for the article."""
    cast = {vote.user: vote for vote in one.voters}
    if poster > 0 and one.votes and isinstance(one, ImportedArticle):
        cast.setdefault(poster, ImportedVote(poster, Choice.VOTE, one.posted_at))
    return ",".join(f"{user} {vote.choice.value} {exact_time(vote.at)}" for user, vote in cast.items())


def _enter_comments(
    store: Store, comments: Sequence[ImportedComment], ids: Sequence[ArticleId | None]
) -> list[CommentEntry]:
    """Enter comments on these articles; return the outcome of each. A round trip for each `AT_ONCE`."""
    entries = [CommentEntry.NO_ARTICLE] * len(comments)
    weights = [_weight_of(comment.text, _voters(store, comment)) for comment in comments]
    steps = (
        step
        for article_id, places in groupby(range(len(comments)), ids.__getitem__)
        if article_id is not None
        for step in filled(places, weights.__getitem__, AT_ONCE)
    )
    for exchange in filled(steps, lambda step: sum(map(weights.__getitem__, step)), AT_ONCE):
        replies = store.run_many(
            _comments_call(store, ids[step[0]] or 0, [comments[n] for n in step]) for step in exchange
        )
        for step, reply in zip(exchange, replies, strict=True):
            statuses = [status for status in reply if status != "stub"]
            for n, status in zip(step, statuses, strict=True):
                entries[n] = CommentEntry(status)
    return entries


def _weight_of(text: str, voters: int, alone: int = 100) -> int:
    """Return what a text and so many new voters weigh. `alone`: what the article or comment does without."""
    return alone + voters + len(text) // 10


def _voters(store: Store, comment: ImportedComment) -> int:
    """Return how many voters the comment may get: none if voting is over."""
    return 0 if _closes_at(store, comment.place) < store.now() else comment.votes + comment.opposes


def _closes_at(store: Store, one: ImportedArticle | CommentPlace) -> float:
    return round(one.posted_at, 3) + store.rules.voting_window if one.closes_at is None else one.closes_at


def _comments_call(store: Store, article_id: ArticleId, comments: Sequence[ImportedComment]) -> Call:
    keys = store.shards.of(article_id)
    arguments: list[Value] = [article_id, keys.prefix, exact_time(store.now()), PLACEHOLDERS.start]
    stubs = dict[int, CommentPlace]()
    for comment in comments:
        above = comment.place.parent
        while above is not None and above.is_stub:
            stubs[above.number] = above
            above = above.parent
    for stub in stubs.values():
        arguments += (*_place(store, stub), 0, 0, DELETED_MEMBER, "", "", "", "", "", "", "1")
    for comment in comments:
        edited = "" if comment.edited_at is None else exact_time(comment.edited_at)
        arguments += (*_place(store, comment.place), comment.votes, comment.opposes, comment.author)
        arguments += (comment.author_name, comment.text, edited, comment.removed or "")
        arguments += (store.kept_html.make(comment.text), _ballots(comment), "")
    return Call("imports/enter_comments", (keys.article(article_id), keys.comment_voters), arguments)


def _place(store: Store, place: CommentPlace) -> tuple[Value, ...]:
    parent = place.parent
    above: tuple[Value, Value] = (0, "") if parent is None else (parent.number, exact_time(parent.posted_at))
    return place.number, *above, exact_time(place.posted_at), exact_time(_closes_at(store, place))

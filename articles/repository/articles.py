"""Posting, reading, editing, removing and restoring articles."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from articles.domain.articles import LATEST, WITHDRAWN, Article, ArticleId, Content, Posted
from articles.domain.comments import root_of
from articles.domain.errors import ArticleNotFound, ArticlesError, DuplicateLink, StoreError
from articles.domain.limits import Use, of_posting
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.repository.groups import Groups
from articles.repository.limits import check, take_calls
from articles.repository.lists.reading import read_articles
from articles.repository.store import keys as names
from articles.repository.store.connection import NO_ONE, Store, Value, exact_time, joined, joined_times, queue
from articles.repository.store.values import content_values, whole_from
from articles.text.links import link_digest, post_digest

_HOLDER = "the article of a link"


class Articles:
    """The articles of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._groups = Groups(store)

    def post(
        self,
        poster: UserId,
        poster_name: str,
        title: str,
        link: str,
        groups: Sequence[str] = (),
        *,
        mentioned: Collection[UserId] = (),
        is_new_member: bool = False,
        is_limited: bool = True,
        **more: str,
    ) -> Posted:
        """Publish an article with its poster's own vote, or return the recent article with the same link.

        `more`: further fields of Content. Without a link: with the same title and text. Recent: posted within
        `Rules.repost_window`, even if two members post it at the same moment. Those who are `mentioned` are
        notified of a new article. Merged groups are replaced by the groups they were merged into. An interruption
        leaves no partial article: the next member to post the link takes over an id that was claimed but not used.

        Four round trips for a new link: look-up, id, claim, article; two for a known one. One more with groups,
        and another if one of them has to be created. The look-up also takes a use of the limits, including those
        of new members, if `is_limited`. Raises AccountDeleted, and LimitReached for a new link.
        """
        content, requested = Content(title, link, **more), list(dict.fromkeys(groups))
        limited = of_posting(is_new_member=is_new_member) if is_limited else ()
        uses = [Use(limit, str(poster)) for limit in limited]
        while True:
            holder, targets, limits = self._look_up(content, requested, uses)
            if holder and self._exists(holder):
                self._store.confirm(self._store.shards.of(holder).article(holder))
                return Posted(holder, is_new=False)
            check(self._store, uses, limits)
            new_id = holder or self._new_id()
            article_id = holder or self._claim(_digest(content), new_id)
            slugs = list(dict.fromkeys(self._groups.ensure_targets(requested, targets).values()))
            if self._publish(article_id, poster, poster_name, content, slugs, mentioned):
                return Posted(article_id, is_new=True)
            if article_id != new_id or self._has(article_id, content):
                return Posted(article_id, is_new=False)
            # The counter is behind the articles, as after restoring an old backup. Retry: no id is used twice.
            self._store.run("lease/release", [names.link(_digest(content))], [article_id])

    def _look_up(
        self, content: Content, slugs: Sequence[str], uses: Sequence[Use]
    ) -> tuple[ArticleId | None, dict[str, str], list[Any]]:
        """Return the id that has the content, if any, slugs' targets, and limits' replies. One round trip."""
        calls = take_calls(self._store, uses)
        with self._store.pipeline() as pipe:
            for call in calls:
                queue(call, pipe)
            pipe.get(names.link(_digest(content)))
            self._groups.queue_target_reads(slugs, pipe)
            replies = pipe.execute()
        limits, (holder, *groups) = replies[: len(calls)], replies[len(calls) :]
        return _holder(holder), self._groups.targets_from(slugs, *groups), limits

    def _exists(self, article_id: ArticleId) -> bool:
        with self._store.commands() as client:
            return bool(client.exists(self._store.shards.of(article_id).article(article_id)))

    def _new_id(self) -> ArticleId:
        with self._store.commands() as client:
            return int(client.incr(names.COUNTER))

    def _has(self, article_id: ArticleId, content: Content) -> bool:
        """Return whether the article counts as the same as this one, perhaps by a concurrent request."""
        return _digest(self.get(article_id, with_text=True)) == _digest(content)

    def _publish(
        self,
        article_id: ArticleId,
        poster: UserId,
        name: str,
        content: Content,
        groups: Sequence[str],
        mentioned: Collection[UserId],
    ) -> bool:
        store, now = self._store, self._store.now()
        keys = store.shards.of(article_id)
        closes, grace = exact_time(now + store.rules.voting_window), store.rules.voters_grace
        times: list[Value] = [exact_time(now), ",".join(groups), closes, grace]
        status, *_ = store.ask(
            "articles/post", poster,
            [keys.article(article_id), keys.voted(article_id)],
            [
                article_id, poster, name, *times, keys.prefix, joined(mentioned),
                *content_values(content, store.kept_html.make(content.text)),
            ],
        )  # fmt: skip
        if status == "exists":
            return False
        self._groups.follow_merges(groups)
        return True

    def _claim(self, digest: str, article_id: ArticleId, seconds: int | None = None) -> ArticleId:
        """Claim a link for `Rules.repost_window`, or for this many seconds; return the article that holds it."""
        key, life = names.link(digest), self._store.rules.repost_window if seconds is None else seconds
        return whole_from(self._store.run("articles/claim_link", [key], [article_id, life]), _HOLDER)

    def get(
        self,
        article_id: ArticleId,
        reader: UserId | None = None,
        *,
        with_text: bool = False,
        with_html: bool = False,
    ) -> Article:
        """Return an article, even a removed one, with the reader's own choice; `with_html`: with its text, too.

        One round trip, two if its HTML has to be made. Raises ArticleNotFound.
        """
        for article in read_articles(self._store, [article_id], reader, with_texts=with_text, with_html=with_html):
            return article
        raise ArticleNotFound(article_id)

    def get_many(
        self, ids: Sequence[ArticleId], reader: UserId | None = None, *, with_texts: bool = False
    ) -> list[Article]:
        """Return known articles in the order of `ids`, including removed ones. One round trip."""
        return read_articles(self._store, ids, reader, with_texts=with_texts)

    def find_by_link(self, link: str) -> Article | None:
        """Return the recent article to which posting this clean link would lead. At most two round trips."""
        with self._store.commands() as client:
            holder = _holder(client.get(names.link(link_digest(link))))
        return next(iter(self.get_many([holder])), None) if holder else None

    def edit(
        self,
        article_id: ArticleId,
        editor: Actor,
        title: str,
        link: str,
        *,
        join: Sequence[str] = (),
        leave: Sequence[str] = (),
        moderator: bool,
        closed: Collection[str] = (),
        reason: str = "",
        mentioned: Collection[UserId] = (),
        unmentioned: Mapping[UserId, float] = NO_ONE,
        **more: str,
    ) -> None:
        """Change the content and groups: moderators at any time, the poster within `Rules.edit_window`.

        `more`: further fields of Content; those that are not given stay unchanged. `join` and `leave`: groups,
        with the rules of `Groups.assign`. Notifies those who are `mentioned` and have had no notice of it; the
        `unmentioned` are as in `Comments.edit`.

        `closed`: the groups for members only. Whether it is in one is the poster's to change until there are
        comments: ReadersWouldChange.

        Two round trips; two more if the link changes, and two with groups to join. Raises ArticleNotFound,
        ArticleRemoved, NotThePoster, EditingClosed, AccountDeleted, and DuplicateLink if another article was
        posted with the new link within `Rules.repost_window`. A withdrawn article claims no link.
        """
        keys, before = self._store.shards.of(article_id), self.get(article_id, with_text=True)
        content = Content(**before.written | {"title": title, "link": link} | more)
        moves = bool(link) and not before.is_withdrawn and not _same_link(before.link, link)
        if moves and (holder := self._claim(_digest(content), article_id)) != article_id:
            raise DuplicateLink(holder)
        rules: list[Value] = [exact_time(self._store.now()), self._store.rules.edit_window, reason]
        arguments: list[Value] = [
            article_id,
            editor.id,
            editor.name,
            1 if moderator else ",".join(sorted(closed)),
            *rules,
        ]
        targets = self._groups.ensure_targets(join, self._groups.get_targets(join))
        new_groups = list(dict.fromkeys(targets.values()))
        try:
            with self._store.retracting([article_id]):
                (old_link,) = self._store.change(
                    "articles/edit", article_id,
                    [keys.article(article_id)],
                    [
                        *arguments, keys.prefix, ",".join(new_groups), ",".join(leave),
                        self._store.rules.hot_size, joined(mentioned), joined_times(unmentioned),
                        *content_values(content, self._store.kept_html.make(content.text)),
                    ],
                )  # fmt: skip
        except StoreError:
            raise  # the edit may be done and only its reply lost: then the article needs the claim
        except ArticlesError:
            self._release(moves and not self._has(article_id, content), link, article_id)
            raise
        self._groups.follow_merges(new_groups)
        self._release(not _same_link(old_link, link), old_link, article_id)

    def _release(self, moves: bool, link: str, article_id: ArticleId) -> None:
        if moves and link:
            self._store.run("lease/release", [names.link(link_digest(link))], [article_id])

    def remove(self, article_id: ArticleId, actor: Actor, reason: str, sweep: str = "") -> None:
        """Remove an article, perhaps in a sweep. One round trip. Raises ArticleNotFound, ArticleRemoved."""
        self._moderate("articles/remove", article_id, actor, reason, root_of(article_id), sweep, "", "")

    def withdraw(self, article_id: ArticleId, poster: Actor, *, is_late: bool = False) -> None:
        """Remove an article from every list as its poster, within `Rules.edit_window`; free its link. Idempotent.

        `is_late`: whenever it was posted. Two round trips. Raises ArticleNotFound, ArticleRemoved, ArticleMerged,
        NotThePoster, WithdrawingClosed, AccountDeleted.
        """
        window = LATEST if is_late else self._store.rules.edit_window
        further: list[Value] = [root_of(article_id), "", poster.id, window]
        content = self._moderate("articles/remove", article_id, poster, WITHDRAWN, *further)
        self._store.run("lease/release", [names.link(post_digest(*content))], [article_id])

    def restore(self, article_id: ArticleId, actor: Actor, reason: str, sweep: str = "") -> None:
        """Return a removed article to every list; if a sweep is given, only if that sweep removed it.

        Its link leads to it again, for the rest of `Rules.repost_window`. At most four round trips. Raises
        ArticleNotFound, NotRemoved, and DuplicateLink if the link leads to an article that was posted within the
        window: while this one was listed, it could not have been posted.
        """
        before, window = self.get(article_id, with_text=True), self._store.rules.repost_window
        digest = _digest(before)
        if before.is_withheld:
            left = int(before.posted_at + window - self._store.now())
            holder = self._claim(digest, article_id, left) if left > 0 else self._find_holder(digest)
            others = self.get_many([holder]) if holder not in (None, article_id) else []
            for other in others:
                if other.removed is None and abs(other.posted_at - before.posted_at) <= window:
                    raise DuplicateLink(other.id)
        further: list[Value] = [self._store.rules.hot_size, sweep]
        try:
            self._moderate("articles/restore", article_id, actor, reason, *further)
        except StoreError:
            raise
        except ArticlesError:
            if before.is_withdrawn:  # whose link is free
                self._store.run("lease/release", [names.link(digest)], [article_id])
            raise

    def _find_holder(self, digest: str) -> ArticleId | None:
        with self._store.commands() as client:
            return _holder(client.get(names.link(digest)))

    def _moderate(
        self, script: str, article_id: ArticleId, actor: Actor, reason: str, *more: Value
    ) -> Sequence[Any]:
        store, keys = self._store, self._store.shards.of(article_id)
        arguments: list[Value] = [article_id, actor.signature, exact_time(store.now()), reason, keys.prefix, *more]
        with store.retracting([article_id]):
            return store.change(script, article_id, [keys.article(article_id)], arguments)


def _digest(content: Content) -> str:
    """Return the digest by which it counts as posted before."""
    return post_digest(content.title, content.link, content.text)


def _same_link(one: str, other: str) -> bool:
    return one == other or bool(one and other and link_digest(one) == link_digest(other))


def _holder(text: str | None) -> ArticleId | None:
    """Return the id that has claimed a link, if any. Raises StoreDamaged."""
    return whole_from(text, _HOLDER) if text else None

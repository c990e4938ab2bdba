"""What Lemmy's API says of articles, comments, groups and members: its posts, comments, communities and persons.

Every post of Lemmy is in one community. An article that is in several groups is shown in the first of them, or in
the one that the list is of; an article without a group is in the community that stands for the whole site.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from accounts.models import User
from articles.configuration.choices import chosen, closed_groups, site_address
from articles.configuration.recent import Recent
from articles.domain.articles import Article, Choice
from articles.domain.comments import Comment, CommentId, Thread
from articles.domain.errors import GroupNotFound
from articles.domain.lists import Group
from articles.domain.members import UserId
from articles.text.slugs import requested_slug
from articles.web.addresses import path_of
from articles.web.groups import liveliness
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.web.wiring import group_titles
from extras.lemmy.operations import Json

WHOLE_SITE, WHOLE_SITE_NUMBER = "_site", 1
"""Name and id of the community that stands for the whole site. No group can have this slug."""

_LOCAL = {"local": True, "instance_id": 1}
_PERSON = {**_LOCAL, "bot_account": False, "deleted": False}
_COMMUNITY = {**_LOCAL, "removed": False, "deleted": False, "nsfw": False, "hidden": False}
_COMMUNITY |= {"posting_restricted_to_mods": False}
_POST = {"local": True, "nsfw": False, "language_id": 0, "featured_community": False, "featured_local": False}
_COMMENT = {"local": True, "language_id": 0, "distinguished": False}
_BY = {"creator_banned_from_community": False, "banned_from_community": False, "creator_is_admin": False}
_ACTIVE = dict.fromkeys((f"users_active_{span}" for span in ("day", "week", "month", "half_year")), 0)

_MY_VOTE = {Choice.VOTE: {"my_vote": 1}, Choice.OPPOSE: {"my_vote": -1}, Choice.NONE: {}}


@lru_cache(maxsize=8192)  # lists repeat
def when(at: float | datetime) -> str:
    """Return a moment, or one in Unix seconds, as Lemmy writes it."""
    moment = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@lru_cache(maxsize=4096)
def number_of(slug: str) -> int:
    """Return the id of a group: 31 bits of a digest of its slug, which never changes.

    It fits the numbers of every client. Two of a thousand groups have the same on one site of 4,000.
    """
    if slug == WHOLE_SITE:
        return WHOLE_SITE_NUMBER
    digest = int.from_bytes(blake2b(slug.encode(), digest_size=4, person=b"lemmy.community").digest(), "big")
    return digest % (2**31 - 2) + 2


def local_name(name: str) -> str | None:
    """Return a name without the site's host, which apps may add; None for a name of another site."""
    plain, _at, host = name.partition("@")
    return plain if not host or validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) else None


def slug_of(number: int | None, name: str | None = None) -> str:
    """Return the slug of a community that a request names, perhaps with the site's host. Raises GroupNotFound."""
    if number is None:
        if (plain := local_name(name or "")) is None:
            raise GroupNotFound(str(name))
        return plain if plain == WHOLE_SITE else requested_slug(plain)
    for slug in (WHOLE_SITE, *group_titles()):
        if number_of(slug) == number:
            return slug
    raise GroupNotFound(str(number))


def _load_beginning() -> datetime:
    first = get_user_model().objects.order_by("pk").first()
    return first.date_joined if first else timezone.now()


beginning = Recent(_load_beginning, datetime.fromtimestamp(0, UTC), share=0.01).get
"""Returns when the site began: its first account. Groups have this date too: when they were made is not stored."""


def _accounts(**which: Any) -> Any:
    """Return what views say of members: columns that `Shapes._person` takes. One query."""
    columns = ("pk", "username", "date_joined", "banned_from", "ban_ends_at")
    return get_user_model().objects.filter(**which, left_at=None).values_list(*columns)


_CODE = r"(?<!`)(`+)(?!`)(?:[^`]|(?!\1(?!`))`+)*+\1(?!`)"
_SITE_LINK = re.compile(rf"{_CODE}|(\]\(\s*+<?|^ {{0,3}}\[[^\]\n]++\]:[ \t]*+<?)(?=/(?![/\\]))", re.MULTILINE)


def absolute_links(text: str, site: str) -> str:
    """Return a Markdown text in which links to pages of the site, such as `/rules/`, have the site's address."""
    return _SITE_LINK.sub(lambda found: f"{found[2]}{site}" if found[2] else found[0], text)


class Shapes:
    """Describes what one response has, to the reader who asks. `members`: whose accounts it names."""

    def __init__(self, request: HttpRequest, members: Iterable[UserId] = ()) -> None:
        self.site = site_address(request)
        self.reader = reader_id(request)
        own = preferences_of(request)
        self.followed, self.hiding = frozenset(own.followed_groups), own.hiding
        self._titles, self._lively, self._closed = group_titles(), liveliness(), closed_groups()
        self._persons: dict[UserId, Json] = {}
        self._communities: dict[str, Json] = {}
        self.read(members)

    def read(self, members: Iterable[UserId]) -> None:
        """Read the accounts of further members. One query, none if all are read."""
        if wanted := {*members} - self._persons.keys():
            self._persons |= {row[0]: self._person(*row) for row in _accounts(pk__in=wanted)}

    def _person(self, pk: UserId, name: str, joined: datetime, banned: str, ban_ends_at: datetime | None) -> Json:
        is_current = ban_ends_at is None or ban_ends_at > timezone.now()
        return {
            **_PERSON,
            "id": pk,
            "name": name,
            "banned": banned in ("posting", "both") and is_current,
            "published": when(joined),
            "actor_id": self.site + path_of("articles:profile", name),
        }

    def person(self, member: UserId) -> Json:
        """Return a member; a person without a name if the account is deleted, or unknown."""
        return self._persons.get(member) or {
            **_PERSON,
            "id": 0,
            "name": "[deleted]",
            "deleted": True,
            "banned": False,
            "published": when(beginning()),
            "actor_id": self.site,
        }

    def community(self, slug: str) -> Json:
        """Return a group, without its description."""
        if (known := self._communities.get(slug)) is not None:
            return known
        is_site = slug == WHOLE_SITE
        self._communities[slug] = {
            **_COMMUNITY,
            "id": number_of(slug),
            "name": slug,
            "title": chosen.SITE_NAME if is_site else self._titles.get(slug, slug),
            "published": when(beginning()),
            "actor_id": self.site + (path_of("articles:front") if is_site else path_of("articles:group", slug)),
            "visibility": "LocalOnly" if slug in self._closed else "Public",
        }
        return self._communities[slug]

    def knows(self, slug: str) -> bool:
        """Return whether there is such a group, for this reader."""
        return slug in self._titles

    def subscribed(self, slug: str) -> str:
        return "Subscribed" if slug in self.followed else "NotSubscribed"

    def community_view(self, group: Group) -> Json:
        """Return a group with its counts. Those of its comments and active members are not counted."""
        community, followers = self.community(group.slug), self._lively.followers.get(group.slug, 0)
        described = {"description": absolute_links(group.description, self.site)} if group.description else {}
        return {
            "community": {**community, **described},
            "subscribed": self.subscribed(group.slug),
            "blocked": group.slug in self.hiding.groups,
            "banned_from_community": False,
            "counts": {
                **_ACTIVE,
                "community_id": community["id"],
                "subscribers": followers,
                "subscribers_local": followers,
                "posts": group.articles,
                "comments": 0,
                "published": community["published"],
            },
        }

    def moderators_of(self, slug: str) -> list[Json]:
        """Return the moderators of a group. One query if it has any."""
        names = self._lively.moderators.get(slug, ())
        return [{"community": self.community(slug), "moderator": one} for one in self.named(names)]

    def named(self, names: Collection[str]) -> list[Json]:
        """Return the members with these names, in this order. One query, none without names."""
        if not names:
            return []
        found = {row[1]: self._person(*row) for row in _accounts(username__in=names)}
        return [found[name] for name in names if name in found]

    def person_view(self, member: User, counts: tuple[int, int] = (0, 0), bio: str = "") -> Json:
        """Return a member with the numbers of their articles and comments, and what they write of themselves."""
        person = self._person(
            member.pk, member.username, member.date_joined, member.banned_from, member.ban_ends_at
        )
        posts, comments = counts
        return {
            "person": {**person, **({"bio": bio} if bio else {})},
            "is_admin": False,
            "counts": {"person_id": member.pk, "post_count": posts, "comment_count": comments},
        }

    def slug_for(self, article: Article, asked: Collection[str] = ()) -> str:
        """Return the group that an article is shown in: the first of those asked for, or else its first."""
        shown = [slug for slug in article.groups if slug in asked] or article.groups
        return shown[0] if shown else WHOLE_SITE

    def post(self, article: Article, slug: str) -> Json:
        link = article.link if article.link and not article.is_withheld else None
        body = article.text if article.text and not article.is_withheld else None
        return {
            **_POST,
            "id": article.id,
            "name": article.title,
            **({"url": link} if link else {}),
            **({"body": body} if body else {}),
            "creator_id": max(article.poster, 0),
            "community_id": number_of(slug),
            "removed": article.is_withheld and not article.is_withdrawn,
            "deleted": article.is_withdrawn,
            "locked": article.locked is not None or article.merged_into is not None,
            "published": when(article.posted_at),
            **({"updated": when(article.edited_at)} if article.edited_at else {}),
            "ap_id": self.site + path_of("articles:article", article.id),
        }

    def post_view(self, article: Article, asked: Collection[str] = ()) -> Json:
        """Return an article with its counts and the reader's choices. `asked`: the groups that are listed."""
        slug = self.slug_for(article, asked)
        is_read = article.read_at is not None
        return {
            **self._by(article.poster, slug),
            "post": self.post(article, slug),
            "counts": {
                "post_id": article.id,
                "comments": article.comments,
                "score": article.points,
                "upvotes": article.votes,
                "downvotes": article.opposes,
                "published": when(article.posted_at),
                "newest_comment_time": when(article.last_comment_at or article.posted_at),
            },
            "saved": article.saved,
            "read": is_read,
            "hidden": article.id in self.hiding.articles,
            "unread_comments": article.new_comments if is_read else article.comments,
            **_MY_VOTE[article.choice],
        }

    def post_views(self, articles: Sequence[Article], asked: Collection[str] = ()) -> list[Json]:
        """Return articles of a list. One query."""
        self.read(article.poster for article in articles)
        return [self.post_view(article, asked) for article in articles]

    def _by(self, member: UserId, slug: str) -> Json:
        """Return what views of posts and comments say of who posted it, and of where."""
        creator = self.person(member)
        return {
            **_BY,
            "creator": creator,
            "community": self.community(slug),
            "creator_is_moderator": creator["name"] in self._lively.moderators.get(slug, ()),
            "creator_blocked": member in self.hiding.members,
            "subscribed": self.subscribed(slug),
        }

    def comment(self, comment: Comment, path: str = "") -> Json:
        """Return a comment. `path`: of the comments above it, as far as they are known."""
        return {
            **_COMMENT,
            "id": comment.id,
            "creator_id": max(comment.author, 0),
            "post_id": comment.article,
            "content": comment.text if comment.is_shown else "",
            "removed": comment.removed is not None,
            "deleted": comment.is_deleted,
            "published": when(comment.posted_at),
            **({"updated": when(comment.edited_at)} if comment.edited_at else {}),
            "ap_id": self.site + path_of("articles:comment", comment.id),
            "path": f"{path or (f'0.{comment.parent}' if comment.parent else '0')}.{comment.id}",
        }

    def comment_view(
        self, comment: Comment, article: Article, *, path: str = "", replies: int | None = None
    ) -> Json:
        """Return a comment with its article and counts. `replies`: those below it; by default, direct ones."""
        slug = self.slug_for(article)
        return {
            **self._by(comment.author, slug),
            "comment": self.comment(comment, path),
            "post": self.post(article, slug),
            "counts": {
                "comment_id": comment.id,
                "score": comment.points,
                "upvotes": comment.votes,
                "downvotes": comment.opposes,
                "published": when(comment.posted_at),
                "child_count": comment.replies if replies is None else replies,
            },
            "saved": False,
            **_MY_VOTE[comment.choice],
        }

    def comment_views(self, comments: Sequence[Comment], articles: Mapping[int, Article]) -> list[Json]:
        """Return the comments of a list, without those on unknown articles. One query."""
        known = [one for one in comments if one.article in articles]
        self.read(one.author for one in known)
        return [self.comment_view(one, articles[one.article]) for one in known]

    def thread(self, thread: Thread, article: Article) -> list[Json]:
        """Return a part of a discussion, in preorder, each comment with the path to it. One query."""
        self.read(comment.author for comment in thread.comments)
        above = ".".join(map(str, (0, *thread.ancestors)))
        paths: dict[CommentId, str] = {}
        below = _replies_below(thread)
        views = []
        for comment in thread.comments:
            path = paths.get(comment.parent or 0, above)
            paths[comment.id] = f"{path}.{comment.id}"
            views.append(self.comment_view(comment, article, path=path, replies=below[comment.id]))
        return views


def _replies_below(thread: Thread) -> dict[CommentId, int]:
    """Return how many comments are below each one: those of the thread, and the direct replies that it lacks."""
    below: dict[CommentId, int] = {one.id: thread.cut.get(one.id, 0) for one in thread.comments}
    for comment in reversed(thread.comments):
        if comment.parent in below:
            below[comment.parent] += 1 + below[comment.id]
    return below


def facts(**named: Any) -> Json:
    """Return those of the facts that are known."""
    return {name: fact for name, fact in named.items() if fact is not None}

"""A feed in RSS or Atom: its entries as articles, once; or new ones into the moderators' queue, by housekeeping.

feedparser drops declarations of entities and reads what is not well-formed; size, tags and time are bounded here.
"""

import calendar
import io
import re
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import feedparser
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import HeldPost, User
from articles.domain.errors import GroupNotFound
from articles.text.lines import InvalidInput, clean_text, clean_title
from articles.text.links import clean_posted_link
from articles.text.slugs import clean_slug
from articles.web.rights import forget_waiting
from articles.web.wiring import repository
from extras.moving_in.models import OLD_ID_LIMIT, FollowedFeed
from extras.moving_in.sources import BadSource, Format
from extras.moving_in.sources.rows import BadRow, Rows, file_of, markdown, text_of
from extras.moving_in.staging import Staging
from outgoing.fetching import MOST_BYTES, Answer, Fetch, NotFetched, World, checked

if TYPE_CHECKING:
    from articles.repository import Repository

_LARGEST = 20_000_000  # bytes of a file
_MOST_TAGS = 50_000
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 3
_MOST_AT_ONCE, _MOST_WAITING, _MOST_KNOWN = 5, 20, 2_000  # entries of a feed
_ADDRESS = re.compile(r"\S*@\S*")  # RSS has one beside the author's name
_PAUSE, _LONGEST_PAUSE = timedelta(hours=1), timedelta(days=1)


class _Entry(NamedTuple):
    id: str
    title: str
    link: str
    text: str
    author: str | None
    time: float
    tags: list[str]

    @property
    def digest(self) -> str:
        return sha256(self.id.encode("utf-8", "replace")).hexdigest()[:16]


def fill(source: str, staging: Staging, options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    rows, base = Rows(staging, reach), source
    if source.startswith(("http://", "https://")):
        answer, base = _fetched(source)
        body = answer.body
    else:
        with file_of(source).open("rb") as file:
            body = file.read(_LARGEST)
    rows.read(_entries(body, base), partial(_stage, rows, options.get("host") or ""))
    rows.settle()


def _stage(rows: Rows, host: str, entry: _Entry) -> None:
    """Add an entry. If the site that moves in is its host, the link is an old address of the text."""
    own = bool(host) and (urlsplit(entry.link).hostname or "").removeprefix("www.") == host.removeprefix("www.")
    rows.post(
        "article", entry.tags, id=entry.id if len(entry.id) <= OLD_ID_LIMIT else entry.digest, title=entry.title,
        link=None if own and entry.text else entry.link, text=entry.text, author=entry.author, time=entry.time,
        votes=1, path=entry.link if own else None,
    )  # fmt: skip


def _fetched(address: str, headers: Mapping[str, str] = {}, world: World | None = None) -> tuple[Answer, str]:
    """Request a feed; return the answer and the address that gave it. Raises BadSource."""
    fetch, url = Fetch(world or World(), settings.USER_AGENT, seconds=15), None
    try:
        for _ in range(_MOST_REDIRECTS + 1):
            url = checked(address, url)
            answer = fetch.request(url, headers)
            if answer.status not in _REDIRECTS:
                break
            address = str(answer.headers["Location"] or "")
    except NotFetched as error:
        raise BadSource(f"The feed cannot be fetched: {error}.") from error
    if answer.status not in (200, 304):
        raise BadSource(f"The feed cannot be fetched: the server answers {answer.status}.")
    return answer, str(url.href) if url else address


def _entries(body: bytes, base: str) -> Iterator[tuple[str, "_Entry | BadRow"]]:
    """Yield the entries of a feed with their places. Raises BadSource."""
    if body.count(b"<") > _MOST_TAGS:
        raise BadSource(f"The feed has more than {_MOST_TAGS:,} tags.")
    try:
        found = feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False)
        entries = list(found.entries)
    except Exception as error:  # what a hostile feed raises in there is not foreseen
        raise BadSource(f"The feed cannot be read: {type(error).__name__}.") from error
    if not found.get("version") and not entries:
        raise BadSource("It is not a feed in RSS or Atom.")
    is_cut = len(body) in (MOST_BYTES, _LARGEST)
    for number, one in enumerate(entries[:-1] if is_cut else entries, 1):
        try:
            yield f"entry {number}", _entry(one, base)
        except BadRow as bad:
            yield f"entry {number}", bad


def _entry(given: Mapping[str, Any], base: str) -> _Entry:
    title, link = text_of(given.get("title")), text_of(given.get("link")).strip()
    content = [*(given.get("content") or ()), given.get("summary_detail") or {}][0]
    try:
        link = urljoin(base, link) if link else ""
    except ValueError:
        raise BadRow("The link cannot be read.") from None
    if text_of((given.get("title_detail") or {}).get("type")) != "text/plain" and len(title) < 10_000:
        from justhtml import JustHTML  # noqa: PLC0415 - 2 MB, which other processes do without

        title = JustHTML(title, fragment=True).to_text()
    text, at = text_of(content.get("value")), given.get("published_parsed") or given.get("updated_parsed")
    return _Entry(
        id=text_of(given.get("id")) or link or title,
        title=" ".join(title.split()),
        link=link,
        text=text if content.get("type") == "text/plain" else markdown(text),
        author=_ADDRESS.sub("", text_of(given.get("author"))).strip(" ()<>") or None,
        time=calendar.timegm(at) if at else int(time.time()),
        tags=[term for tag in given.get("tags") or () if (term := text_of(tag.get("term")).strip())],
    )


# Feeds that are followed


def _instead(source: str, options: Mapping[str, Any]) -> str:
    if options.get("followed"):
        feeds = FollowedFeed.objects.select_related("member").order_by("pk")
        return "\n".join(map(str, feeds)) or "No feed is followed."
    if options.get("unfollow"):
        if not FollowedFeed.objects.filter(address=source).delete()[0]:
            raise BadSource(f"The feed {source!r} is not followed.")
        return f"{source} is no longer followed."
    return _follow(source, options) if options.get("follow") else ""


def _follow(address: str, options: Mapping[str, Any], world: World | None = None) -> str:
    """Follow a feed; the entries that it has now are known. Raises BadSource."""
    group, name = options.get("group") or "", options.get("member") or ""
    member = User.objects.filter(username=name, left_at=None).first()
    if member is None:
        raise BadSource(f"Name the member who posts: --member NAME. There is no {name!r}.")
    try:
        group = group and repository().groups.get(clean_slug(group)).slug
    except (InvalidInput, GroupNotFound):
        raise BadSource(f"There is no group {group!r}.") from None
    answer, base = _fetched(address, world=world)
    known = [entry.digest for _place, entry in _entries(answer.body, base) if isinstance(entry, _Entry)]
    values = {"member": member, "group": group, "known": known[:_MOST_KNOWN], "next_at": timezone.now() + _PAUSE}
    FollowedFeed.objects.update_or_create(address=address, defaults=values)
    return f"{address} is followed: new entries will wait in the moderators' queue, as posts of {member.username}."


def hold_new(_repository: "Repository", seconds: float, world: World | None = None) -> int:
    """Hold new entries of followed feeds for the moderators, for about so many seconds; return how many."""
    deadline, count = time.monotonic() + seconds, 0
    FollowedFeed.objects.exclude(member__left_at=None).delete()
    due = FollowedFeed.objects.filter(next_at__lte=timezone.now()).select_related("member").order_by("next_at")
    for feed in due:
        if time.monotonic() >= deadline:
            break
        try:
            count += _hold(feed, world)
        except BadSource as error:
            feed.failures, feed.problem = min(feed.failures + 1, 100), str(error)[:200]
            feed.next_at = timezone.now() + min(_PAUSE * 2 ** min(feed.failures, 10), _LONGEST_PAUSE)
            feed.save(update_fields=["failures", "problem", "next_at"])
    if count:
        forget_waiting()
    return count


def _hold(feed: FollowedFeed, world: World | None) -> int:
    """Hold the new entries of a feed, the oldest first. Raises BadSource."""
    asked = {"If-None-Match": feed.etag, "If-Modified-Since": feed.modified}
    answer, base = _fetched(feed.address, {name: text for name, text in asked.items() if text}, world)
    read = _entries(answer.body, base) if answer.status != 304 else ()
    entries = [entry for _place, entry in read if isinstance(entry, _Entry)]
    new = list({one.digest: one for one in reversed(entries) if one.digest not in set(feed.known)}.values())
    room = _MOST_WAITING - HeldPost.objects.waiting().filter(author=feed.member, rule=None).count()
    taken = new[: max(0, min(_MOST_AT_ONCE, room))]
    with transaction.atomic():
        held = sum(_is_held(feed, entry) for entry in taken)
        current = [one.digest for one in taken] + feed.known
        feed.known, feed.failures, feed.problem = current[:_MOST_KNOWN], 0, ""
        if len(taken) == len(new) and answer.status != 304:  # else they are asked for again
            feed.etag = text_of(answer.headers["ETag"])[:200]
            feed.modified = text_of(answer.headers["Last-Modified"])[:200]
        feed.next_at = timezone.now() + _PAUSE
        feed.save()
    return held


def _is_held(feed: FollowedFeed, entry: _Entry) -> bool:
    """Hold an entry unless it could not be posted; its text only if it has no link."""
    try:
        title = clean_title(entry.title)
        link = clean_posted_link(entry.link, allow_private=settings.ALLOW_PRIVATE_LINKS) if entry.link else ""
        text = "" if link else clean_text(entry.text)
    except InvalidInput:
        return False
    if link or text:
        HeldPost.objects.create(author=feed.member, title=title, link=link, text=text, groups=feed.group)
    return bool(link or text)


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--follow", action="store_true", help="feed: from now on, hold new entries for moderators")
    parser.add_argument("--member", metavar="NAME", help="feed: as whose posts a followed feed's entries wait")
    parser.add_argument("--group", metavar="SLUG", help="feed: into which group they go")
    parser.add_argument("--followed", action="store_true", help="feed: list the feeds that are followed")
    parser.add_argument("--unfollow", action="store_true", help="feed: no longer follow it")


FORMAT = Format(fill, arguments=_arguments, instead=_instead)

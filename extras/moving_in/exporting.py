"""Write what the site has as files of the staging tables, which `sources/site.py` reads: see the README.

A public export has only what readers see. All is read in batches: memory grows only with the names of members.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from math import isinf
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db.models import Prefetch

from accounts.models import BanScope, Invitation, User
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.comments import Comment, article_of
from articles.domain.lists import PAGES, TOP_PERIODS, Order, without_groups
from articles.domain.members import DELETED_MEMBER, DELETED_NAME
from articles.domain.moderation_log import LogFilter
from articles.repository import Repository
from articles.text.searching import Hiding
from articles.web.addresses import path_of
from articles.web.profiles import is_about_withheld
from extras.moving_in.models import Arrival, Kind
from extras.moving_in.sources.site import FEEDS, MANIFEST, NAME, VERSION
from extras.moving_in.staging import COLUMNS, Column

REDIRECTS = "redirects.tsv"

_BATCH = 500  # articles, members or old addresses that are read together
_TYPES: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "minLength": 1}, "text": {"type": "string"}, "time": {"type": "number", "minimum": 0},
    "number": {"type": "integer"}, "flag": {"type": "integer", "enum": [0, 1]},
}  # fmt: skip


def columns(table: str, *, is_private: bool) -> dict[str, Column]:
    """Return the columns of a file; {} if there is none."""
    return {name: one for name, one in COLUMNS[table].items() if is_private or not one.is_private}


def tables(*, is_private: bool) -> list[str]:
    """Return the tables that have a file."""
    return [name for name in COLUMNS if name != "bad" and columns(name, is_private=is_private)]


def schema(table: str, *, is_private: bool) -> dict[str, Any]:
    """Return the JSON schema of a line of a file."""
    properties = {
        name: _TYPES[one.kind] | {"description": one.means}
        for name, one in columns(table, is_private=is_private).items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": table, "type": "object",
        "properties": properties, "additionalProperties": False,
    }  # fmt: skip


@contextmanager
def new_folder(path: Path, *, is_private: bool) -> Iterator[Path]:
    """Yield a folder that has this name once it is complete. Raises FileExistsError unless the path is free."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} exists and is not empty.")
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700 if is_private else 0o777, parents=True)
    try:
        yield part
        part.replace(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Lines:
    """A file of lines, with their number and their digest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest, self.rows = file, hashlib.sha256(), 0

    def write(self, text: str) -> None:
        line = f"{text}\n".encode()
        self._file.write(line)
        self._digest.update(line)
        self.rows += 1

    @property
    def facts(self) -> dict[str, Any]:
        return {"rows": self.rows, "sha256": self._digest.hexdigest()}


class Export:
    """One export into an empty folder. `reach` receives how many articles are done."""

    def __init__(
        self,
        repository: Repository,
        folder: Path,
        reach: Callable[[int], object] = lambda _: None,
        *,
        is_private: bool = False,
    ) -> None:
        self._repository, self._folder, self._reach, self._is_private = repository, folder, reach, is_private
        self._closed = frozenset() if is_private or chosen.is_for_members else choices.closed_groups()
        self._now = repository.store.now()
        leaving = User.objects.exclude(accountdeletion=None)  # names go in steps
        self._leaving = set(leaving.values_list("username", flat=True))
        self._files: dict[str, _Lines] = {}
        self._named = set[str]()  # members who wrote something, or whom the log names

    def write(self) -> dict[str, int]:
        """Write everything; return how many rows each file has. Raises StoreError, DatabaseError and OSError."""
        with ExitStack() as stack:
            stack.enter_context(without_groups(self._closed))
            for name in [*(f"{one}.jsonl" for one in tables(is_private=self._is_private)), REDIRECTS]:
                self._files[name] = _Lines(stack.enter_context(self._open(name)))
            self._row("site", name=chosen.SITE_NAME, url=settings.SITE_URL)
            self._write_lists()
            self._write_groups()
            self._write_articles()
            self._write_log()
            self._write_members()
            self._write_former()
        (self._folder / "schemas").mkdir()
        for table in tables(is_private=self._is_private):
            self._write_json(f"schemas/{table}.schema.json", schema(table, is_private=self._is_private))
        facts = {
            "format": NAME, "version": VERSION, "software": settings.VERSION,
            "name": chosen.SITE_NAME, "url": settings.SITE_URL,
            "made_at": datetime.fromtimestamp(self._now, UTC).isoformat(timespec="seconds"),
            "is_private": self._is_private, "readers": "members" if chosen.is_for_members else "everyone",
            "files": {name: one.facts for name, one in self._files.items()},
        }  # fmt: skip
        self._write_json(MANIFEST, facts)
        return {name.removesuffix(".jsonl"): one.rows for name, one in self._files.items()}

    def _open(self, name: str) -> IO[bytes]:
        mode = 0o600 if self._is_private else 0o666
        return open(self._folder / name, "xb", opener=lambda path, flags: os.open(path, flags, mode))

    def _write_json(self, name: str, value: object) -> None:
        with self._open(name) as file:
            file.write(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")

    def _row(self, table: str, **values: object) -> None:
        """Write a row, without what is empty and what is not for the readers of the file."""
        known = columns(table, is_private=self._is_private)
        if not known:
            return
        row = {
            name: int(value) if isinstance(value, bool) else _plain(value) if isinstance(value, float) else value
            for name, value in values.items()
            if name in known and value is not None and value != "" and value is not False
        }
        self._files[f"{table}.jsonl"].write(json.dumps(row, ensure_ascii=False, separators=(",", ":")))

    def _address(self, kind: str, name: object, route: str, *args: object) -> None:
        self._files[REDIRECTS].write(f"{path_of(route, *args)}\t{kind}\t{name}")

    def _feeds(self, kind: str, name: object, route: str, *args: object) -> None:
        for form in FEEDS:
            self._address("feed", f"{kind} {name}" if kind else name, route, *args, form)

    def _write_lists(self) -> None:
        for order, name in PAGES.items():
            self._address("list", name, f"articles:{name}")
            if order is not Order.POINTS:
                self._feeds("", name, "articles:feed", name)
        for period in TOP_PERIODS:
            self._feeds("", f"top {period}", "articles:top_feed", period)
        self._feeds("", "comments", "articles:comments_feed")

    def _write_groups(self) -> None:
        closed = choices.closed_groups()
        for one in self._repository.groups.list_all(with_descriptions=True):
            text, is_closed = one.description, one.slug in closed
            self._row("tag", id=one.slug, title=one.title, description=text, is_closed=is_closed)
            self._address("group", one.slug, "articles:group", one.slug)
            self._feeds("group", one.slug, "articles:group_feed", one.slug)
        for slug, into in sorted(self._repository.groups.get_merged().items()):
            self._row("alias", kind=Kind.GROUP, old_id=slug, id=into)
            self._address("group", into, "articles:group", slug)

    # Articles and comments

    def _sees(self, article: Article) -> bool:
        return self._closed.isdisjoint(article.groups)

    def _sees_comments(self, article: Article | None) -> bool:
        return article is not None and self._sees(article) and (self._is_private or not article.is_withheld)

    def _targets(self, articles: Sequence[Article]) -> dict[ArticleId, Article]:
        """Return by id the articles whose pages show these and their comments: others for merged ones."""
        into = sorted({one.merged_into for one in articles if one.merged_into is not None})
        found = {one.id: one for one in (*articles, *self._repository.articles.get_many(into))}
        return {one.id: found[goal] for one in articles if (goal := one.merged_into or one.id) in found}

    def _write_articles(self) -> None:
        imports, done = self._repository.imports, 0
        waiting = imports.iterate(with_texts=True)
        while batch := list(islice(waiting, _BATCH)):
            visible = [one for one in batch if self._sees(one)]
            targets, numbers = self._targets(visible), imports.get_comment_numbers([one.id for one in visible])
            for article in visible:
                target = targets.get(article.id)
                if target is None or not self._sees(target):
                    continue
                if target is article:
                    self._write_article(article)
                else:
                    self._row("alias", kind=Kind.ARTICLE, old_id=str(article.id), id=str(target.id))
                self._address("article", target.id, "articles:article", article.id)
                if article.id in numbers and self._sees_comments(target):
                    self._feeds("article", target.id, "articles:article_comments_feed", article.id)
                    for comment in imports.iterate_comments(article.id):
                        self._write_comment(comment, target.id)
            done += len(batch)
            self._reach(done)

    def _write_article(self, one: Article) -> None:
        link, text = (one.link, one.text) if self._is_private or not one.is_withheld else ("", "")
        self._row(
            "article", id=str(one.id), title=one.title, link=link, text=text,
            author=self._author(one.poster, one.poster_name), time=one.posted_at, votes=one.votes,
            opposes=one.opposes, closes=one.closes_at, edited=one.edited_at, removed=one.removed,
            locked=one.locked, views=one.pv, visitors=one.uv,
        )  # fmt: skip
        for slug in one.groups:
            self._row("article_tag", article=str(one.id), tag=slug)
        if self._is_private and one.is_open(self._now):
            votes = [*self._repository.imports.iterate_voters(one.id)]
            self._write_votes([(vote.user, vote.choice, vote.at) for vote in votes], article=str(one.id))

    def _write_comment(self, one: Comment, article: ArticleId) -> None:
        self._row(
            "comment", id=str(one.id), article=str(article), parent=str(one.parent or ""),
            author=None if one.is_deleted else self._author(one.author, one.author_name), time=one.posted_at,
            text=one.text if one.is_shown or self._is_private else "", votes=one.votes, opposes=one.opposes,
            closes=one.closes_at, edited=one.edited_at, removed=one.removed, is_deleted=one.is_deleted,
        )  # fmt: skip
        self._address("comment", one.id, "articles:comment", one.id)
        if self._is_private and one.is_open(self._now) and one.votes + one.opposes:
            votes = self._repository.imports.iterate_comment_voters(one.id)
            self._write_votes([(user, choice, None) for user, choice in votes], comment=str(one.id))

    def _write_votes(self, votes: Sequence[tuple[int, Choice, float | None]], **on: str) -> None:
        named = _names([user for user, _choice, _at in votes])
        for name, choice, at in sorted((named[user], choice, at) for user, choice, at in votes if user in named):
            self._row("vote", member=name, **on, value=1 if choice is Choice.VOTE else -1, time=at)

    def _author(self, member: int, name: str) -> str | None:
        if name in self._leaving:
            return DELETED_NAME
        if name:
            self._named.add(name)
        return name or (DELETED_NAME if member == DELETED_MEMBER else None)

    # Members

    def _write_members(self) -> None:
        invited = Invitation.objects.used().select_related("inviter")
        members = User.objects.filter(left_at=None, waiting=None).order_by("pk").select_related("moved")
        members = members.prefetch_related(Prefetch("invitation", invited))
        for one in members.iterator(_BATCH):
            name, about = one.username, "" if is_about_withheld(one) and not self._is_private else one.about
            if not (self._is_private or about or name in self._named):
                continue
            self._named.add(name)
            inviter = one.invitation.inviter if hasattr(one, "invitation") else None
            is_told = self._is_private or chosen.INVITATION_TREE == "public"
            self._row(
                "member", id=name, name=name, joined=one.date_joined.timestamp(), about=about,
                inviter=inviter.username if inviter and inviter.left_at is None and is_told else None,
                **(self._private_facts(one) if self._is_private else {}),
            )  # fmt: skip
            self._address("member", name, "articles:profile", name)
            self._feeds("member", name, "articles:user_feed", name)
            if self._is_private:
                self._write_kept(one)

    def _private_facts(self, one: User) -> dict[str, object]:
        ban = next(filter(None, map(one.find_ban, (BanScope.POSTING, BanScope.VOTING))), None)
        of_ban = {} if ban is None else {
            "banned_at": ban.begins_at.timestamp(), "ban_reason": ban.reason, "ban_scope": one.banned_from,
            "ban_ends": one.ban_ends_at and one.ban_ends_at.timestamp(),
        }  # fmt: skip
        is_usable = one.is_active and one.has_usable_password()
        unclaimed = one.moved.address if hasattr(one, "moved") else ""
        return {"address": one.email or unclaimed, "password": one.password if is_usable else ""} | of_ban

    def _write_kept(self, one: User) -> None:
        """Write what a member keeps."""
        hiding = Hiding.of(one.hidden)
        for article, at in self._repository.members.iterate_saved(one.pk):
            self._row("saved", member=one.username, article=str(article), time=at)
        for article in hiding.articles:
            self._row("hidden", member=one.username, article=str(article))
        for slugs, is_hidden in ((one.followed_groups, 0), (one.hidden_groups, 1)):
            for slug in filter(None, slugs.split(",")):
                self._row("follow", member=one.username, tag=slug, is_hidden=is_hidden)

    # Addresses of sites that moved in, and the log

    def _write_former(self) -> None:
        """Write which ids of sites that moved in lead to what is exported."""
        rows = Arrival.objects.select_related("source").order_by("source", "kind", "old_id").iterator(_BATCH)
        while batch := list(islice(rows, _BATCH)):
            places = self._places({_split(one) for one in batch})
            for one in batch:
                if new := places.get(_split(one)):
                    site = one.source
                    self._row(
                        "former", source=site.name, format=site.format, host=site.host, kind=one.kind,
                        old_id=one.old_id, id=f"{_split(one)[0]} {new}" if one.kind == Kind.PATH else new,
                    )  # fmt: skip

    def _places(self, split: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return what is in the export of these kinds and ids here, and its ids there."""
        ids = {kind: [new for one, new in split if one == kind] for kind in Kind}
        comments = [(int(new), article_of(int(new))) for new in ids[Kind.COMMENT]]
        wanted = {*map(int, ids[Kind.ARTICLE]), *(article for _comment, article in comments)}
        found = [one for one in self._repository.articles.get_many(sorted(wanted)) if self._sees(one)]
        targets = {one: target for one, target in self._targets(found).items() if self._sees(target)}
        named = _names(list(map(int, ids[Kind.MEMBER])))
        groups = self._repository.groups.get_targets(ids[Kind.GROUP])
        shown = [one for one, article in comments if self._sees_comments(targets.get(article))]
        return {
            **{(Kind.ARTICLE, str(one)): str(target.id) for one, target in targets.items()},
            **{(Kind.COMMENT, str(one)): str(one) for one in shown},
            **{(Kind.MEMBER, str(one)): name for one, name in named.items() if name in self._named},
            **{(Kind.GROUP, slug): into for slug, into in groups.items()},
        }

    def _write_log(self) -> None:
        """Write the entries that readers see, the newest first."""
        rest, has_next = None, True
        while has_next:
            page = self._repository.moderation_log.find(LogFilter(), rest)
            for entry in page.entries:
                actor, title = (
                    DELETED_NAME if one in self._leaving else one for one in (entry.actor_name, entry.title)
                )
                self._named |= {actor, title if entry.names_member else ""}
                details = {name: text for name, text in entry.details.items() if text and name != "comment"}
                self._row(
                    "log", time=entry.at, actor=actor, action=str(entry.action),
                    article=str(entry.article_id or ""), comment=entry.details.get("comment"), reason=entry.reason,
                    **{"member" if entry.names_member else "subject": title},
                    details=json.dumps(details, ensure_ascii=False, sort_keys=True) if details else "",
                )  # fmt: skip
            rest, has_next = page.rest, page.has_next


def _plain(value: float) -> int | float | None:
    """Return a number as JSON has it; None for no end."""
    return None if isinf(value) else int(value) if value.is_integer() else round(value, 3)


def _names(ids: Collection[int]) -> dict[int, str]:
    """Return the names of members by id, without those whose accounts are deleted. A query for each `_BATCH`."""
    found, waiting = dict[int, str](), iter(sorted(set(ids)))
    while some := list(islice(waiting, _BATCH)):
        found |= User.objects.filter(pk__in=some, left_at=None).values_list("pk", "username")
    return found


def _split(one: Arrival) -> tuple[str, str]:
    """Return of which kind the thing here is, and its id."""
    kind, _space, new = one.new_id.partition(" ") if one.kind == Kind.PATH else (one.kind, "", one.new_id)
    return kind, new

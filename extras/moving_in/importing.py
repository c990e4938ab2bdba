"""Enter what is staged: groups, members, articles with their discussions and votes, and what members keep.

Each row is entered once: `Arrival` has the ids of what came, and is written after the thing itself, so an import
that ends anywhere continues there. An article's row is written last, after those of its comments.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, islice
from secrets import token_urlsafe
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts import names
from accounts.models import Ban, BanScope, Invitation, User
from articles.domain.articles import (
    AHEAD,
    EARLIEST,
    MOST_IMPORTED_GROUPS,
    MOST_OPEN_VOTES,
    ArticleId,
    Choice,
    ImportedArticle,
    ImportedVote,
)
from articles.domain.comments import COMMENTS_PER_ARTICLE, CommentEntry, CommentPlace, ImportedComment, root_of
from articles.domain.members import DELETED_MEMBER, UNKNOWN_POSTER, UserId
from articles.domain.moderation_log import OPERATOR
from articles.repository import Repository
from articles.text.lines import (
    InvalidInput,
    clean_about,
    clean_comment,
    clean_group_description,
    clean_group_title,
    clean_reason,
    clean_text,
    clean_title,
)
from articles.text.links import clean_link
from articles.text.searching import Hiding, Kind as Hidden
from articles.text.slugs import clean_slug
from articles.web.account_ids import patience
from articles.web.preferences import MOST_FOLLOWED
from extras.moving_in.models import OLD_ID_LIMIT, Arrival, Kind, MovedAccount, Source
from extras.moving_in.sources.rows import BadRow
from extras.moving_in.staging import Staging

BATCH = 2_000  # articles and comments that are entered together
_MEMBERS = 500  # members that are entered together
_PER_QUERY = 500  # ids that one query looks up
_MOST_KNOWN = 50_000  # members whose accounts are remembered
_ROWS_PER_SECOND = 1_000
_STORE_BYTES_PER_ROW = 1_300
_SHOWN = 5  # ids that a report shows of each reason
_NAMES_SHOWN = 50
_FILLED = ("date_joined", "about", "password", "banned_from", "ban_ends_at", "ban_changed_at")  # of an account
_HASHES = (
    "argon2",
    "bcrypt",
    "bcrypt_sha256",
    "pbkdf2_sha256",
    "scrypt",
)  # of passwords, by what Django calls them

_NOT_ENTERED = {
    CommentEntry.TAKEN: "another comment of the article has its number here",
    CommentEntry.ORPHAN: "the comment that it replies to is not here any longer",
    CommentEntry.NO_ARTICLE: "its article is not here",
}


class Interrupted(Exception):
    """The operator ended the import; what was entered stays."""


@dataclass(slots=True)
class Report:
    """What came, what was here already, what did not come or not as it was, and which names changed."""

    come: Counter[str] = field(default_factory=Counter)
    present: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    names: list[tuple[str, str]] = field(default_factory=list)
    renamed: int = 0

    def note(self, noun: str, reason: str, old_id: object) -> None:
        """Note why something did not come, or what of it did not."""
        self.reasons[noun, reason] += 1
        if len(first := self.examples[noun, reason]) < _SHOWN:
            first.append(str(old_id))

    def rename(self, before: str, after: str) -> None:
        if before != after:
            self.renamed += 1
            if len(self.names) < _NAMES_SHOWN:
                self.names.append((before, after))

    def lines(self) -> Iterator[str]:
        for noun in dict.fromkeys((*self.come, *self.present)):
            yield f"{self.come[noun]:>11,}  {noun}" + (
                f" ({self.present[noun]:,} already present)" if self.present[noun] else ""
            )
        if self.reasons:
            yield "Not as at the source:"
        for (noun, reason), number in self.reasons.most_common():
            shown = ", ".join(self.examples[noun, reason]) + (", …" if number > _SHOWN else "")
            yield f"{number:>11,}  {noun}: {reason} ({shown})"
        if self.renamed:
            yield "Names that change:"
            yield from (f"             {before} → {after}" for before, after in self.names)
        if self.renamed > len(self.names):
            yield f"             … and {self.renamed - len(self.names):,} more"


class Account(NamedTuple):
    """The account of a member of the source here."""

    id: UserId
    name: str


_NOBODY = Account(DELETED_MEMBER, "")


class MovingIn:
    """One import of what is staged. `reach` receives how many rows are done; `is_stopped` ends it after a batch.

    `is_dry`: nothing is changed, and the report says what would come.
    """

    def __init__(
        self,
        repository: Repository,
        source: Source,
        staging: Staging,
        report: Report,
        reach: Callable[[int], object] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
        *,
        is_dry: bool = False,
    ) -> None:
        self._repository, self._source, self._staging, self._report = repository, source, staging, report
        self._reach, self._is_stopped, self._is_dry = reach, is_stopped, is_dry
        self._now = repository.store.now()
        self._known: dict[str, Account] = {}
        self._slugs: dict[str, str] = {}
        self._marks: Counter[tuple[str, float]] = Counter()
        self._done = 0

    def run(self) -> None:
        """Enter everything. Raises ImportRunning, Interrupted, and errors of the store and the database."""
        with nullcontext() if self._is_dry else self._repository.imports.lock():
            self._enter_groups()
            for rows in _portions(self._staging.rows("member", order="ORDER BY joined, length(id), id"), _MEMBERS):
                self._enter_members(rows)
                self._advance(len(rows))
            for rows in _portions(self._staging.articles(), BATCH // 4):
                self._enter_articles(rows)
            for table, enter in (("saved", self._save), ("hidden", self._hide), ("follow", self._follow)):
                for member, kept in groupby(
                    self._staging.rows(table, order="ORDER BY member"), lambda one: one["member"]
                ):
                    enter(member, rows := list(kept))
                    self._advance(len(rows))
            self._enter_aliases()
        if not self._is_dry:
            self._source.completed_at = timezone.now()
            self._source.save(update_fields=["completed_at"])

    def _advance(self, rows: int) -> None:
        self._done += rows
        self._reach(self._done)
        if not self._is_dry:
            self._repository.imports.renew()
        if self._is_stopped():
            raise Interrupted

    # What came

    def _arrived(self, kind: Kind, old_ids: Collection[object]) -> dict[str, str]:
        """Return the new ids of those that came, by old id. A query for each `_PER_QUERY`."""
        found, rows = (
            dict[str, str](),
            self._source.arrivals.filter(kind=kind) if self._source.pk else Arrival.objects.none(),
        )
        for some in _portions(iter(map(str, old_ids)), _PER_QUERY):
            found |= rows.filter(old_id__in=some).values_list("old_id", "new_id")
        return found

    def _note_arrivals(self, kind: Kind, ids: Mapping[str, Any], paths: Mapping[str, object] = {}) -> None:
        if self._is_dry:
            return
        rows = [(kind, old, str(new)) for old, new in ids.items()]
        rows += [(Kind.PATH, path, f"{kind} {new}") for path, new in paths.items()]
        Arrival.objects.bulk_create(
            (
                Arrival(source=self._source, kind=kind, old_id=old, new_id=new)
                for kind, old, new in rows
                if len(old) <= OLD_ID_LIMIT
            ),
            ignore_conflicts=True,
        )

    # Groups

    def _enter_groups(self) -> None:
        groups, rows = self._repository.groups, dict[str, Any]()
        for row in self._staging.rows("tag"):
            if (slug := self._slug_of(row)) is not None:
                self._slugs[str(row["id"])] = slug
                rows.setdefault(slug, row)
        present = groups.get_targets([*rows]) if rows else {}
        self._report.present["groups"] += len(present)
        self._report.come["groups"] += len(rows) - len(present)
        if self._is_dry:
            return
        fresh = {slug: row for slug, row in rows.items() if slug not in present}
        groups.ensure(
            {slug: self._optional(clean_group_title, "group", row, "title") or slug for slug, row in fresh.items()}
        )
        for slug, row in fresh.items():
            if text := self._optional(clean_group_description, "group", row, "description"):
                groups.describe(slug, text, OPERATOR, f"Moved in from {self._source.host or self._source.name}")
        targets = groups.ensure_targets([*rows], groups.get_targets([*rows])) if rows else {}
        self._slugs = {tag: targets[slug] for tag, slug in self._slugs.items()}
        self._note_arrivals(Kind.GROUP, self._slugs)

    def _slug_of(self, row: Any) -> str | None:
        """Return the slug of a tag: its id, unless that is a number or cannot be one, else its title."""
        tried = [str(row["id"]), str(row["title"] or "")]
        for text in tried[::-1] if tried[0].isdigit() else tried:
            try:
                return clean_slug(text)
            except InvalidInput as error:
                reason = str(error)
        self._report.note("group", reason, row["id"])
        return None

    # Members

    def _enter_members(self, rows: Sequence[Any]) -> None:
        """Make the accounts of these members, and fill those that are new."""
        arrived = self._arrived(Kind.MEMBER, [row["id"] for row in rows])
        self._report.present["members"] += len(arrived)
        fresh = dict[str, Any]()
        for row in rows:
            if str(row["id"]) in arrived:
                continue
            if row["is_deleted"] or not str(row["name"] or "").strip():
                self._report.note("member", "the account was deleted there", row["id"])
            else:
                fresh[str(row["id"])] = row
        spelled = {old: str(row["name"]).strip() for old, row in fresh.items()}
        if self._is_dry:
            for name in spelled.values():
                self._report.rename(name, names.as_valid(name, settings.NAMES))
            self._known |= {old: Account(1, name) for old, name in spelled.items()}
            self._report.come["members"] += len(fresh)
            return
        with patience(), transaction.atomic():
            ids = User.objects.bulk_create_imported([*spelled.values()][::-1])
            users = User.objects.select_related("moved").in_bulk(ids.values())
            came = dict[str, UserId]()
            changed, moved, bans, filled = list[User](), list[MovedAccount](), list[Ban](), set[int]()
            for old, row in fresh.items():
                if (pk := ids.get(spelled[old])) is None:
                    self._report.note("member", "an account of this name was deleted here", old)
                    continue
                came[old], user = pk, users[pk]
                self._report.rename(spelled[old], user.username)
                if pk in filled or hasattr(user, "moved") or not user.imported or user.last_login is not None:
                    self._report.note("member", "the name has an account here, which is left as it is", old)
                    continue
                filled.add(pk)
                moved.append(MovedAccount(user=user, source=self._source, address=self._address(row)))
                if ban := self._fill_account(user, row):
                    bans.append(ban)
                changed.append(user)
            _update(changed)
            MovedAccount.objects.bulk_create(moved)
            Ban.objects.bulk_create(bans)
            self._note_arrivals(Kind.MEMBER, came)
            self._invite({old: fresh[old] for old, pk in came.items() if pk in filled}, came)
        self._report.come["members"] += len(came)

    def _fill_account(self, user: User, row: Any) -> Ban | None:
        """Fill a new account; return its ban, if it has one."""
        user.date_joined = _date(row["joined"]) or user.date_joined
        user.about = self._optional(clean_about, "member", row, "about")
        password = str(row["password"] or "")
        if password.partition("$")[0] in _HASHES and len(password) <= 128:
            user.password = password
        ends_at, begins_at = _date(row["ban_ends"]), _date(row["banned_at"])
        if begins_at is None or (ends_at is not None and ends_at <= timezone.now()):
            return None
        reason = (
            self._optional(clean_reason, "member", row, "ban_reason")
            or f"Banned at {self._source.host or self._source.name}"
        )
        user.banned_from, user.ban_ends_at, user.ban_changed_at = (
            BanScope.BOTH.value,
            ends_at,
            begins_at.timestamp(),
        )
        return Ban(member=user, scope=BanScope.BOTH.value, reason=reason, begins_at=begins_at, ends_at=ends_at)

    def _address(self, row: Any) -> str:
        address = str(row["address"] or "").strip() if settings.MOVING_IN_ADDRESSES else ""
        return address if "@" in address and len(address) <= 254 else ""

    def _invite(self, rows: Mapping[str, Any], came: Mapping[str, UserId]) -> None:
        """Note who invited whom. Inviters are earlier members, so that no one is below themselves."""
        inviters = {str(row["inviter"]) for row in rows.values() if row["inviter"] is not None}
        known = {old: int(new) for old, new in self._arrived(Kind.MEMBER, inviters).items()} | dict(came)
        order = {old: number for number, old in enumerate(came)}
        invitations = [
            Invitation(
                inviter_id=known[inviter], invited_id=came[old], code=token_urlsafe(18),
                created_at=(at := _date(row["joined"]) or timezone.now()), expires_at=at,
            )
            for old, row in rows.items()
            if (inviter := str(row["inviter"])) in known and order.get(inviter, -1) < order[old]
            and known[inviter] != came[old]
        ]  # fmt: skip
        Invitation.objects.bulk_create(invitations, ignore_conflicts=True)

    def _accounts(self, old_ids: Iterable[object]) -> dict[str, Account]:
        """Return the accounts of members of the source, those that have one."""
        wanted = {str(old) for old in old_ids if old is not None}
        missing = wanted - self._known.keys()
        if missing and not self._is_dry:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
                missing = wanted
            ids = {old: int(new) for old, new in self._arrived(Kind.MEMBER, missing).items()}
            named = dict[int, str]()
            for some in _portions(iter(set(ids.values())), _PER_QUERY):
                named |= User.objects.filter(pk__in=some, left_at=None).values_list("pk", "username")
            self._known |= {old: Account(pk, named[pk]) if pk in named else _NOBODY for old, pk in ids.items()}
        return {old: self._known[old] for old in wanted if old in self._known}

    # Articles

    def _enter_articles(self, rows: Sequence[Any]) -> None:
        """Enter articles that did not come yet, and comments of all of them that did not."""
        imports = self._repository.imports
        arrived = self._arrived(Kind.ARTICLE, [row["id"] for row in rows])
        accounts = self._accounts(row["author"] for row in rows)
        articles = dict[str, ImportedArticle]()
        for row in rows:
            old = str(row["id"])
            try:
                articles[old] = self._article(row, accounts.get(str(row["author"])), is_new=old not in arrived)
            except BadRow as bad:
                self._report.note("article", str(bad), old)
        fresh = {old: article for old, article in articles.items() if old not in arrived}
        self._report.present["articles"] += len(articles) - len(fresh)
        self._report.come["articles"] += len(fresh)
        ids, new = {old: int(arrived[old]) for old in articles if old in arrived}, set[str]()
        if self._is_dry:
            ids |= dict.fromkeys(fresh, 0)
        elif fresh:
            entered = imports.add([*fresh.values()])
            found = imports.find([*fresh.values()]) if None in entered else entered
            for old, number, known in zip(fresh, entered, found, strict=True):
                ids[old] = number or known or 0
                if number is not None:
                    new.add(old)
        discussions = [
            _Discussion(articles[old], ids[old], is_new=old in new, has_arrived=old in arrived) for old in ids
        ]
        self._enter_discussions(dict(zip(ids, discussions, strict=True)))
        paths = {str(row["path"]): ids[old] for row in rows if row["path"] and (old := str(row["id"])) in fresh}
        self._note_arrivals(Kind.ARTICLE, {old: ids[old] for old in fresh}, paths)
        self._advance(len(rows))

    def _article(self, row: Any, poster: Account | None, *, is_new: bool) -> ImportedArticle:
        """Return the article of a row. Raises BadRow."""
        posted_at, removed = self._time(row), self._optional(clean_reason, "article", row, "removed") or None
        if row["removed"] is not None and removed is None:
            removed = "Removed there"
        title = _cleaned(clean_title, row["title"])
        link = _cleaned(clean_link, row["link"]) if row["link"] else ""
        text = _cleaned(clean_text, row["text"]) if row["text"] else ""
        if not (link or text):
            if removed is None:
                raise BadRow("it has neither a link nor a text")
            text = "[removed]"
        self._marks[link or title, posted_at] += 1
        if (number := self._marks[link or title, posted_at]) > 1:  # the store needs another millisecond
            posted_at = round(posted_at + (number - 1) / 1000, 3)
        for mark in [mark for mark in self._marks if mark[1] < posted_at - 1] if len(self._marks) > BATCH else ():
            del self._marks[mark]
        closes_at = self._closes(row, posted_at)
        ballots = self._ballots("article", row, posted_at, closes_at) if is_new else ()
        votes, opposes = _counts(row, ballots, least=1)
        if self._is_open(posted_at, closes_at) and votes + opposes > MOST_OPEN_VOTES:
            self._report.note("article", "it has too many votes to be open: voting is over", row["id"])
            closes_at, ballots = max(posted_at, self._now - 1), ()
        slugs = dict.fromkeys(
            self._slugs[tag] for one in self._staging.of("article_tag", "article", row["id"])
            if (tag := str(one["tag"])) in self._slugs
        )  # fmt: skip
        if len(slugs) > MOST_IMPORTED_GROUPS:
            self._report.note(
                "article", f"it is in more than {MOST_IMPORTED_GROUPS} groups: the first are kept", row["id"]
            )
        return ImportedArticle(
            title=title,
            link=link,
            text=text,
            poster=poster.id if poster else UNKNOWN_POSTER,
            poster_name=poster.name if poster else "",
            posted_at=posted_at,
            votes=votes,
            opposes=opposes,
            groups=tuple(slugs)[:MOST_IMPORTED_GROUPS],
            removed=removed,
            closes_at=closes_at,
            locked=self._optional(clean_reason, "article", row, "locked") or None,
            comment_numbers=min(
                self._staging.count("comment", "article = ?", [row["id"]]), COMMENTS_PER_ARTICLE - 1
            ),
            edited_at=self._edited(row, posted_at),
            voters=tuple(ballots),
        )

    # Comments

    def _enter_discussions(self, discussions: "Mapping[str, _Discussion]") -> None:
        """Enter the comments of articles, some at a time."""
        rows = (row for old in discussions for row in self._staging.comments_of(old))
        for some in _portions(rows, BATCH):
            arrived = self._arrived(Kind.COMMENT, [row["id"] for row in some])
            accounts = self._accounts(row["author"] for row in some)
            self._report.present["comments"] += len(arrived)
            waiting, numbers, paths, ids = (
                list[ImportedComment](),
                dict[str, int](),
                dict[str, int](),
                list[ArticleId](),
            )
            for row in some:
                old, discussion = str(row["id"]), discussions[str(row["article"])]
                if old in arrived:
                    discussion.pass_over(old, row, int(arrived[old]) % COMMENTS_PER_ARTICLE)
                    continue
                try:
                    comment = self._comment(row, discussion, accounts.get(str(row["author"]), _NOBODY))
                except BadRow as bad:
                    self._report.note("comment", str(bad), old)
                    discussion.leave_out(old, row)
                    continue
                numbers[old] = root_of(discussion.id) + comment.place.number
                if row["path"]:
                    paths[str(row["path"])] = numbers[old]
                if comment.place.is_stub:
                    continue
                waiting.append(comment)
                ids.append(discussion.id)
            self._write_comments(waiting, ids, numbers, paths)
            self._advance(len(some))

    def _write_comments(
        self,
        comments: Sequence[ImportedComment],
        ids: Sequence[ArticleId],
        numbers: dict[str, int],
        paths: dict[str, int],
    ) -> None:
        if self._is_dry:
            self._report.come["comments"] += len(comments)
            return
        entries = self._repository.imports.add_comments(comments, ids)
        old_ids = {number: old for old, number in numbers.items()}
        for comment, article_id, entry in zip(comments, ids, entries, strict=True):
            number = root_of(article_id) + comment.place.number
            if entry in _NOT_ENTERED:
                self._report.note("comment", _NOT_ENTERED[entry], old_ids[number])
                del numbers[old_ids[number]]
            elif entry is CommentEntry.ENTERED:
                self._report.come["comments"] += 1
            else:
                self._report.present["comments"] += 1
        left = {*numbers.values()}
        self._note_arrivals(Kind.COMMENT, numbers, {path: new for path, new in paths.items() if new in left})

    def _comment(self, row: Any, discussion: "_Discussion", author: Account) -> ImportedComment:
        """Return the next comment of a discussion. Raises BadRow."""
        posted_at, is_stub = self._time(row), bool(row["is_deleted"])
        removed = (
            None
            if row["removed"] is None
            else self._optional(clean_reason, "comment", row, "removed") or "Removed there"
        )
        text = ""
        if not is_stub and (row["text"] or removed is None):
            text = _cleaned(clean_comment, row["text"])
        closes_at = self._closes(row, posted_at)
        ballots = self._ballots("comment", row, posted_at, closes_at, but=author.id) if not is_stub else ()
        votes, opposes = _counts(row, ballots, least=0)
        if self._is_open(posted_at, closes_at) and votes + opposes > MOST_OPEN_VOTES:
            self._report.note("comment", "it has too many votes to be open: voting is over", row["id"])
            closes_at, ballots = max(posted_at, self._now - 1), ()
        place = discussion.place(row, posted_at, closes_at, text, self._repository, is_stub=is_stub)
        if is_stub:
            return ImportedComment(discussion.article, place, DELETED_MEMBER, "", "")
        return ImportedComment(
            discussion.article,
            place,
            author.id,
            author.name,
            text,
            votes,
            opposes,
            self._edited(row, posted_at),
            removed,
            tuple(ballots),
        )

    # What rows have in common

    def _time(self, row: Any) -> float:
        """Return when something was posted. Raises BadRow."""
        if row["time"] is None or not EARLIEST <= float(row["time"]) <= self._now + AHEAD:
            raise BadRow("its time is missing, before 1990 or in the future")
        return round(float(row["time"]), 3)

    def _closes(self, row: Any, posted_at: float) -> float | None:
        return None if row["closes"] is None else max(posted_at, round(float(row["closes"]), 3))

    def _edited(self, row: Any, posted_at: float) -> float | None:
        edited = row["edited"]
        return None if edited is None or float(edited) > self._now else max(posted_at, round(float(edited), 3))

    def _is_open(self, posted_at: float, closes_at: float | None) -> bool:
        return self._now <= (posted_at + self._repository.rules.voting_window if closes_at is None else closes_at)

    def _ballots(
        self, column: str, row: Any, posted_at: float, closes_at: float | None, but: UserId = 0
    ) -> Sequence[ImportedVote]:
        """Return the votes of members, if they can be changed here or the source counts none."""
        if row["votes"] is not None and not self._is_open(posted_at, closes_at):
            return ()
        rows = {str(one["member"]): one for one in self._staging.of("vote", column, row["id"])}
        accounts = self._accounts(rows) if rows else {}
        cast = {
            accounts[old].id: ImportedVote(
                accounts[old].id,
                Choice.VOTE if one["value"] > 0 else Choice.OPPOSE,
                max(posted_at, min(float(one["time"] or posted_at), self._now)),
            )
            for old, one in rows.items() if old in accounts and accounts[old].id not in (but, DELETED_MEMBER)
        }  # fmt: skip
        return [*cast.values()]

    def _optional(self, clean: Callable[[str], str], noun: str, row: Any, column: str) -> str:
        """Return a text that something can do without; "" if it breaks a rule here, which the report says."""
        if not row[column]:
            return ""
        try:
            return clean(str(row[column]))
        except InvalidInput as error:
            self._report.note(noun, f"the {column.replace('_', ' ')} is left out: {error}", row["id"])
            return ""

    # What members keep

    def _owner(self, member: object) -> User | None:
        """Return an account that this import made and no one claimed: those of others are left as they are."""
        account = self._accounts([member]).get(str(member))
        mine = User.objects.filter(moved__source=self._source, moved__claimed_at=None)
        return mine.filter(pk=account.id).first() if account else None

    def _save(self, member: object, rows: Sequence[Any]) -> None:
        self._report.come["saved articles"] += len(rows)
        if not self._is_dry and (user := self._owner(member)):
            came = self._arrived(Kind.ARTICLE, [row["article"] for row in rows])
            kept = {
                int(came[old]): float(row["time"] or self._now)
                for row in rows
                if (old := str(row["article"])) in came
            }
            self._repository.imports.save(user.pk, kept)

    def _hide(self, member: object, rows: Sequence[Any]) -> None:
        self._report.come["hidden articles"] += len(rows)
        if not self._is_dry and (user := self._owner(member)):
            hiding = Hiding.of(user.hidden)
            for number in self._arrived(Kind.ARTICLE, [row["article"] for row in rows]).values():
                hiding = hiding.changed(Hidden.ARTICLE, int(number), hidden=True)
            User.objects.filter(pk=user.pk).update(hidden=hiding.text)

    def _follow(self, member: object, rows: Sequence[Any]) -> None:
        self._report.come["followed and hidden groups"] += len(rows)
        if not self._is_dry and (user := self._owner(member)):
            slugs = {
                hides: [
                    self._slugs[tag]
                    for row in rows
                    if bool(row["is_hidden"]) is hides and (tag := str(row["tag"])) in self._slugs
                ]
                for hides in (True, False)
            }
            followed = ",".join([*dict.fromkeys(slugs[False])][:MOST_FOLLOWED])
            hidden = ",".join(Hiding.of(",".join(slugs[True])).groups)
            User.objects.filter(pk=user.pk).update(followed_groups=followed, hidden_groups=hidden)

    def _enter_aliases(self) -> None:
        for rows in _portions(self._staging.rows("alias", order="ORDER BY kind"), _PER_QUERY):
            for kind in {row["kind"] for row in rows}:
                own = [row for row in rows if row["kind"] == kind]
                came = self._arrived(Kind(kind), [row["id"] for row in own])
                self._note_arrivals(
                    Kind(kind), {str(row["old_id"]): came[old] for row in own if (old := str(row["id"])) in came}
                )


class _Discussion:
    """The comments of one article, and which number each gets."""

    def __init__(
        self, article: ImportedArticle, article_id: ArticleId, *, is_new: bool, has_arrived: bool
    ) -> None:
        self.article, self.id = article, article_id
        self._is_new, self._has_arrived = is_new or not article_id, has_arrived
        self._places: dict[str, CommentPlace | None] = {}
        self._number = 0
        self._here: dict[tuple[float, str], int] | None = None

    def pass_over(self, old: str, row: Any, number: int) -> None:
        """Note the place of a comment that came earlier."""
        self._number = max(self._number, number)
        parent = self._places.get(str(row["parent"]))
        self._places[old] = CommentPlace(number, round(float(row["time"]), 3), parent)

    def leave_out(self, old: str, row: Any) -> None:
        """Let replies to a comment that does not come be replies to the nearest one above it."""
        self._places[old] = self._places.get(str(row["parent"]))

    def place(
        self,
        row: Any,
        posted_at: float,
        closes_at: float | None,
        text: str,
        repository: Repository,
        *,
        is_stub: bool,
    ) -> CommentPlace:
        """Return the place of the next comment. Raises BadRow if its parent is none of the article's."""
        parent = None
        if row["parent"] is not None:
            if str(row["parent"]) not in self._places:
                raise BadRow("the comment that it replies to is not in the discussion before it")
            parent = self._places[str(row["parent"])]
        number = None if self._is_new else self._find(repository).pop((posted_at, text), None)
        if number is None:
            number = self._number + 1
        if number >= COMMENTS_PER_ARTICLE:
            raise BadRow("the article has too many comments")
        self._number = max(self._number, number)
        place = CommentPlace(number, posted_at, parent, closes_at, is_stub)
        self._places[str(row["id"])] = place
        return place

    def _find(self, repository: Repository) -> dict[tuple[float, str], int]:
        """Return the numbers of comments that are here, by time and text: an import entered them, and ended.

        Later comments of an article that came whole get numbers above those of members' comments here.
        """
        if self._here is None:
            self._here = {}
            for comment in repository.imports.iterate_comments(self.id):
                self._here.setdefault((comment.posted_at, comment.text), comment.id % COMMENTS_PER_ARTICLE)
            if self._has_arrived:
                self._number = max(self._number, repository.imports.get_comment_numbers([self.id]).get(self.id, 0))
        return self._here


def estimate(rows: int) -> str:
    """Return a sentence about the time and the memory that so many rows take."""
    minutes, megabytes = rows / _ROWS_PER_SECOND / 60, rows * _STORE_BYTES_PER_ROW / 1_000_000
    return f"About {minutes:,.0f} minutes for {rows:,} rows, and {megabytes:,.0f} MB of the store's memory."


def _counts(row: Any, ballots: Sequence[ImportedVote], least: int) -> tuple[int, int]:
    """Return votes and opposes, with those of the members. `least`: the votes of something without points."""
    voters = sum(one.choice is Choice.VOTE for one in ballots)
    opposers = len(ballots) - voters
    if row["votes"] is None:
        return voters, opposers
    votes, opposes = int(row["votes"]), row["opposes"]
    if opposes is None:
        opposes = max(0, least - votes, opposers)
        votes += opposes
    return max(0, votes, voters), max(0, int(opposes), opposers)


def _cleaned(clean: Callable[[str], str], value: object) -> str:
    """Return a text by the rules of this site. Raises BadRow."""
    try:
        return clean(str(value or ""))
    except InvalidInput as error:
        raise BadRow(str(error)) from None


def _update(accounts: Sequence[User]) -> None:
    """Write what new accounts came with. `bulk_update` takes ten times as long."""
    columns = [one for one in User._meta.concrete_fields if one.name in _FILLED]
    line = f"UPDATE {User._meta.db_table} SET {', '.join(f'{one.column} = %s' for one in columns)} WHERE id = %s"  # noqa: S608 # nosec B608 - our names
    with connection.cursor() as cursor:
        cursor.executemany(
            line,
            [
                [*(one.get_db_prep_save(getattr(user, one.attname), connection) for one in columns), user.pk]
                for user in accounts
            ],
        )


def _date(seconds: object) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(float(str(seconds)), UTC)


def _portions(rows: Iterator[Any], most: int) -> Iterator[list[Any]]:
    while some := list(islice(rows, most)):
        yield some

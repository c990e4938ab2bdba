"""Enter what is staged: groups, members, articles with their discussions and votes, and what members keep.

Each row is entered once: `Arrival` has the ids of what came, and is written after the thing itself, so an import
that ends anywhere continues there. An article's row is written last, after those of its comments.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from secrets import token_urlsafe
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import member_ids, names
from accounts.models import BAN_SCOPES, Ban, BanScope, Invitation, User
from articles.configuration import choices
from articles.domain import articles as limits
from articles.domain.articles import ArticleId, Choice, ImportedArticle, ImportedVote
from articles.domain.comments import COMMENTS_PER_ARTICLE, CommentEntry, CommentPlace, ImportedComment, root_of
from articles.domain.members import DELETED_MEMBER, UNKNOWN_POSTER, UserId
from articles.repository import Repository, portions
from articles.text import lines
from articles.text.links import clean_link
from articles.text.searching import Hiding, Kind as Hidden
from articles.text.slugs import clean_slug
from articles.web.account_ids import patience
from articles.web.preferences import MOST_FOLLOWED
from extras.moving_in.hashers import may_be_kept
from extras.moving_in.history import Log, enter_former
from extras.moving_in.models import OLD_ID_LIMIT, Arrival, Kind, MovedAccount, Source
from extras.moving_in.sources.rows import BadRow
from extras.moving_in.staging import Staging

BATCH = 2_000  # articles and comments that are entered together
_PER_QUERY = 500  # members that are entered together, and ids that one query looks up
_MOST_KNOWN = 50_000  # members whose accounts are remembered
_LONGEST_SHOWN = 200  # characters of one; control characters of a source do not reach the terminal
_SHOWN = 5  # ids that a report shows of each reason

_NOT_ENTERED = {
    CommentEntry.TAKEN: "another comment of the article has its number here",
    CommentEntry.ORPHAN: "the comment that it replies to is not here any longer",
    CommentEntry.NO_ARTICLE: "its article is not here",
}


class Interrupted(Exception):
    """The operator ended the import; what was entered stays."""


@dataclass(slots=True)
class Report:
    """What came, what was here already, and what did not come or not as it was."""

    come: Counter[str] = field(default_factory=Counter)
    present: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def note(self, noun: str, reason: str, old_id: object, shown: int = _SHOWN) -> None:
        """Note why a row was not imported, or not in full. `shown`: most ids that the report lists."""
        self.reasons[noun, reason] += 1
        if len(first := self.examples[noun, reason]) < shown:
            first.append("".join(c if c.isprintable() else repr(c)[1:-1] for c in str(old_id)[:_LONGEST_SHOWN]))

    def lines(self) -> Iterator[str]:
        for noun in dict.fromkeys((*self.come, *self.present)):
            known = f" ({self.present[noun]:,} already present)" if self.present[noun] else ""
            yield f"{self.come[noun]:>11,}  {noun}{known}"
        if self.reasons:
            yield "Not as at the source:"
        for key, number in self.reasons.most_common():
            shown = ", ".join(self.examples[key]) + (", …" if number > len(self.examples[key]) else "")
            yield f"{number:>11,}  {': '.join(key)} ({shown})"


class Account(NamedTuple):
    """The account of a member of the source here."""

    id: UserId
    name: str


_NOBODY = Account(DELETED_MEMBER, "")


@dataclass(slots=True)
class _Discussion:
    """The comments of one article, and which number each gets."""

    article: ImportedArticle
    id: ArticleId
    is_new: bool
    has_arrived: bool
    places: dict[str, CommentPlace | None] = field(default_factory=dict)
    """By old id; of a comment that did not come, that of the nearest one above it, to which its replies reply."""

    number: int = 0
    here: dict[tuple[float, str], int] | None = None

    def find(self, repository: Repository, posted_at: float, text: str) -> int | None:
        """Return the number of a comment that is here, by time and text: an import entered it, and ended.

        Later comments of an article that came whole get numbers above those of members' comments here.
        """
        if self.is_new or not self.id:
            return None
        if self.here is None:
            self.here = {}
            for comment in repository.imports.iterate_comments(self.id):
                self.here.setdefault((comment.posted_at, comment.text), comment.id % COMMENTS_PER_ARTICLE)
            if self.has_arrived:
                self.number = max(self.number, *repository.imports.get_comment_numbers([self.id]).values(), 0)
        return self.here.pop((posted_at, text), None)


@dataclass
class MovingIn:
    """One import of what is staged. `reach` receives how many rows are done; `is_stopped` ends it after a batch.

    `is_dry`: nothing is changed, and the report says what would come.
    """

    repository: Repository
    source: Source
    staging: Staging
    report: Report
    reach: Callable[[int], object] = lambda _: None
    is_stopped: Callable[[], bool] = lambda: False
    is_dry: bool = False

    def __post_init__(self) -> None:
        self._now = self.repository.store.now()
        self._known: dict[str, Account] = {}
        self._slugs: dict[str, str] = {}
        self._open = set[str]()  # groups that only members saw there, and that everyone sees here
        self._marks: Counter[tuple[str, float]] = Counter()
        self._done = 0

    def run(self) -> None:
        """Enter everything. Raises ImportRunning, Interrupted, and errors of the store and the database."""
        with nullcontext() if self.is_dry else self.repository.imports.lock():
            if not self.is_dry and self.source.entering is None:
                self.source.entering = [self.repository.changes.get_last_id(), self._now]
                self.source.save(update_fields=["entering"])
            self._last: ArticleId = self.source.entering[0] if self.source.entering else 0
            self._enter_groups()
            members = portions(self.staging.rows("member", order="ORDER BY joined, length(id), id"), _PER_QUERY)
            articles = portions(self.staging.articles(), BATCH // 4)
            for batches, enter in ((members, self._enter_members), (articles, self._enter_articles)):
                for rows in batches:
                    enter(rows)
                    self._advance(len(rows))
            kept_things = ("saved", "saved articles", self._save), ("hidden", "hidden articles", self._hide)
            for table, noun, keep in (*kept_things, ("follow", "followed and hidden groups", self._follow)):
                kept = self.staging.rows(table, order="ORDER BY member")
                for member, some in groupby(kept, lambda one: one["member"]):
                    rows = list(some)
                    self.report.come[noun] += len(rows)
                    if not self.is_dry and (user := self._owner(member)):
                        keep(user, rows)
                    self._advance(len(rows))
            self._enter_aliases()
            log = Log(self.repository, self.source, self.staging, self.report, self._arrived, self._accounts)
            if self.is_dry:
                self.report.come["log entries"] += self.staging.count("log")
            else:
                log.enter()
                enter_former(self.source, self.staging, self._arrived)
        if not self.is_dry:
            self.source.completed_at, self.source.entering = timezone.now(), None
            self.source.save(update_fields=["completed_at", "entering"])

    def _advance(self, rows: int) -> None:
        self._done += rows
        self.reach(self._done)
        if not self.is_dry:
            self.repository.imports.renew()
        if self.is_stopped():
            raise Interrupted

    # What came

    def _arrived(self, kind: Kind, old_ids: Iterable[object]) -> dict[str, str]:
        """Return the new ids of those that came, by old id. A query for each `_PER_QUERY`."""
        found = dict[str, str]()
        for some in portions(map(str, old_ids), _PER_QUERY) if self.source.pk else ():
            rows = self.source.arrivals.filter(kind=kind, old_id__in=some)
            found |= rows.values_list("old_id", "new_id")
        return found

    def _note_arrivals(
        self, kind: Kind, ids: Mapping[str, Any], paths: Mapping[str, object] = {}, here: Container[str] = ()
    ) -> None:
        """Note what came. `here`: old ids of what the import did not make."""
        rows = [(kind, old, str(new)) for old, new in ids.items()]
        rows += [(Kind.PATH, path, f"{kind} {new}") for path, new in paths.items()]
        rows = [] if self.is_dry else [row for row in rows if len(row[1]) <= OLD_ID_LIMIT]
        of = partial(Arrival, source=self.source)
        arrivals = (of(kind=one, old_id=old, new_id=new, is_made=old not in here) for one, old, new in rows)
        Arrival.objects.bulk_create(arrivals, ignore_conflicts=True)

    # Groups

    def _enter_groups(self) -> None:
        groups, rows = self.repository.groups, dict[str, Any]()
        for row in self.staging.rows("tag"):
            if (slug := self._slug_of(row)) is not None:
                self._slugs[str(row["id"])] = slug
                rows.setdefault(slug, row)
        present = groups.get_targets([*rows]) if rows else {}
        self.report.present["groups"] += len(present)
        self.report.come["groups"] += len(rows) - len(present)
        closed = {slug for slug, row in rows.items() if row["is_closed"]}
        self._open = closed.intersection(present) - choices.closed_groups()
        if self.is_dry or not rows:
            return
        with transaction.atomic():
            for slug in closed.difference(present):
                choices.close_group(slug, is_closed=True)
        fresh = {slug: row for slug, row in rows.items() if slug not in present}
        self._slugs = {tag: present.get(slug, slug) for tag, slug in self._slugs.items()}
        here = {tag for tag, slug in self._slugs.items() if slug not in fresh}
        self._note_arrivals(Kind.GROUP, self._slugs, here=here)
        title_of = partial(self._optional, lines.clean_group_title, "group", column="title")
        text_of = partial(self._optional, lines.clean_group_description, "group", column="description")
        texts = {slug: text for slug, row in fresh.items() if (text := text_of(row))}
        groups.ensure({slug: title_of(row) or slug for slug, row in fresh.items()}, texts)

    def _slug_of(self, row: Any) -> str | None:
        """Return the slug of a tag: its id, unless that is a number or cannot be one, else its title."""
        tried = [str(row["id"]), str(row["title"] or "")]
        for text in tried[::-1] if tried[0].isdigit() else tried:
            try:
                return clean_slug(text)
            except lines.InvalidInput as error:
                reason = str(error)
        self.report.note("group", reason, row["id"])
        return None

    # Members

    def _enter_members(self, rows: Sequence[Any]) -> None:
        """Make the accounts of these members, with what they were there."""
        arrived, fresh = self._arrived(Kind.MEMBER, [row["id"] for row in rows]), dict[str, Any]()
        self.report.present["members"] += len(arrived)
        for row in rows:
            if str(row["id"]) in arrived:
                continue
            if row["is_deleted"] or not str(row["name"] or "").strip():
                self.report.note("member", "the account was deleted there", row["id"])
            else:
                fresh[str(row["id"])] = row
        spelled = {old: str(row["name"]).strip() for old, row in fresh.items()}
        if self.is_dry:
            for name in spelled.values():
                self._note_name(name, names.as_valid(name, settings.NAMES))
            self._known |= {old: Account(1, name) for old, name in spelled.items()}
            self.report.come["members"] += len(fresh)
            return
        facts = {spelled[old]: self._facts(row) for old, row in reversed(fresh.items())}  # the first one's count
        with patience(), transaction.atomic():
            before, came, made = member_ids.highest(), dict[str, UserId](), dict[UserId, str]()
            ids = User.objects.bulk_create_imported(facts, facts)
            users = User.objects.in_bulk(ids.values())
            for old, name in spelled.items():
                if (pk := ids.get(name)) is None:
                    self.report.note("member", "an account of this name was deleted here", old)
                    continue
                came[old] = pk
                self._note_name(name, users[pk].username)
                if pk in made or pk <= before or not users[pk].imported:
                    self.report.note("member", "the name has an account here, which is left as it is", old)
                else:
                    made[pk] = old
            rows = [(users[pk], fresh[old]) for pk, old in made.items()]
            MovedAccount.objects.bulk_create(
                MovedAccount(user=user, source=self.source, address=self._address(row)) for user, row in rows
            )
            Ban.objects.bulk_create(self._ban(user, row) for user, row in rows if user.banned_from)
            self._note_arrivals(Kind.MEMBER, came)
            self._invite({old: fresh[old] for old in made.values()}, came)
        self.report.come["members"] += len(came)

    def _note_name(self, name: str, here: str) -> None:
        if name != here:
            self.report.note("name", "it changes", f"{name} → {here}", shown=50)

    def _facts(self, row: Any) -> dict[str, Any]:
        """Return what a new account has of the member, by field."""
        facts: dict[str, Any] = {"about": self._optional(lines.clean_about, "member", row, "about")}
        password, begins_at, ends_at = str(row["password"] or ""), _date(row["banned_at"]), _date(row["ban_ends"])
        if may_be_kept(password):
            facts["password"] = password
        elif password:
            self.report.note("member", "the old password is of an unknown kind, or too costly", row["id"])
        if begins_at and (ends_at is None or ends_at > timezone.now()):
            scope = row["ban_scope"] if row["ban_scope"] in BAN_SCOPES else BanScope.BOTH.value
            facts |= {"banned_from": scope, "ban_changed_at": begins_at.timestamp(), "ban_ends_at": ends_at}
        return facts | ({"date_joined": joined} if (joined := _date(row["joined"])) else {})

    def _ban(self, user: User, row: Any) -> Ban:
        reason = self._optional(lines.clean_reason, "member", row, "ban_reason")
        reason = reason or f"Banned at {self.source.place}"
        dates = {"begins_at": _date(row["banned_at"]), "ends_at": user.ban_ends_at}
        return Ban(member=user, scope=user.banned_from, reason=reason, **dates)

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
        if missing and not self.is_dry:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
                missing = wanted
            ids, named = self._arrived(Kind.MEMBER, missing), dict[str, Account]()
            for some in portions(set(ids.values()), _PER_QUERY):
                users = User.objects.filter(pk__in=some, left_at=None).values_list("pk", "username")
                named |= {str(pk): Account(pk, name) for pk, name in users}
            self._known |= {old: named.get(pk, _NOBODY) for old, pk in ids.items()}
        return {old: self._known[old] for old in wanted if old in self._known}

    # Articles

    def _enter_articles(self, rows: Sequence[Any]) -> None:
        """Enter articles that did not come yet, and comments of all of them that did not."""
        imports, articles = self.repository.imports, dict[str, ImportedArticle]()
        arrived = self._arrived(Kind.ARTICLE, [row["id"] for row in rows])
        accounts = self._accounts(row["author"] for row in rows)
        for row in rows:
            old = str(row["id"])
            try:
                poster = accounts.get(str(row["author"]), None if row["author"] is None else _NOBODY)
                articles[old] = self._article(row, poster, is_new=old not in arrived)
            except BadRow as bad:
                self.report.note("article", str(bad), old)
        fresh = {old: article for old, article in articles.items() if old not in arrived}
        self.report.present["articles"] += len(articles) - len(fresh)
        self.report.come["articles"] += len(fresh)
        ids, new, here = {old: int(arrived[old]) for old in articles if old in arrived}, set[str](), set[str]()
        if self.is_dry:
            ids |= dict.fromkeys(fresh, 0)
        elif fresh:
            entered = imports.add([*fresh.values()])
            found = imports.find([*fresh.values()]) if None in entered else entered
            new = {old for old, number in zip(fresh, entered, strict=True) if number is not None}
            ids |= {old: number or known or 0 for old, number, known in zip(fresh, entered, found, strict=True)}
            here = {old for old in fresh if ids[old] <= self._last}
        self._enter_discussions(
            {old: _Discussion(articles[old], ids[old], old in new, old in arrived) for old in ids}
        )
        paths = {str(row["path"]): ids[old] for row in rows if row["path"] and (old := str(row["id"])) in fresh}
        self._note_arrivals(Kind.ARTICLE, {old: ids[old] for old in fresh}, paths, here)

    def _article(self, row: Any, poster: Account | None, *, is_new: bool) -> ImportedArticle:
        """Return the article of a row. Raises BadRow."""
        posted_at, removed = self._time(row), self._removed("article", row)
        title = _cleaned(lines.clean_title, row["title"])
        link = _cleaned(clean_link, row["link"]) if row["link"] else ""
        text = _cleaned(lines.clean_text, row["text"]) if row["text"] else ""
        if not (link or text):
            if removed is None:
                raise BadRow("it has neither a link nor a text")
            text = "[removed]"
        self._marks[link or title, posted_at] += 1
        if (number := self._marks[link or title, posted_at]) > 1:  # the store needs another millisecond
            posted_at = round(posted_at + (number - 1) / 1000, 3)
        for mark in [mark for mark in self._marks if mark[1] < posted_at - 1] if len(self._marks) > BATCH else ():
            del self._marks[mark]
        tags = (str(one["tag"]) for one in self.staging.of("article_tag", "article", row["id"]))
        slugs = dict.fromkeys(self._slugs[tag] for tag in tags if tag in self._slugs)
        if not self._open.isdisjoint(slugs):
            raise BadRow("only members saw its group there, and here everyone does")
        if len(slugs) > (most := limits.MOST_IMPORTED_GROUPS):
            self.report.note("article", f"it is in more than {most} groups: the first are kept", row["id"])
        votes, opposes, closes_at, voters = self._voting("article", row, posted_at, is_new)
        comments = self.staging.count("comment", "article = ?", [row["id"]])
        return ImportedArticle(
            title=title, link=link, text=text, posted_at=posted_at, removed=removed, groups=tuple(slugs)[:most],
            poster=poster.id if poster else UNKNOWN_POSTER, poster_name=poster.name if poster else "",
            votes=votes, opposes=opposes, voters=voters, closes_at=closes_at,
            locked=self._optional(lines.clean_reason, "article", row, "locked") or None,
            comment_numbers=min(comments, COMMENTS_PER_ARTICLE - 1), edited_at=self._edited(row, posted_at),
        )  # fmt: skip

    # Comments

    def _enter_discussions(self, discussions: Mapping[str, _Discussion]) -> None:
        """Enter the comments of articles, some at a time."""
        rows = (row for old in discussions for row in self.staging.comments_of(old))
        for some in portions(rows, BATCH):
            arrived = self._arrived(Kind.COMMENT, [row["id"] for row in some])
            accounts = self._accounts(row["author"] for row in some)
            self.report.present["comments"] += len(arrived)
            waiting, paths, ids = dict[str, ImportedComment](), dict[str, int](), dict[str, int]()
            for row in some:
                old, discussion = str(row["id"]), discussions[str(row["article"])]
                if old in arrived:
                    number, parent = int(arrived[old]) % COMMENTS_PER_ARTICLE, str(row["parent"])
                    place = CommentPlace(number, round(float(row["time"]), 3), discussion.places.get(parent))
                    discussion.number, discussion.places[old] = max(discussion.number, number), place
                    continue
                try:
                    comment = self._comment(row, discussion, accounts.get(str(row["author"]), _NOBODY))
                except BadRow as bad:
                    self.report.note("comment", str(bad), old)
                    discussion.places[old] = discussion.places.get(str(row["parent"]))
                    continue
                ids[old] = root_of(discussion.id) + comment.place.number
                if row["path"]:
                    paths[str(row["path"])] = ids[old]
                if not comment.place.is_stub:
                    waiting[old] = comment
            self._write(waiting, ids, paths)
            self._advance(len(some))

    def _write(self, comments: dict[str, ImportedComment], ids: dict[str, int], paths: dict[str, int]) -> None:
        articles = [ids[old] // COMMENTS_PER_ARTICLE for old in comments]
        entries = [CommentEntry.ENTERED] * len(articles)
        if not self.is_dry:
            entries = self.repository.imports.add_comments([*comments.values()], articles)
        for old, entry in zip(comments, entries, strict=True):
            if entry in _NOT_ENTERED:
                self.report.note("comment", _NOT_ENTERED[entry], old)
                del ids[old]
            else:
                (self.report.come if entry is CommentEntry.ENTERED else self.report.present)["comments"] += 1
        left = {*ids.values()}
        self._note_arrivals(Kind.COMMENT, ids, {path: new for path, new in paths.items() if new in left})

    def _comment(self, row: Any, discussion: _Discussion, author: Account) -> ImportedComment:
        """Return the next comment of a discussion. Raises BadRow."""
        posted_at, removed, is_stub = self._time(row), self._removed("comment", row), bool(row["is_deleted"])
        text = "" if is_stub or (removed and not row["text"]) else _cleaned(lines.clean_comment, row["text"])
        votes, opposes, closes_at, voters = self._voting("comment", row, posted_at, not is_stub, author.id)
        if row["parent"] is not None and str(row["parent"]) not in discussion.places:
            raise BadRow("the comment that it replies to is not in the discussion before it")
        number = discussion.find(self.repository, posted_at, text) or discussion.number + 1
        if number >= COMMENTS_PER_ARTICLE:
            raise BadRow("the article has too many comments")
        discussion.number = max(discussion.number, number)
        place = CommentPlace(number, posted_at, discussion.places.get(str(row["parent"])), closes_at, is_stub)
        discussion.places[str(row["id"])] = place
        if is_stub:
            return ImportedComment(discussion.article, place, DELETED_MEMBER, "", "")
        facts = (author.id, author.name, text, votes, opposes, self._edited(row, posted_at), removed, voters)
        return ImportedComment(discussion.article, place, *facts)

    # What rows have in common

    def _time(self, row: Any) -> float:
        """Return when something was posted. Raises BadRow."""
        if row["time"] is None or not limits.EARLIEST <= float(row["time"]) <= self._now + limits.AHEAD:
            raise BadRow("its time is missing, before 1990 or in the future")
        return round(float(row["time"]), 3)

    def _edited(self, row: Any, posted_at: float) -> float | None:
        edited = row["edited"]
        return None if edited is None or float(edited) > self._now else max(posted_at, round(float(edited), 3))

    def _removed(self, noun: str, row: Any) -> str | None:
        reason = self._optional(lines.clean_reason, noun, row, "removed") or "Removed there"
        return None if row["removed"] is None else reason

    def _voting(
        self, noun: str, row: Any, posted_at: float, names_voters: bool, but: UserId = 0
    ) -> tuple[int, int, float | None, tuple[ImportedVote, ...]]:
        """Return votes, opposes, when voting ends, and the votes of members other than `but`.

        They have names if they can be changed here, or if the source counts none.
        """
        closes_at = None if row["closes"] is None else max(posted_at, round(float(row["closes"]), 3))
        end = posted_at + self.repository.rules.voting_window if closes_at is None else closes_at
        is_open, ballots = self._now <= end, list[ImportedVote]()
        if names_voters and (row["votes"] is None or is_open):
            ballots = self._ballots(noun, row, posted_at, but)
        voters = sum(one.choice is Choice.VOTE for one in ballots)
        votes, opposes, opposers = voters, len(ballots) - voters, len(ballots) - voters
        if row["votes"] is not None:
            votes, least = int(row["votes"]), 1 if noun == "article" else 0  # of something without points
            opposes = max(0, least - votes, opposers) if row["opposes"] is None else int(row["opposes"])
            votes += opposes if row["opposes"] is None else 0
            votes, opposes = max(0, votes, voters), max(0, opposes, opposers)
        if is_open and votes + opposes > limits.MOST_OPEN_VOTES:
            self.report.note(noun, "it has too many votes to be open: voting is over", row["id"])
            closes_at, ballots = max(posted_at, self._now - 1), []
        return votes, opposes, closes_at, tuple(ballots)

    def _ballots(self, column: str, row: Any, posted_at: float, but: UserId) -> list[ImportedVote]:
        rows, cast = self.staging.of("vote", column, row["id"]), dict[UserId, ImportedVote]()
        accounts = self._accounts(one["member"] for one in rows)
        for one in rows:
            account = accounts.get(str(one["member"]), _NOBODY)
            if account.id not in (but, DELETED_MEMBER):
                choice = Choice.VOTE if one["value"] > 0 else Choice.OPPOSE
                at = max(posted_at, min(float(one["time"] or posted_at), self._now))
                cast[account.id] = ImportedVote(account.id, choice, at)
        return [*cast.values()]

    def _optional(self, clean: Callable[[str], str], noun: str, row: Any, column: str) -> str:
        """Return a text that something can do without; "" if it breaks a rule here, which the report says."""
        try:
            return clean(str(row[column])) if row[column] else ""
        except lines.InvalidInput as error:
            self.report.note(noun, f"the {column.replace('_', ' ')} is left out: {error}", row["id"])
            return ""

    # What members keep

    def _owner(self, member: object) -> User | None:
        """Return an account that this import made and no one claimed: those of others are left as they are."""
        account = self._accounts([member]).get(str(member))
        mine = User.objects.filter(moved__source=self.source, moved__claimed_at=None)
        return mine.filter(pk=account.id).first() if account else None

    def _save(self, user: User, rows: Sequence[Any]) -> None:
        came = self._arrived(Kind.ARTICLE, [row["article"] for row in rows])
        times = {old: float(row["time"] or self._now) for row in rows if (old := str(row["article"])) in came}
        self.repository.imports.save(user.pk, {int(came[old]): at for old, at in times.items()})

    def _hide(self, user: User, rows: Sequence[Any]) -> None:
        hiding = Hiding.of(user.hidden)
        for number in self._arrived(Kind.ARTICLE, [row["article"] for row in rows]).values():
            hiding = hiding.changed(Hidden.ARTICLE, int(number), hidden=True)
        User.objects.filter(pk=user.pk).update(hidden=hiding.text)

    def _follow(self, user: User, rows: Sequence[Any]) -> None:
        slugs: dict[bool, dict[str, None]] = {False: {}, True: {}}  # by whether the member hides them
        for row in rows:
            if (tag := str(row["tag"])) in self._slugs:
                slugs[bool(row["is_hidden"])][self._slugs[tag]] = None
        hidden = ",".join(Hiding.of(",".join(slugs[True])).groups)
        followed = ",".join([*slugs[False]][:MOST_FOLLOWED])
        User.objects.filter(pk=user.pk).update(followed_groups=followed, hidden_groups=hidden)

    def _enter_aliases(self) -> None:
        for rows in portions(self.staging.rows("alias", order="ORDER BY kind"), _PER_QUERY):
            for kind, some in groupby(rows, lambda row: row["kind"]):
                ids = {str(row["old_id"]): str(row["id"]) for row in some}
                came = self._arrived(Kind(kind), ids.values())
                came = {old: came[one] for old, one in ids.items() if one in came}
                self._note_arrivals(Kind(kind), came, here=came)


def _cleaned(clean: Callable[[str], str], value: object) -> str:
    """Return a text by the rules of this site. Raises BadRow."""
    try:
        return clean(str(value or ""))
    except lines.InvalidInput as error:
        raise BadRow(str(error)) from None


def _date(seconds: object) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(float(str(seconds)), UTC)

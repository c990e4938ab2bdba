"""Remove what a source brought, as long as no member or moderator has reacted to it.

An article goes in one step, which looks again: each vote and comment of members here either keeps it or is
refused. Saves, and votes on comments after the first thousand, have been looked at shortly before. Rows of
`Arrival` go last: an undo that ends anywhere is continued by the next.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from accounts.account_deletion import delete_wholly
from accounts.models import User
from accounts.models.ballots import BallotRecord
from accounts.names import deleted_username
from articles.configuration import choices
from articles.domain.articles import ArticleId
from articles.domain.comments import COMMENTS_PER_ARTICLE
from articles.domain.members import UserId
from articles.models import ArchivedViews
from articles.repository import Repository, portions
from articles.web.addresses import path_of
from extras.moving_in.importing import Interrupted
from extras.moving_in.models import Arrival, Kind, Source
from extras.moving_in.store import MovedLog, Undoings

_ARTICLES, _MEMBERS = 100, 200  # that are handled together
_ACTS = {
    "log": "it is in the moderation log", "merge": "it was merged", "flag": "it was flagged",
    "edit": "it was edited here", "deletion": "a comment was deleted here", "extra": "a change was suggested",
    "vote": "members voted here", "answer": "members commented here",
}  # fmt: skip
_CHOSEN = "members voted for it, or saved it"


@dataclass
class Undoing:
    """One undo of an import. `reach` receives how many articles and accounts are done; `is_stopped` ends it.

    `is_dry`: nothing is changed.
    """

    repository: Repository
    source: Source
    reach: Callable[[int], object] = lambda _: None
    is_stopped: Callable[[], bool] = lambda: False
    is_dry: bool = False
    stays: dict[ArticleId, str] = field(default_factory=dict)
    """Why an article that came stays."""

    counts: dict[str, int] = field(default_factory=lambda: {"articles": 0, "accounts": 0, "groups": 0})
    """What goes."""

    def __post_init__(self) -> None:
        self._store, self._done = Undoings(self.repository.store), 0
        self._since = self.source.begun_at.timestamp()
        moved = self.source.accounts.filter(claimed_at=None, user__left_at=None, user__last_login=None)
        self._ours = set(moved.values_list("pk", flat=True))
        self._others = User.objects.filter(left_at=None).exclude(pk__in=moved.values("pk"))
        self._sources = Source.objects.filter(Q(pk=self.source.pk) | Q(name__startswith=f"{self.source.name}/"))
        shared = Arrival.objects.filter(kind=Kind.MEMBER).exclude(source__in=self._sources.values("pk"))
        self._shared = self._ours.intersection(map(int, shared.values_list("new_id", flat=True).iterator()))
        self._gone, self._chosen = set[ArticleId](), set[ArticleId]()

    def run(self) -> None:
        """Take everything out. Raises ImportRunning, Interrupted, and errors of the store and the database."""
        if not self.is_dry:
            self.source.undo_begun_at = timezone.now()
            self.source.save(update_fields=["undo_begun_at"])
        with nullcontext() if self.is_dry else self.repository.imports.lock():
            others = self._others.values_list("pk", flat=True)
            for _, _, ids in self._store.iterate_lists(others.iterator(), since=self._since):
                self._chosen.update(ids)
            for some in portions(self._articles(), _ARTICLES):
                self._take_out(dict(some))
                self._advance(len(some))
            if not self.is_dry:  # members chose and saved elsewhere, before it came
                self._store.clean_lists(others.iterator(), self._gone)
            for members in portions(sorted(self._ours), _MEMBERS):
                self._take_accounts(members)
                self._advance(len(members))
            self._take_groups()
            if not self.is_dry:
                self._forget()

    def _advance(self, number: int) -> None:
        self._done += number
        self.reach(self._done)
        if not self.is_dry:
            self.repository.imports.renew()
        if self.is_stopped():
            raise Interrupted

    # Articles

    def _articles(self) -> Iterator[tuple[ArticleId, float]]:
        """Yield the articles that came, and since when what happens to each is an answer."""
        made = self.source.arrivals.filter(kind=Kind.ARTICLE, is_made=True).order_by("pk")
        for new_id in made.values_list("new_id", flat=True).iterator():
            yield int(new_id), self._since
        if self.source.entering:  # an import may have ended before it noted some: members post later ones only
            above, at = self.source.entering
            for article in self.repository.imports.iterate(above + 1):
                if article.posted_at < at and article.id not in self._gone and article.id not in self.stays:
                    yield article.id, at

    def _take_out(self, times: Mapping[ArticleId, float]) -> None:
        looked, going = self._store.look(times), dict[ArticleId, str]()
        noted = {
            int(act.split("=")[1]) for _, *acts in looked.values() for act in acts if self._may_be_answer(act)
        }
        came = self.source.arrivals.filter(kind=Kind.COMMENT, new_id__in=noted) if noted else None
        brought = set(map(int, came.values_list("new_id", flat=True))) if came is not None else set()
        for one, (seen, *acts) in looked.items():
            words = [act.partition("=")[0] for act in acts if self._is_of_others(act, brought)]
            if one in self._chosen or words:
                self.stays[one] = _ACTS[words[0]] if words else _CHOSEN
            else:
                going[one] = seen
        gone = times.keys() - self.stays.keys()
        if not self.is_dry:
            for model in (ArchivedViews, BallotRecord):
                model.objects.filter(article_id__in=gone).delete()
            if changed := self._store.take_out(times, going):
                self._take_out({one: times[one] for one in changed})
                gone -= self.stays.keys()
        self.counts["articles"] += len(gone - self._gone)
        self._gone |= gone

    def _may_be_answer(self, act: str) -> bool:
        word, _, facts = act.partition("=")
        return word == "answer" and int(facts.split("=")[1]) not in self._ours

    def _is_of_others(self, act: str, brought: Collection[int]) -> bool:
        word, _, facts = act.partition("=")
        if word == "vote":
            return int(facts) not in self._ours
        return word != "answer" or (self._may_be_answer(act) and int(facts.split("=")[0]) not in brought)

    # Members

    def _take_accounts(self, members: Collection[UserId]) -> None:
        """Delete these accounts, but those of other sources, with something that stays, or left out of ranking."""
        active, written = self._store.list_left_out(), self._store.iterate_lists(members, written=True)
        active |= self._shared
        active |= {user for user, _, ids in written if not self._gone.issuperset(ids)}
        going = [user for user in members if user not in active]
        self.counts["accounts"] += len(going)
        if self.is_dry:
            return
        self._store.clean_lists(active.intersection(members), self._gone)
        self._store.drop_lists(going)
        with transaction.atomic():
            delete_wholly(going)
            highest = User.objects.aggregate(highest=Max("pk"))["highest"] or 0
            if (last := max(going, default=0)) > highest:  # accounts without it would look older than the store
                name = deleted_username(last)
                row = User(pk=last, username=name, canonical_name=name, left_at=timezone.now(), is_active=False)
                row.set_unusable_password()
                User.objects.bulk_create([row])

    # Groups, and what came

    def _take_groups(self) -> None:
        """Delete the groups that the import made, unless an article, a removed one too, names them."""
        made = self.source.arrivals.filter(kind=Kind.GROUP, is_made=True).values_list("new_id", flat=True)
        self._empty = self._store.list_empty({*made}, self._gone)
        self.counts["groups"] += len(self._empty)
        if self._empty and not self.is_dry:
            self._store.drop_groups(self._empty)
            with transaction.atomic():
                for slug in self._empty & choices.closed_groups():
                    choices.close_group(slug, is_closed=False)

    def _forget(self) -> None:
        """Delete the rows of what went, and the source if nothing stays, with the sites that had moved to it."""
        left = set(self.source.accounts.values_list("pk", flat=True))
        log, came = MovedLog(self.repository.store), self.source.log_entries
        if len(came) == log.count and not self.stays:
            self._sources.update(log_entries=[])  # first: what is dropped twice would be others
            log.drop(came)
        if not left and not self.stays:
            self._sources.delete()
            return
        rows = Arrival.objects.filter(source__in=list(self._sources))
        for some in portions(rows.order_by("pk").values_list("pk", "kind", "new_id").iterator(), 500):
            going = [pk for pk, kind, new_id in some if not self._is_left(kind, new_id, left)]
            rows.filter(pk__in=going).delete()
        self._sources.update(undo_begun_at=None, entering=None)

    def _is_left(self, kind: str, new_id: str, accounts: Collection[UserId]) -> bool:
        if kind == Kind.PATH:
            kind, _, new_id = new_id.partition(" ")
        if kind == Kind.GROUP:
            return bool(self.stays) and new_id not in self._empty
        if kind == Kind.MEMBER:
            return int(new_id) in accounts
        return int(new_id) // (COMMENTS_PER_ARTICLE if kind == Kind.COMMENT else 1) in self.stays

    def lines(self) -> Iterator[str]:
        """Yield what goes, and what stays with its address."""
        yield "What would go:" if self.is_dry else "What went:"
        for noun, number in self.counts.items():
            yield f"{number:>11,}  {noun}"
        if self.stays:
            yield "What stays, because of what others did:"
        for one, reason in sorted(self.stays.items()):
            yield f"{settings.SITE_URL or ''}{path_of('articles:article', one)}  {reason}"

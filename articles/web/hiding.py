"""Hiding groups, members, hosts, words and articles from a reader's lists, and showing them again."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest

from accounts.models import Block, User
from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleNotFound, GroupNotFound, HiddenFull
from articles.domain.members import UserId
from articles.text.lines import InvalidInput
from articles.text.searching import MOST, NOTHING, Hiding, Kind, clean_hidden_host, clean_word
from articles.text.slugs import clean_slug
from articles.web.identity import names_of
from articles.web.preferences import hiding_of, preferences_of
from articles.web.wiring import group_title, repository


class Applied(NamedTuple):
    """What a reader hides from one list, and whether this page shows it all the same: `?hidden=show`.

    `just_hidden`: an article in whose place the page says that it is hidden, with a button that takes it back:
    `?hidden=7`; 0 for none.
    """

    own: Hiding
    hidden: Hiding  # what the page leaves out
    marked: Hiding  # what the page shows, but marks
    is_shown: bool = False
    just_hidden: ArticleId = 0

    @property
    def query(self) -> dict[str, str]:
        """Parameters of the page's address."""
        return {"hidden": "show"} if self.is_shown else {}


NONE_APPLIED = Applied(NOTHING, NOTHING, NOTHING)


def applied(
    request: HttpRequest, groups: Collection[str] = (), kinds: Collection[Kind] = (), *, read: bool = False
) -> Applied:
    """Return what applies to the requested page of a list, which shows these groups and kinds in any case.

    `read`: whether the list is one of those that leave out what a member has read, if the member wants that.
    """
    preferences = preferences_of(request)
    own = preferences.hiding.showing(groups).without(*kinds)
    if read and preferences.hides_read:
        own = replace(own, read_by=request.user.pk)
    asked = request.GET.get("hidden") if own else None
    if asked == "show":
        return Applied(own, NOTHING, own, is_shown=True)
    just_hidden = next((one for one in own.articles if str(one) == asked), 0)
    hidden = own.changed(Kind.ARTICLE, just_hidden, hidden=False) if just_hidden else own
    return Applied(own, hidden, NOTHING, just_hidden=just_hidden)


def with_hidden(hiding: Hiding, kind: Kind, typed: str, reader: UserId | None) -> Hiding:
    """Return what the reader hides with one more, typed in any spelling. At most one round trip, or one query.

    Raises InvalidInput, HiddenFull, GroupNotFound, ArticleNotFound and ArticleMerged.
    """
    if kind is Kind.GROUP:
        return _with_group(hiding, _slug(typed))
    value = _value(kind, typed)
    if kind is Kind.MEMBER and value == reader:
        raise InvalidInput("member-self")
    if kind is Kind.ARTICLE:
        repository().articles.get(int(value)).check_unmerged()
    after = hiding.changed(kind, value, hidden=True)
    if len(after.values(kind)) > MOST[kind]:
        raise HiddenFull
    return after


def with_shown(hiding: Hiding, kind: Kind, typed: str) -> Hiding:
    """Return what the reader hides without this, typed in any spelling, even if it is gone. At most one query."""
    try:
        value = _slug(typed) if kind is Kind.GROUP else _value(kind, typed)
    except (InvalidInput, ArticleNotFound):
        value = typed
    return hiding.changed(kind, value, hidden=False)


def _value(kind: Kind, typed: str) -> str | int:
    """Return what is hidden, by what was typed. Raises InvalidInput and ArticleNotFound."""
    match kind:
        case Kind.HOST:
            return clean_hidden_host(typed)
        case Kind.WORD:
            return clean_word(typed)
        case Kind.ARTICLE if typed.isascii() and typed.isdecimal() and len(typed) <= 15:
            return int(typed)
        case Kind.ARTICLE:
            raise ArticleNotFound(typed)
        case _:
            return _member(typed)


def _member(typed: str) -> UserId:
    members = get_user_model()
    try:
        found: UserId = members.objects.get_by_natural_key(typed.strip().removeprefix("@")).pk
    except members.DoesNotExist:
        raise InvalidInput("member-unknown") from None
    return found


def _slug(typed: str) -> str:
    """Return the slug of a group typed in any spelling; the text as typed if it cannot be a slug."""
    try:
        return clean_slug(typed)
    except InvalidInput:
        return typed


def _with_group(hiding: Hiding, slug: str) -> Hiding:
    """Return this with one more group, merged groups replaced by their targets."""
    current = repository().groups.get_targets([*hiding.groups, slug])
    if slug not in current:
        raise GroupNotFound(slug, None)
    slugs = dict.fromkeys(current.get(other, other) for other in (*hiding.groups, slug))
    if len(slugs) > MOST[Kind.GROUP]:
        raise HiddenFull
    return Hiding(tuple(slugs), hiding.members, hiding.hosts, hiding.words, hiding.articles)


@transaction.atomic
def change(member: UserId, kind: Kind, typed: str, *, hidden: bool) -> Hiding:
    """Hide one more, or show it again; return what is then hidden. Idempotent. Raises as `with_hidden`."""
    account = get_user_model().objects.select_for_update().get(pk=member)
    before = hiding_of(account)
    after = with_hidden(before, kind, typed, member) if hidden else with_shown(before, kind, typed)
    save(account, before, after)
    return after


def save(account: User, before: Hiding, after: Hiding) -> None:
    """Save what a member hides. Call it in a transaction that holds the account's row."""
    account.hidden_groups = ",".join(after.groups)
    account.hidden = after.without(Kind.GROUP, Kind.MEMBER).text
    account.save(update_fields=["hidden_groups", "hidden"])
    for user in set(after.members) - set(before.members):
        Block.objects.get_or_create(user=account, blocked_id=user)
    for block in Block.objects.filter(user=account, blocked__in=set(before.members) - set(after.members)):
        block.delete()


def label(kind: Kind, value: Any) -> str:
    """Return how the reader knows what is hidden; "" for a member who is gone. For a member one query."""
    if kind is Kind.GROUP:
        return group_title(value)
    return names_of([value]).get(value, "") if kind is Kind.MEMBER else str(value)

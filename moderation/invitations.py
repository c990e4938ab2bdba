"""The page of the invitation tree, for those to whom INVITATION_TREE shows it: who invited whom.

It shows part of the tree: the members at the top, or those whom one member invited, page by page, with those below
them. What is too deep or too much is a link to the page of its branch.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Invitation, User, Vouch
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.names import deleted_id
from articles.configuration.choices import chosen
from articles.web.identity import member_named, needs
from articles.web.paging import numbered_pager, page_number
from moderation.subjects import address_of

_PER_PAGE = 50  # members of the highest level of a page
_MOST_BELOW = 300  # members below them
_MOST_LEVELS = 8


class Place(NamedTuple):
    """A member, or a deleted account, in the tree."""

    member: User
    level: int
    opens: bool  # whether those whom the member invited follow
    closes: int  # how many lists end here
    more: int  # how many the member invited of whom the page shows none
    vouches: Sequence[Vouch]  # the vouches for the member

    @property
    def address(self) -> str:
        return address_of(self.member)


def place_named(name: str) -> User:
    """Return the member, or the deleted account, that has a place in the tree. Raises Http404."""
    number = deleted_id(name)
    if number is None:
        found: User = member_named(name)
        return found
    used = Invitation.objects.used().order_by()
    deleted = User.objects.exclude(left_at=None).filter(pk=number, pk__in=used.values("inviter")).first()
    if deleted is None:
        raise Http404(name)
    return deleted


@require_safe
@never_cache
def index(request: HttpRequest, name: str = "") -> HttpResponse:
    """Show the tree, or the branch below a member, to the readers that INVITATION_TREE names."""
    if chosen.INVITATION_TREE == "off":
        raise Http404("the invitation tree is not shown")
    return (_page if chosen.INVITATION_TREE == "public" else _page_for_moderators)(request, name)


def _page(request: HttpRequest, name: str) -> HttpResponse:
    """Eight queries, however large the tree is."""
    member, number = place_named(name) if name else None, page_number(request)
    tops: Any = Invitation.objects.list_roots().values_list("pk", flat=True)
    if member is not None:
        tops = Invitation.objects.used().filter(inviter=member).values_list("invited", flat=True)
    found = list(tops[(number - 1) * _PER_PAGE : number * _PER_PAGE + 1])
    if number > 1 and not found:
        raise Http404(f"no page {number}")
    own = Invitation.objects.filter(invited=member).select_related("inviter").first() if member else None
    context = {
        "member": member,
        "address": address_of(member) if member else "",
        "inviter": own.inviter if own else None,
        "inviter_address": address_of(own.inviter) if own else "",
        "places": _places(found[:_PER_PAGE]),
        "pager": numbered_pager(number, has_next=len(found) > _PER_PAGE),
    }
    return render(request, "moderation/invitations.html", context)


_page_for_moderators = needs(BAN_MEMBERS, REMOVE_ARTICLES)(_page)


def _places(tops: Sequence[int]) -> list[Place]:
    """Return these members, each followed by those below, as one list in the order of the page. Four queries."""
    below: dict[int, list[int]] = defaultdict(list)
    for inviter, invited in Invitation.objects.list_below(tops, _MOST_BELOW):
        below[inviter].append(invited)
    shown = list(_walk(tops, below))
    ids = [pk for pk, _level in shown]
    members, counts = User.objects.only("username", "left_at").in_bulk(ids), Invitation.objects.count_by(ids)
    levels, vouches = [level for _pk, level in shown], Vouch.objects.list_for(ids)
    return [
        Place(
            members[pk],
            level,
            opens=following > level,
            closes=max(0, level - following),
            more=counts.get(pk, 0) - (len(below[pk]) if following > level else 0),
            vouches=vouches.get(pk, ()),
        )
        for (pk, level), following in zip(shown, [*levels, 0][1:], strict=True)
    ]


def _walk(tops: Iterable[int], below: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
    """Yield members with their levels, each before those below. Not recursive: a tree can be deep."""
    waiting = [(pk, 0) for pk in reversed([*tops])]
    while waiting:
        pk, level = waiting.pop()
        yield pk, level
        if level + 1 < _MOST_LEVELS:
            waiting += [(one, level + 1) for one in reversed(below[pk])]

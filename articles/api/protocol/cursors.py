"""Cursors: where a client is in a list, so that the next response continues there, whatever changed meanwhile.

A list by time continues after the last entry that the client has. In a list whose order changes, a cursor holds
the ids of all that the client has, and the best others follow. The server keeps no state: a cursor is signed, for
one list, and good for a day; one of the changes of the site for as long as these are known.
"""

from collections.abc import Iterable, Set
from itertools import accumulate, pairwise
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from articles.api.protocol.problems import Problem
from articles.domain.lists import Position
from articles.web.wiring import repository

M = TypeVar("M", bound=Model)

LIFE_HOURS = 24
"""Minimum lifetime; up to an hour longer: cursors store only full hours, so that responses stay the same."""

MOST_IN_ADDRESS = 4000
"""Maximum length of an address with a cursor: the web server accepts 4,094 bytes with the method."""

MOST_SEEN = 2000
"""Ids that a cursor holds: the store passes over all of them for each response, in about ten milliseconds."""

_AFTER, _SINCE, _NUMBERED = "after", "since", ("page", "start", "before")


def state_in(request: HttpRequest) -> Any:
    """Return the state in the request's cursor; None without one. Raises Problem."""
    cursor = request.GET.get(_AFTER)
    if cursor is None:
        return None
    if not request.GET.keys().isdisjoint(_NUMBERED):
        raise Problem(400, "invalid", _("“after” cannot be combined with “page”, “start” or “before”."))
    hour, state = _unsigned(request, cursor) or (0, None)
    if not 0 <= _hour() - hour <= LIFE_HOURS:
        raise Problem(400, "invalid", _("“after” must be next_after of the same list, from the last 24 hours."))
    return state


def next_after(request: HttpRequest, state: Any) -> str | None:
    """Return the cursor for what follows, which the Link header has, too; None if it would be too long."""
    cursor = _signer(request).sign_object([_hour(), state], compress=True)
    if len(_list_of(request)) + len(cursor) > MOST_IN_ADDRESS:
        return None
    _link_next(request, _AFTER, cursor)
    return cursor


def since_in(request: HttpRequest) -> Any:
    """Return the state in the request's parameter `since`, of whatever age; None without one. Raises Problem."""
    cursor = request.GET.get(_SINCE)
    state = None if cursor is None else _unsigned(request, cursor)
    if cursor is not None and state is None:
        raise Problem(400, "invalid", _("“since” must be next_since of an earlier response."))
    return state


def next_since(request: HttpRequest, state: Any) -> str:
    """Return the value of `since` for what changes later. The response gets a Link to that."""
    cursor = _signer(request).sign_object(state, compress=True)
    _link_next(request, _SINCE, cursor)
    return cursor


def _link_next(request: HttpRequest, name: str, cursor: str) -> None:
    """Let the response have a Link (RFC 8288) to the request's address with this cursor as parameter `name`."""
    query = urlencode([*_query_of(request), (name, cursor)])
    vars(request)["links"] = f'<?{query}>; rel="next"'


def link_in(request: HttpRequest) -> str | None:
    """Return the Link header of the response; None without one."""
    return vars(request).get("links")


def position_in(request: HttpRequest) -> Position | None:
    """Return the position after which a list by time continues; None without a cursor. Raises Problem."""
    state = state_in(request)
    return None if state is None else (state[0], state[1])


def seen_in(request: HttpRequest) -> Set[int]:
    """Return the ids that the client has of a list whose order changes; none without a cursor. Raises Problem."""
    return frozenset(accumulate(state_in(request) or ()))


def next_unseen(request: HttpRequest, seen: Set[int], ids: Iterable[int]) -> str | None:
    """Return the cursor for the best others than those seen and these.

    None if it would hold too many, or if a later page was requested by its number: what is before is not known.
    """
    had = sorted(seen | set(ids))
    if len(had) > MOST_SEEN or request.GET.get("page", "1") != "1":
        return None
    return next_after(request, [after - before for before, after in pairwise([0, *had])])


def rows_in(
    request: HttpRequest, rows: QuerySet[M], most: int, *, newest_first: bool = False
) -> tuple[list[M], str | None]:
    """Return the next rows of a table, by number, and the cursor for the others. One query. Raises Problem."""
    if state := state_in(request):
        rows = rows.filter(**{"pk__lt" if newest_first else "pk__gt": state[0]})
    found = list(rows.order_by("-pk" if newest_first else "pk")[: most + 1])
    return found[:most], next_after(request, [found[most - 1].pk]) if len(found) > most else None


def _unsigned(request: HttpRequest, cursor: str) -> Any:
    """Return what a cursor of the request's list holds; None for any other text."""
    try:
        return _signer(request).unsign_object(cursor)
    except (BadSignature, UnicodeError):
        return None


def _signer(request: HttpRequest) -> Signer:
    return Signer(salt=f"{__name__} {_list_of(request)}")


def _list_of(request: HttpRequest) -> str:
    """Return the list that the request reads: its path and query, without the place in it."""
    return f"{request.path}?{urlencode(sorted(_query_of(request)))}"


def _query_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the parameters of the request, but for the place in its list."""
    places = (_AFTER, _SINCE, *_NUMBERED)
    return [(name, str(value)) for name, value in request.GET.items() if name not in places]


def _hour() -> int:
    return int(repository().store.now()) // 3600

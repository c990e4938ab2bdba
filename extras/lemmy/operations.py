"""What the operations of Lemmy's API share: their table, parameters, who may call them, limits, and failures.

Only a token identifies a member here, never a session: `Authorization: Bearer`, or `auth` in the query or the body
of older apps. It may be in the JWT that the login returned. Parameters that the site has no use for are ignored.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any, NamedTuple, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from accounts.models import READ
from accounts.passwords import HashesBusy
from articles.api.protocol.envelope import in_envelope
from articles.api.protocol.operations import BearerToken
from articles.api.protocol.problems import Problem, answer_to, not_found
from articles.api.protocol.site_api import StrictJson
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.domain.errors import Banned, HeldForApproval, PageNotFound
from articles.domain.lists import without_groups
from articles.text.refusals import action_sentence
from articles.web import limits, reading
from extras.lemmy.words import UNKNOWN, token_in

Json = dict[str, Any]
T = TypeVar("T")
U = TypeVar("U")

Number = Annotated[int, Field(ge=1, lt=10**15)]  # an id of Lemmy's API

Page = Annotated[int, Field(ge=1, le=10**6)]
Limit = Annotated[int, Field(ge=1)]

MOST_LISTED = 50  # entries of a list, whatever limit an app names
_NO_TOKENS = ("", "null", "undefined")  # what some apps send while no one is logged in


class Operation(NamedTuple):
    """One method of one path."""

    run: Callable[..., Json]
    parameters: type[BaseModel]
    token: BearerToken
    limits: tuple[str, ...]  # those that a reader without an account takes
    needs_member: bool
    is_open: bool  # whether it answers those without an account on a site for members, too
    word: str  # the word of refusals for which Lemmy has none


OPERATIONS: dict[str, dict[str, Operation]] = {}  # every operation, by path and method


def operation(
    method: str,
    path: str,
    *,
    scope: str | None = None,
    limited: tuple[str, ...] = ("api", "changes"),
    is_open: bool = False,
    word: str = UNKNOWN,
) -> Callable[[Callable[..., Json]], Callable[..., Json]]:
    """Register an operation: a function of a request, and of parameters with their types.

    `scope`: what a token must allow; without one, no token is needed. `limited`: the limits that it takes; reading
    takes no `changes`.
    """

    def register(run: Callable[..., Json]) -> Callable[..., Json]:
        token, others = BearerToken(scope or READ, limited), tuple(one for one in limited if one != "changes")
        parameters = _parameters_of(run)
        OPERATIONS.setdefault(path, {})[method] = Operation(
            run, parameters, token, others, scope is not None, is_open, word
        )
        return run

    return register


def _parameters_of(run: Callable[..., Json]) -> type[BaseModel]:
    _request, *parameters = inspect.signature(run, eval_str=True).parameters.values()
    fields: Any = {
        one.name: (one.annotation, ... if one.default is inspect.Parameter.empty else one.default)
        for one in parameters
    }
    return create_model(run.__name__, __config__=ConfigDict(extra="ignore"), **fields)


@in_envelope
def answer(request: HttpRequest, path: str) -> HttpResponse:
    """Answer a request for an operation, in the site's own words: `envelope.in_words` says failures in Lemmy's."""
    try:
        methods = OPERATIONS.get(path) if chosen.LEMMY_API else None
        if methods is None:
            raise not_found()
        if (found := methods.get(str(request.method))) is None:
            return HttpResponseNotAllowed([*methods])
        vars(request)["word"] = found.word
        sent = _sent(request)
        with _asking(request, found, sent):
            said = found.run(request, **dict(found.parameters.model_validate(sent)))
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        vars(request).pop("links", None)  # which have the parameters of the site's own API
        return HttpResponse(text, content_type="application/json")
    except HashesBusy as busy:
        return limits.refusal(request, busy)
    except Exception as error:
        return answer_to(request, _problem_of(error))


def _sent(request: HttpRequest) -> Mapping[str, Any]:
    """Return what a request sends: its query, or the object in its body. Raises Problem."""
    if request.method == "GET":
        return {name: value for name, value in request.GET.items() if value != ""}
    try:
        body = StrictJson().parse_body(request) if request.body else {}
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Problem(400, "invalid-json", _("The body must be a JSON object."))
    return {name: value for name, value in body.items() if value is not None}


@contextmanager
def _asking(request: HttpRequest, found: Operation, sent: Mapping[str, Any]) -> Iterator[None]:
    """Let the member of the token ask, or a reader without an account. Raises Problem, LimitReached."""
    header = request.headers.get("Authorization") or f"Bearer {sent.get('auth', '')}"
    scheme, _space, token = header.partition(" ")
    if scheme.lower() == "bearer" and token.strip() not in _NO_TOKENS:
        request.META["HTTP_AUTHORIZATION"] = f"Bearer {token_in(token.strip())}"
        vars(request).pop("headers", None)  # which were read before
        try:
            found.token(request)
        except Problem as refused:  # apps ask an open operation whether their token is still valid
            if refused.code != "bad-token" or found.needs_member or not found.is_open:
                raise
        else:
            yield
            return
    request.user = AnonymousUser()  # whatever session the browser has
    limits.take(request, *found.limits)
    if reading.is_closed_to(request) and not found.is_open:
        raise Problem(401, "instance_is_private", _("This site is for members. Log in to read it."))
    if found.needs_member:
        raise Problem(401, "login-required", _("Send a token, or log in."))
    closed = choices.closed_groups()
    with without_groups(closed) if closed else nullcontext():
        yield


def _problem_of(error: Exception) -> Exception:
    """Return what the site's own API says of an error, or of what it answers in another way than Lemmy's does."""
    match error:
        case ValidationError():
            (first, *_others) = error.errors(include_url=False, include_input=False)
            place = ".".join(map(str, first["loc"]))
            return Problem(400, "invalid", _("“%(field)s” is not valid.") % {"field": place})
        case Banned(scope="group"):
            return Problem(403, "person_is_banned_from_community", action_sentence(error))
        case HeldForApproval():
            return Problem(409, "held", action_sentence(error))
    return error


def beyond(read: Callable[[], T], nothing: U) -> T | U:
    """Return what is read; nothing for a page beyond the end of a list, which apps ask for to find the end."""
    try:
        return read()
    except PageNotFound:
        return nothing

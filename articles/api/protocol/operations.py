"""What the API's operations share: who may call them, the router, parameter types and documented failures."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, get_args, get_origin

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.translation import gettext as _
from ninja import P, PathEx, Router, Status
from ninja.constants import NOT_SET
from ninja.operation import Operation
from ninja.security.base import AuthBase
from pydantic import BaseModel, ConfigDict, Strict

from accounts.models import MODERATE, POST, READ, VOTE, Token, User
from accounts.web.sent_forms import is_elsewhere
from articles.api import schemas
from articles.api.protocol.problems import Problem
from articles.domain.errors import PageNotFound
from articles.domain.lists import admit_reader
from articles.web import reading, rights
from articles.web.limits import take

_SAFE = ("GET", "HEAD", "OPTIONS")


_NONE = ""  # no scope: the operation checks it itself
_OF_CHANGES = ("api", "changes")  # limits of operations by default; reading takes no `changes`


class _Limited(AuthBase):
    """An authentication that takes a use of rate limits once it knows whom to count, before the body is read."""

    def __init__(self, limits: tuple[str, ...]) -> None:
        super().__init__()
        self._limits = limits

    def take(self, request: HttpRequest) -> None:
        """Take a use of the limits. Raises LimitReached."""
        take(request, *(name for name in self._limits if name != "changes" or request.method not in _SAFE))


class BearerToken(_Limited):
    """A personal token. It takes precedence: an invalid token is refused even with a valid session."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str = READ, limits: tuple[str, ...] = _OF_CHANGES) -> None:
        super().__init__(limits)
        self._scope = scope

    def __call__(self, request: HttpRequest) -> User | None:
        scheme, _space, plaintext = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = Token.objects.find(plaintext.strip())
        if token is None:
            take(request, "api")
            message = _("This token is not valid: it was mistyped or revoked, or it has expired.")
            raise Problem(401, "bad-token", message, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
        vars(request)["token"], request.user = token, token.user
        admit_reader()
        self.take(request)
        if self._scope != _NONE:
            check_scope(request, self._scope)
        return token.user


def may(request: HttpRequest, scope: str) -> bool:
    """Return whether the request's token allows this; a session allows everything."""
    token: Token | None = vars(request).get("token")
    return token is None or token.allows(scope)


def check_scope(request: HttpRequest, scope: str) -> None:
    """Raise Problem if the request's token does not allow this."""
    if not may(request, scope):
        message = _("This token lacks the scope “%(scope)s”: create one that has it.") % {"scope": scope}
        challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
        headers = {"WWW-Authenticate": challenge}
        raise Problem(403, "missing-scope", message, details={"scope": scope}, headers=headers)


def require(request: HttpRequest, *permissions: str) -> None:
    """Raise PermissionDenied for a member who has none of these permissions."""
    if not any(rights.may(request.user, one) for one in permissions):
        raise PermissionDenied


class SessionCookie(_Limited):
    """The session of the site's pages. Unsafe methods also need the page's CSRF token."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> User | None:
        if not isinstance(request.user, User):
            return None
        if request.method not in _SAFE and _CsrfCheck.fails(request):
            message = _("The CSRF token is missing or stale: send the page’s token in the X-CSRFToken header.")
            raise Problem(403, "csrf", message)
        self.take(request)
        return request.user


class _CsrfCheck(CsrfViewMiddleware):
    """Django's own check, run here because requests with a personal token do not need it."""

    @classmethod
    def fails(cls, request: HttpRequest) -> bool:
        check = cls(lambda _request: HttpResponse())
        check.process_request(request)
        return check.process_view(request, lambda _request: HttpResponse(), (), {}) is not None

    def _reject(self, _request: HttpRequest, _reason: str) -> HttpResponse:
        return HttpResponse(status=403)


def anyone(limit: str = "api") -> Callable[[HttpRequest], User | AnonymousUser | None]:
    """Return an authentication that accepts readers without an account, except on a site for members."""

    def accept(request: HttpRequest) -> User | AnonymousUser | None:
        if reading.is_closed_to(request):
            return None
        if request.method not in _SAFE and is_elsewhere(request):
            return None  # else a page could have its readers' browsers count views
        take(request, limit)
        return request.user

    return accept


def members(scope: str = READ, limits: tuple[str, ...] = _OF_CHANGES) -> tuple[BearerToken, SessionCookie]:
    """Return the ways to authenticate as a member, for an operation with this scope and these limits."""
    return BearerToken(scope, limits), SessionCookie(limits)


MEMBERS = members()
SAVERS = members(VOTE)
EDITORS = members(_NONE)
AUTHORS = members(POST)
MODERATORS = members(MODERATE)
VOTERS = members(VOTE, ("api",))  # members whose votes are limited by their script
EVERYONE = (*MEMBERS, anyone())


HIGHEST_NUMBER = 10**9
"""Highest number of a page or of a row. No list is longer, and the store cannot count much further."""


ArticleNumber = PathEx[int, P(description="The article's number.", ge=1, examples=[42])]
OthersArticleNumber = PathEx[int, P(description="The number of another member's article.", ge=1, examples=[43])]
CommentNumber = PathEx[int, P(description="The comment's number.", ge=1, examples=[42000001])]
OwnCommentNumber = PathEx[int, P(description="The number of your comment.", ge=1, examples=[42000002])]


def possible_page(number: int) -> int:
    """Return the number of a page. Raises PageNotFound for one that no list can have."""
    if number > HIGHEST_NUMBER:
        raise PageNotFound(number)
    return number


def failing(*statuses: int) -> dict[int, Any]:
    """Return the responses with these statuses, for the documentation, beyond those that `SiteRouter` adds."""
    return dict.fromkeys(statuses, schemas.Failure)


class SiteRouter(Router):
    """A router that derives what the documentation says of an operation.

    Its summary is the first sentence of the docstring, its description the rest. The successful response is what
    the function returns, with 201 for a `Status`. Failures follow from the operation's method, authentication and
    parameters; `response` has the others. Without `auth`, it is for everyone.
    """

    def add_api_operation(
        self,
        path: str,
        methods: list[str],
        view_func: Callable[..., Any],
        *,
        auth: Any = NOT_SET,
        response: Any = NOT_SET,
        **options: Any,
    ) -> None:
        auth = EVERYONE if auth is NOT_SET else auth
        for taken in view_func.__annotations__.values():
            if (
                isinstance(taken, type)
                and issubclass(taken, BaseModel)
                and taken is not view_func.__annotations__["return"]
            ):
                _read_strictly(taken)
        returned: Any = view_func.__annotations__["return"]
        answers = {201: get_args(returned)[0]} if get_origin(returned) is Status else {200: returned}
        answers |= {} if response is NOT_SET else response
        answers |= failing(*_failures(path, methods[0], auth, view_func))
        in_order = dict(sorted(answers.items(), key=lambda answer: answer[0] if answer[0] >= 400 else 0))
        summary, _, text = " ".join(str(view_func.__doc__).split()).partition(". ")
        options["summary"], options["description"] = summary.removesuffix("."), options["description"] or text
        if not _is_for_members(auth):
            options["openapi_extra"] = {"security": [{}]} | (options.get("openapi_extra") or {})
        super().add_api_operation(path, methods, view_func, auth=auth, response=in_order, **options)


def _read_strictly(body: type[BaseModel]) -> None:
    """Let a body have the types of its document only: no `true` for 1, no "5" for 5, no 1 for true."""
    body.model_config |= ConfigDict(strict=True, allow_inf_nan=False)
    for field in body.model_fields.values():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                _read_strictly(kind)
            elif isinstance(kind, type) and issubclass(kind, Enum):
                field.metadata.append(Strict(strict=False))  # a text for the value that it names
    body.model_rebuild(force=True)


def _failures(path: str, method: str, auth: tuple[object, ...], view_func: Callable[..., Any]) -> Iterator[int]:
    """Yield the statuses with which every operation of this kind can fail."""
    yield from (400, 401, 503)
    if "{" in path or any(_is_paged(parameter) for parameter in view_func.__annotations__.values()):
        yield 404
    if auth is MODERATORS or (_is_for_members(auth) and method != "GET"):
        yield 403
    if method != "GET":
        yield 415
    if method != "GET" and "{article_id" in path:  # it may be merged into another one
        yield 409
    if method in ("POST", "PUT", "PATCH"):
        yield 413


def _is_for_members(auth: tuple[object, ...]) -> bool:
    return all(isinstance(way, BearerToken | SessionCookie) for way in auth)


def _is_paged(parameter: Any) -> bool:
    """Return whether a parameter names the page of a list, which may not exist."""
    model = next(iter(get_args(parameter)), None)
    return "page" in getattr(model, "model_fields", ())


def _share_response_models() -> None:
    """Let operations with the same response share its model: ninja would make, and describe, one for each status.

    That is nine tenths of them, 0.3 s of each start and of the first document.
    """
    make, made = Operation._create_response_model, dict[Any, Any]()

    def shared(self: Operation, response_param: Any) -> Any:
        if response_param not in made:
            made[response_param] = make(self, response_param)
        return made[response_param]

    Operation._create_response_model = shared  # type: ignore[method-assign]


_share_response_models()
router = SiteRouter()

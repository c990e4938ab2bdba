"""Rate limits of requests: which views are limited, whom each limit counts, and what a refusal answers.

Every form takes a use before its view reads it, and every request of the API before its body is parsed: refused
texts count as well. What is posted, voted and flagged also has limits of its own, taken where it is written.
"""

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.http import urlsafe_base64_decode
from django.utils.translation import gettext as _

from accounts import names
from accounts.mail import SHARES, TooManyMails, comparable, mail_due
from accounts.models import MemberSession, User
from accounts.passwords import HashesBusy, password_confirmed
from accounts.sign_in.arrival import find_arriving
from accounts.sign_in.codes import code_compared, code_entered
from accounts.sign_in.second_factor import warn
from accounts.web import sent_forms
from accounts.web.form_pages import is_page_with_form, prefers_json
from articles.domain import extras
from articles.domain.errors import ArticlesError, LimitReached, StoreError
from articles.domain.limits import (
    ACCOUNT_SHARE,
    ANONYMOUS_SHARE,
    BY_NAME,
    PROVIDER_SHARE,
    WIDE_SHARE,
    Limit,
    LocalLimits,
    Per,
    Use,
)
from articles.domain.other_apis import OTHER_APIS
from articles.domain.other_origins import API
from articles.domain.rules import Rules
from articles.operation import metrics
from articles.text.refusals import action_sentence
from articles.web import error_pages
from articles.web.client_address import address_of, digest, household, neighbourhood, network_of, provider
from articles.web.identity import is_new_member, reader_id
from articles.web.wiring import repository, rules

_log = logging.getLogger(__name__)

_FEEDS = ("feeds",)
_FEED_NAMES = (
    "", "top_", "group_", "user_", "search_", "host_",
    "comments_", "article_comments_", "member_comments_", "following_",
)  # fmt: skip
_GUESSES = "guesses"
_WRONG_PASSWORDS = ("logins", "logins_day", "logins_network", _GUESSES)
_PASSWORDS = (*_WRONG_PASSWORDS, "passwords", "passwords_network")
_WITHOUT_GUESSES = tuple(limit for limit in _PASSWORDS if limit != _GUESSES)
"""Those of forms in which no password can be guessed: a member whose guesses are used up can still send them."""

_CODES = ("codes", "codes_day")
_CHANGES, _PREVIEWS = ("changes",), ("previews",)

FORMS = {
    **dict.fromkeys(("accounts:login", "accounts:confirm"), _PASSWORDS),
    # These also accept a form that arrives twice, by its password: without a limit they would check any password.
    **dict.fromkeys(("accounts:password_change", "admin:password_change"), _PASSWORDS),
    **dict.fromkeys(("accounts:second_step", "accounts:password_reset_confirm"), _WITHOUT_GUESSES),
    "accounts:signup": ("signups", _GUESSES),
    **dict.fromkeys(("accounts:password_reset", "accounts:send_link"), ("mails", "mails_network")),
    "accounts:change_email": (*_CHANGES, "mails", "mails_network"),
    "articles:new_notice": ("notices",),
    "articles:preview": _PREVIEWS,
    # Their script takes the use, before anything else.
    **dict.fromkeys(("articles:vote", "articles:comment_vote"), ()),
    **{view.name: view.limits for view in extras.views() if view.limits is not None},
}
"""Limits of views that take forms, by name; other forms are `changes`."""

PASSWORD_FORMS = frozenset(
    (
        "accounts:signup", "articles:first_administrator",
        *(view for view, limits in FORMS.items() if "passwords" in limits),
    )
)  # fmt: skip
"""Views that hash a password for each form."""

MAY_WAIT = frozenset(("accounts:logout", *(view.name for view in extras.views() if view.may_wait)))
"""Views that may wait for another server."""


def is_slow(view: str, *, is_form: bool = True) -> bool:
    """Return whether a form of the view hashes a password, or the view may wait for another server."""
    hashes = view in PASSWORD_FORMS or any(view in api.password_views for api in OTHER_APIS)
    return view in MAY_WAIT or (is_form and hashes)


_BUTTONS = {
    **{(f"articles:{view}", "preview"): _PREVIEWS for view in ("post", "edit", "write_comment", "edit_comment")},
    **{(button.view, button.name): button.limits for button in extras.buttons()},
}
"""Limits of buttons by which a form is shown again instead of being sent, by view and name."""

PAGES = {
    "articles:search": ("search",),
    "articles:data": ("exports",),
    "articles:pulse": ("refresh",),
    "articles:known_link": ("lookups",),
    **dict.fromkeys((f"articles:{name}feed" for name in _FEED_NAMES), _FEEDS),
    **dict.fromkeys(("articles:sitemap", "articles:sitemap_lists", "articles:sitemap_articles"), _FEEDS),
    **{view.name: view.limits_of_reading for view in extras.views()},
}
"""Limits of pages that are read."""

_FOR_SCRIPTS = frozenset(
    (
        "articles:pulse", "articles:known_link", "articles:preview",
        *(view.name for view in extras.views() if view.is_for_scripts),
    )
)  # fmt: skip
"""Addresses that only scripts use, whatever their Accept header says."""

_SECONDS_OF_HASHES = 2  # seconds after which the passwords being hashed are done
_MAIL_ADDRESS_LENGTH = 320  # characters of a mail address that are compared: more than any address has
_SAFE = ("GET", "HEAD", "OPTIONS")
_local = LocalLimits()


def refuse(request: HttpRequest) -> HttpResponse | None:
    """Take a use of each limit of the view before it runs; return the refusal if one is reached."""
    if not (limits := _limits_of(request)):
        return None
    try:
        take(request, *limits)
    except LimitReached as reached:
        return refusal(request, reached)
    except error_pages.ACCOUNTS_AWAY:  # the view needs the account as well, and answers with its own error
        return None
    return None


def _limits_of(request: HttpRequest) -> tuple[str, ...]:
    if request.path.startswith(API):  # its operations take their limits themselves
        return ()
    view = request.resolver_match.view_name if request.resolver_match else ""
    if request.method in _SAFE and not sent_forms.is_stale(request):
        return PAGES.get(view, ())
    for (its, button), limits in _BUTTONS.items():
        if its == view and button in sent_forms.sent(request):
            return limits
    return FORMS.get(view, _CHANGES)


def take(request: HttpRequest, *limits: str) -> None:
    """Take one use of each limit. Raises LimitReached. One round trip, none without limits.

    A member's change also takes its bytes. While the store is away, this process counts by itself.
    """
    size = _size_of(request) if "changes" in limits else 0
    uses = _take(limits, partial(_subjects, request), _of_bytes(request, size))
    if not set(_WRONG_PASSWORDS).isdisjoint(limits):
        vars(request)["taken"] = uses


def take_texts(request: HttpRequest, size: int) -> None:
    """Take the bytes of something that the site keeps, and that is no form or change. Raises LimitReached."""
    _take((), partial(_subjects, request), _of_bytes(request, size))


def _size_of(request: HttpRequest) -> int:
    """Return the bytes of a request's form, or of its body: more than what is kept of it."""
    if request.content_type == "application/json":
        return int(request.META.get("CONTENT_LENGTH") or 0)
    return sum(len(value.encode("utf-8", "replace")) for _name, value in sent_forms.fields_of(request))


def _of_bytes(request: HttpRequest, size: int) -> list[Use]:
    """Return the uses that so many bytes take of a member."""
    member = reader_id(request) if size else None
    return [Use("texts", str(member), uses=size)] if member else []


def _take(
    limits: Collection[str], subjects: Callable[[Limit], dict[str, int]], more: Sequence[Use] = ()
) -> list[Use]:
    """Take one use of each limit, by each of its subjects, and more; return the uses. Raises LimitReached."""
    uses: list[Use] = []
    try:
        repo = repository()
        if uses := [*more, *_uses(limits, subjects, repo.rules)]:
            repo.limits.take(uses)
    except StoreError:
        of_site = rules()
        uses = uses or [*more, *_uses(limits, subjects, of_site)]
        limit, wait_ms = _local.take(uses, of_site.limits, int(time.time() * 1000))
        if wait_ms:
            of_site.refuse(limit, wait_ms)
    return uses


def take_password(request: HttpRequest) -> None:
    """Take one use of the limits of passwords, for the name that `request.POST` has. Raises LimitReached."""
    take(request, *_PASSWORDS)


def take_large(request: HttpRequest) -> None:
    """Take one use of the limits of large bodies; a member's are texts, as in previews. Raises LimitReached."""
    take(request, "previews" if reader_id(request) else "large")


def take_comment(request: HttpRequest) -> None:
    """Take a use of the limits of comments, also of new members. Raises LimitReached. One to three round trips."""
    take(request, "comments", *(("comments_new",) if is_new_member(request.user) else ()))


def take_edit(request: HttpRequest) -> None:
    """Take one use of a new member's limit of edits. Raises LimitReached. No round trip for a trusted member."""
    if is_new_member(request.user):
        take(request, "edits_new")


def take_mentions(request: HttpRequest, count: int) -> None:
    """Take a use for each member mentioned. Raises LimitReached. At most three round trips."""
    if count:
        take(request, *["mentions"] * count, *["mentions_new"] * (count if is_new_member(request.user) else 0))


def _uses(limits: Collection[str], subjects: Callable[[Limit], dict[str, int]], site_rules: Rules) -> list[Use]:
    """Return a use of each limit that the site has, by each subject."""
    return [
        Use(limit, subject, share)
        for limit in limits
        if limit in site_rules.limits
        for subject, share in subjects(BY_NAME[limit]).items()
    ]


def _subjects(request: HttpRequest, limit: Limit) -> dict[str, int]:
    """Return whom a limit counts, each with its share. Without an address, all networks are one, the narrowest."""
    per = limit.per
    if per in (Per.MEMBER, Per.NEW_MEMBER, Per.READER) and (member := reader_id(request)):
        return {str(member): 1}
    seen_from = partial(network_of, address_of(request))
    match per:
        case Per.OUTSIDE:
            return _from_outside(request)
        case Per.MEMBER | Per.READER:
            return {seen_from(neighbourhood): WIDE_SHARE, seen_from(household): ANONYMOUS_SHARE}
        case Per.ACCOUNT:
            networks = {seen_from(provider): ACCOUNT_SHARE, seen_from(neighbourhood): 1, seen_from(household): 1}
            account = _account(request)
            return {digest("limit", "account", account, network): share for network, share in networks.items()}
        case Per.MAIL_ADDRESS | Per.SITE:
            whose = ("site",) if per is Per.SITE else ("mail", _mailbox(_mail_address(request)))
            return {digest("limit", *whose): 1}
        case _:
            shares = {provider: limit.wide * PROVIDER_SHARE, neighbourhood: limit.wide, household: 1}
            return {seen_from(width): share for width, share in shares.items() if share}


def _from_outside(request: HttpRequest) -> dict[str, int]:
    """Return the account whose password a form has; no one on a network where its member is logged in. One query.

    A new password starts again, so the member can always get in by mail. So does a member who is logged in: others
    cannot use up what confirms who it is.
    """
    name, address = _account(request), address_of(request)
    logins = MemberSession.objects.filter(user=OuterRef("pk"), network=neighbourhood(address) if address else "")
    known = User.objects.filter(canonical_name=name).values_list("password", Exists(logins)).first()
    password, is_inside = known or ("", False)
    if is_inside and address:
        return {}
    is_own = request.user.is_authenticated and names.canonical(request.user.get_username()) == name
    return {digest("limit", "outside", name, password, str(is_own)): 1}


def _mail_address(request: HttpRequest) -> str:
    """Return the address that a mail is requested for: the member's own, or that in the form."""
    is_own = request.resolver_match and request.resolver_match.view_name == "accounts:send_link"
    if is_own and request.user.is_authenticated:
        return request.user.email
    return sent_forms.sent(request).get("email", "")


def _mailbox(address: str) -> str:
    """Return the mailbox of an address: it has many spellings, and `+…` is for its owner.

    Large providers ignore dots. Where they do not, two mailboxes share a limit, which does no harm.
    """
    name, _at, domain = comparable(address[:_MAIL_ADDRESS_LENGTH].strip()).rpartition("@")
    mailbox = re.sub(r'["\\.]', "", name).partition("+")[0]
    return f"{mailbox}@{domain}"


def _account(request: HttpRequest) -> str:
    """Return the name of the account whose password a form has: of the link, of the member, or the one typed."""
    if request.resolver_match and (encoded := request.resolver_match.kwargs.get("uidb64")):
        try:
            name = get_user_model().objects.get(pk=int(urlsafe_base64_decode(encoded))).get_username()
        except (ValueError, OverflowError, get_user_model().DoesNotExist):
            name = ""
    elif arriving := _is_at(request, "accounts:second_step") and find_arriving(request):
        name = arriving.member.get_username()
    elif request.user.is_authenticated and not _is_at(request, "accounts:login"):
        name = request.user.get_username()
    else:
        name = sent_forms.sent(request).get("username", "").strip()
    return names.canonical(name)


def _is_at(request: HttpRequest, view: str) -> bool:
    return bool(request.resolver_match and request.resolver_match.view_name == view)


def refusal(request: HttpRequest, reason: LimitReached | HashesBusy) -> HttpResponse:
    """Return the 429 of a limit, or of a process that is hashing as many passwords as it may."""
    if isinstance(reason, LimitReached):
        note(request, reason.limit)
        return _too_many(request, action_sentence(reason), reason.retry_after)
    note(request, "hashes")
    _give_back(request, _PASSWORDS)  # no password was checked
    sentence = _("Many people are logging in right now. Please try again in a moment.")
    return _too_many(request, sentence, _SECONDS_OF_HASHES)


def _too_many(request: HttpRequest, sentence: str, retry_after: int) -> HttpResponse:
    """Return a page for readers, with the form and what was typed if there is one; JSON for scripts."""
    view = request.resolver_match.view_name if request.resolver_match else ""
    response: HttpResponse | None
    if prefers_json(request) or view in _FOR_SCRIPTS or request.path.startswith(API):
        response = JsonResponse({"error": sentence}, status=429)
    else:
        response = _form_again(request, sentence) or error_pages.page(request, 429, {"explained": sentence})
    response["Retry-After"] = str(retry_after)
    return response


def _form_again(request: HttpRequest, sentence: str) -> HttpResponse | None:
    """Return the page of a refused form with what was typed, except passwords; None without one, or in a flood."""
    match = request.resolver_match
    if match is None or request.method != "POST" or not is_page_with_form(match.func):
        return None
    try:
        take(request, "previews")  # drawing it costs more than the refusal
        sent_forms.make_stale(request, sentence)
        response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    except (ArticlesError, Http404, PermissionDenied, *error_pages.ACCOUNTS_AWAY):
        return None
    if response.status_code != 200:
        return None
    response.status_code = 429
    return response


def note(request: HttpRequest, limit: str) -> None:
    """Count and log a refusal. Tools such as fail2ban read the line: docs/limits.md has the expression."""
    metrics.LIMITED.labels(limit).inc()
    _log.warning("refused: client=%s limit=%s", address_of(request) or "-", limit)


@receiver(user_login_failed)
def note_failed_login(credentials: dict[str, Any], request: HttpRequest | None = None, **_signal: Any) -> None:
    """Log a wrong name or password, one line a request. The address comes first, so that no name can forge it."""
    if request is not None and not vars(request).get("failure_logged"):
        vars(request)["failure_logged"] = True
        name = str(credentials.get("username") or "")[: names.MAX_LENGTH]
        _log.warning("failed login: client=%s name=%r", address_of(request) or "-", name)


@receiver([user_logged_in, password_confirmed])
def give_back_login(request: HttpRequest, **_signal: Any) -> None:
    """Give back the uses that a right password took from the limits of wrong ones."""
    _give_back(request, _WRONG_PASSWORDS)


@receiver(code_entered)
def take_code(member: User, **_signal: Any) -> None:
    """Take a use of the limits of codes, which all networks share. Raises LimitReached."""
    _take(_CODES, partial(_whole_account, member))


@receiver(code_compared)
def note_code(member: User, *, is_right: bool, can_be_guessed: bool, **_signal: Any) -> None:
    """Give back the uses that a right code took; warn the member of several wrong ones."""
    subjects = partial(_whole_account, member)
    if not is_right:
        try:
            _take(("codes_before_mail",), subjects)
        except LimitReached:
            with suppress(LimitReached):
                _take(("codes_mails",), subjects)
                warn(member)
    elif can_be_guessed:
        with suppress(StoreError):
            repository().limits.give_back(_uses(_CODES, subjects, rules()))


@receiver(mail_due)
def take_mail(sender: str, to: str, what: str, **_signal: Any) -> None:
    """Take a use of the limit of mails, which each kind and each change has for itself. Raises TooManyMails."""
    mailbox = digest("limit", "mail", _mailbox(to), sender, what)
    try:
        _take(("mails",), lambda _limit: {mailbox: SHARES.get(sender, 1)})
    except LimitReached:
        raise TooManyMails(to) from None


def _whole_account(member: User, _limit: Limit) -> dict[str, int]:
    return {digest("limit", "whole account", str(member.pk)): 1}


def _give_back(request: HttpRequest, limits: Collection[str]) -> None:
    taken: Iterable[Use] = vars(request).pop("taken", ())
    try:
        if uses := [use for use in taken if use.limit in limits]:
            repository().limits.give_back(uses)
    except StoreError:
        return

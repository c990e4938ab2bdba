"""Save preferences: those of members with their accounts, others in cookies of the browser."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from accounts.web.middleware import comes_from_elsewhere
from articles.formatting.values import grouped
from articles.text.lines import InvalidInput
from articles.text.slugs import clean_slug
from articles.web import error_pages
from articles.web.form_answers import Done, NotDone, form_or_script, way_back
from articles.web.preferences import (
    HIDDEN_COOKIE,
    KEYBOARD_COOKIE,
    MOST_HIDDEN,
    THEME_COOKIE,
    THEMES,
    Preferences,
    cookies_for,
    preferences_of,
    slugs_from,
)
from articles.wiring import group_title, repository

_YEAR_SECONDS = 365 * 86400
_LONGEST_COOKIE = 3800
"""Limit in characters; browsers drop longer cookies silently."""

_FIELDS = ("theme", "language", "keyboard", "read", "hide", "show")


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes that a form requests; None for preferences that it leaves alone."""

    theme: str | None
    language: str | None
    keyboard: str | None
    read: str | None
    hide: str | None
    show: str | None

    @classmethod
    def of(cls, data: QueryDict) -> "_Changes | None":
        """Return the changes; None if a value is unknown or the form has none."""
        changes = cls(*(data.get(name) for name in _FIELDS))
        is_known = (
            changes.theme in (None, "", *THEMES)
            and changes.language in (None, "", *(code for code, _name in settings.LANGUAGES))
            and {changes.keyboard, changes.read} <= {None, "on", "off"}
        )
        return changes if is_known and any(name in data for name in _FIELDS) else None

    @property
    def cookies(self) -> set[str]:
        """Return the names of the cookies that the form changes."""
        values = {
            THEME_COOKIE: self.theme,
            settings.LANGUAGE_COOKIE_NAME: self.language,
            KEYBOARD_COOKIE: self.keyboard,
            HIDDEN_COOKIE: self.hide if self.show is None else self.show,
        }
        return {name for name, value in values.items() if value is not None}

    def applied_to(self, before: Preferences) -> Preferences:
        """Return the preferences after the changes. Raises NotDone."""
        hidden = before.hidden_groups
        if self.show is not None:
            shown = _slug_of(self.show)
            hidden = tuple(slug for slug in hidden if slug != shown)
        if self.hide is not None:
            hidden = _with_group(hidden, _slug_of(self.hide))
        return Preferences(
            theme=before.theme if self.theme is None else self.theme,
            language=before.language if self.language is None else self.language,
            keyboard=before.keyboard if self.keyboard is None else self.keyboard == "on",
            hidden_groups=hidden,
            remembers_read=before.remembers_read if self.read is None else self.read == "on",
        )


def _page(request: HttpRequest) -> str:
    return way_back(request) or reverse("articles:front")


@never_cache
@form_or_script(page=_page, button=gettext_lazy("Save your settings"))
def save(request: HttpRequest) -> Done | HttpResponse:
    """Save the preferences of a form.

    Readers without an account need no token, because cacheable pages have none. A form of another site is refused
    if the browser names its origin.
    """
    is_member = request.user.is_authenticated
    changes = None if not is_member and comes_from_elsewhere(request) else _Changes.of(request.POST)
    if changes is None:
        return error_pages.page(request, 400)
    before, after = _on_account(int(request.user.pk or 0), changes) if is_member else _in_browser(request, changes)
    with translation.override(after.language or _browsers_language(request)):
        message = _message(
            changes, before, after, in_settings=_page(request).startswith(reverse("accounts:settings"))
        )

    def set_cookies(response: HttpResponse) -> None:
        """Set no cookies for members: their cookies keep the choices made without an account."""
        if not is_member:
            _set_cookies(request, response, changes, after)

    return Done({"told": ""}, message, set_cookies)


def _in_browser(request: HttpRequest, changes: _Changes) -> tuple[Preferences, Preferences]:
    """Return the browser's preferences before and after. Raises NotDone if its cookies cannot hold them."""
    before = replace(preferences_of(request), language=_language_of(request))
    after = changes.applied_to(before)
    if len(after.hidden_groups) > len(before.hidden_groups) and not _fits(cookies_for(after)):
        raise NotDone(_("You have hidden as many groups as your browser can store. Show one of them again first."))
    return before, after


@transaction.atomic
def _on_account(user: int, changes: _Changes) -> tuple[Preferences, Preferences]:
    """Save the changes with the account; return its preferences before and after. Raises NotDone."""
    member = get_user_model().objects.select_for_update().get(pk=user)
    hidden = slugs_from(member.hidden_groups)
    before = Preferences(
        member.theme, member.language, member.keyboard, hidden, remembers_read=member.remembers_read
    )
    after = changes.applied_to(before)
    member.theme, member.language, member.keyboard = after.theme, after.language, after.keyboard
    member.hidden_groups = ",".join(after.hidden_groups)
    member.remembers_read = after.remembers_read
    member.save(update_fields=["theme", "language", "keyboard", "hidden_groups", "remembers_read"])
    if before.remembers_read and not after.remembers_read:
        repository().members.forget_visits(user)
    return before, after


def _set_cookies(request: HttpRequest, response: HttpResponse, changes: _Changes, after: Preferences) -> None:
    cookies = cookies_for(after) | {settings.LANGUAGE_COOKIE_NAME: after.language}
    for name, value in cookies.items():
        # What the form changes is always set: a concurrent response may set another value.
        if name in changes.cookies or value != request.COOKIES.get(name, ""):
            _set_cookie(request, response, name, value)


def _message(changes: _Changes, before: Preferences, after: Preferences, *, in_settings: bool) -> str:
    """Return what has changed, in words; "" if the next page shows it."""
    if changes.hide is not None:
        new = after.hidden_groups[-1:]  # the others change only if groups were merged
        is_new = new and new[0] not in before.hidden_groups
        return (
            _("The group “%(name)s” is now hidden from your lists.") % {"name": group_title(new[0])}
            if is_new
            else ""
        )
    if changes.show is not None:
        gone = [slug for slug in before.hidden_groups if slug not in after.hidden_groups]
        return (
            _("The group “%(name)s” is shown in your lists again.") % {"name": group_title(gone[0])}
            if gone
            else ""
        )
    return _("Your reading preferences have been saved.") if in_settings else ""


def _set_cookie(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    """Set or delete a cookie. Scripts can read it: they must know whether keyboard shortcuts are on."""
    if value and len(value) <= _LONGEST_COOKIE:
        secure = settings.SESSION_COOKIE_SECURE or request.is_secure()
        response.set_cookie(name, value, max_age=_YEAR_SECONDS, samesite="Lax", secure=secure)
    elif name in request.COOKIES:
        response.delete_cookie(name, samesite="Lax")


def _fits(cookies: dict[str, str]) -> bool:
    return all(len(value) <= _LONGEST_COOKIE for value in cookies.values())


def _with_group(hidden: Sequence[str], slug: str) -> tuple[str, ...]:
    """Return these groups and one more, merged groups replaced by their targets. Raises NotDone."""
    current = repository().groups.get_targets([*hidden, slug])
    if slug not in current:
        raise NotDone(_("There is no such group."))
    slugs = tuple(dict.fromkeys(current.get(other, other) for other in (*hidden, slug)))
    if len(slugs) > MOST_HIDDEN:
        raise NotDone(
            _("You can hide at most %(most)s groups. Show one of them again first.")
            % {"most": grouped(MOST_HIDDEN)}
        )
    return slugs


def _slug_of(typed: str) -> str:
    """Return the slug of a group typed in any spelling; the text as typed if it cannot be a slug."""
    try:
        return clean_slug(typed)
    except InvalidInput:
        return typed


def _language_of(request: HttpRequest) -> str:
    """Return the language chosen in this browser, "" if there is none."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return chosen if chosen in dict(settings.LANGUAGES) else ""


def _browsers_language(request: HttpRequest) -> str:
    """Return the language for readers who have not chosen one."""
    plain = HttpRequest()
    plain.META["HTTP_ACCEPT_LANGUAGE"] = request.headers.get("Accept-Language", "")
    return translation.get_language_from_request(plain)

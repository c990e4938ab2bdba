"""What readers choose about the site: stored with a member's account, else in cookies of the browser."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.web.origin import comes_from_elsewhere
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
from articles.wiring import repository

_YEAR = 365 * 86400
_LONGEST_COOKIE = 3800
"""Characters: browsers drop longer ones without a word."""

_FIELDS = ("theme", "language", "keyboard", "hide", "show")


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a form asks for; None for what it leaves alone."""

    theme: str | None
    language: str | None
    keyboard: str | None
    hide: str | None
    show: str | None

    @classmethod
    def of(cls, data: QueryDict) -> "_Wish | None":
        """None for values that there are not, and for a form without any."""
        wish = cls(*(data.get(name) for name in _FIELDS))
        is_known = (
            wish.theme in (None, "", *THEMES)
            and wish.language in (None, "", *(code for code, _name in settings.LANGUAGES))
            and wish.keyboard in (None, "on", "off")
        )
        return wish if is_known and any(name in data for name in _FIELDS) else None

    @property
    def cookies(self) -> set[str]:
        """Names of the cookies for what the form asks for."""
        asked = {
            THEME_COOKIE: self.theme,
            settings.LANGUAGE_COOKIE_NAME: self.language,
            KEYBOARD_COOKIE: self.keyboard,
            HIDDEN_COOKIE: self.hide if self.show is None else self.show,
        }
        return {name for name, value in asked.items() if value is not None}

    def granted(self, before: Preferences) -> Preferences:
        """The preferences afterwards. Raises NotDone."""
        hidden = before.hidden_groups
        if self.show is not None:
            shown = _slug_of(self.show)
            hidden = tuple(slug for slug in hidden if slug != shown)
        if self.hide is not None:
            hidden = _with(hidden, _slug_of(self.hide))
        return Preferences(
            theme=before.theme if self.theme is None else self.theme,
            language=before.language if self.language is None else self.language,
            keyboard=before.keyboard if self.keyboard is None else self.keyboard == "on",
            hidden_groups=hidden,
        )


def _page(request: HttpRequest) -> str:
    return way_back(request) or reverse("articles:front")


@never_cache
@form_or_script(page=_page, button=lambda _request: _("Save your settings"))
def save(request: HttpRequest) -> Done | HttpResponse:
    """Save what the form asks for.

    Readers without account need no token: pages that can be cached hold none. A form of another site is refused
    where the browser names the site it comes from.
    """
    is_member = request.user.is_authenticated
    wish = None if not is_member and comes_from_elsewhere(request) else _Wish.of(request.POST)
    if wish is None:
        return error_pages.page(request, 400)
    before, wanted = _on_account(int(request.user.pk or 0), wish) if is_member else _in_browser(request, wish)
    with translation.override(wanted.language or _browsers_language(request)):
        message = _message(wish, before, wanted, in_settings=_page(request) == reverse("accounts:settings"))

    def set_cookies(response: HttpResponse) -> None:
        """A member's choices are on the account alone: the cookies stay those of the reader without account."""
        if not is_member:
            _set_cookies(request, response, wish, wanted)

    return Done({"told": ""}, message, set_cookies)


def _in_browser(request: HttpRequest, wish: _Wish) -> tuple[Preferences, Preferences]:
    """Return a browser's preferences before and after. Raises NotDone for more than its cookies can hold."""
    before = replace(preferences_of(request), language=_language_of(request))
    wanted = wish.granted(before)
    if len(wanted.hidden_groups) > len(before.hidden_groups) and not _fits(cookies_for(wanted)):
        raise NotDone(_("You hide as many groups as your browser can keep. Show one of them first."))
    return before, wanted


@transaction.atomic
def _on_account(user: int, wish: _Wish) -> tuple[Preferences, Preferences]:
    """Save them on the account; return what they were, and what they are. Raises NotDone."""
    member = get_user_model().objects.select_for_update().get(pk=user)
    hidden = slugs_from(member.hidden_groups)
    before = Preferences(member.theme, member.language, member.keyboard, hidden)
    wanted = wish.granted(before)
    member.theme, member.language, member.keyboard = wanted.theme, wanted.language, wanted.keyboard
    member.hidden_groups = ",".join(wanted.hidden_groups)
    member.save(update_fields=["theme", "language", "keyboard", "hidden_groups"])
    return before, wanted


def _set_cookies(request: HttpRequest, response: HttpResponse, wish: _Wish, wanted: Preferences) -> None:
    cookies = cookies_for(wanted) | {settings.LANGUAGE_COOKIE_NAME: wanted.language}
    for name, value in cookies.items():
        # Another response, which this request does not know, may be on its way with another value.
        if name in wish.cookies or value != request.COOKIES.get(name, ""):
            _set_cookie(request, response, name, value)


def _message(wish: _Wish, before: Preferences, wanted: Preferences, *, in_settings: bool) -> str:
    """Say what has changed, where the page that follows does not show it."""
    if wish.hide is not None:
        new = wanted.hidden_groups[-1:]  # where the others were merged into is no news
        is_new = new and new[0] not in before.hidden_groups
        return _("The group “%(name)s” is now left out of your lists.") % {"name": new[0]} if is_new else ""
    if wish.show is not None:
        gone = [slug for slug in before.hidden_groups if slug not in wanted.hidden_groups]
        return _("The group “%(name)s” is shown in your lists again.") % {"name": gone[0]} if gone else ""
    return _("Your settings have been saved.") if in_settings else ""


def _set_cookie(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    """Set or delete it. Readable by the page's scripts, which have to know whether keys do something."""
    if value and len(value) <= _LONGEST_COOKIE:
        secure = settings.SESSION_COOKIE_SECURE or request.is_secure()
        response.set_cookie(name, value, max_age=_YEAR, samesite="Lax", secure=secure)
    elif name in request.COOKIES:
        response.delete_cookie(name, samesite="Lax")


def _fits(cookies: dict[str, str]) -> bool:
    return all(len(value) <= _LONGEST_COOKIE for value in cookies.values())


def _with(hidden: Sequence[str], slug: str) -> tuple[str, ...]:
    """These groups and one more, each where it was merged into if it was. Raises NotDone."""
    now = repository().groups.get_existing_titles([*hidden, slug])
    if slug not in now:
        raise NotDone(_("There is no such group."))
    found = tuple(dict.fromkeys(now.get(other, other) for other in (*hidden, slug)))
    if len(found) > MOST_HIDDEN:
        raise NotDone(
            _("You can hide at most %(most)s groups. Show one of them first.") % {"most": grouped(MOST_HIDDEN)}
        )
    return found


def _slug_of(typed: str) -> str:
    """The group's slug, however it is typed; as it stands where it cannot be one."""
    try:
        return clean_slug(typed)
    except InvalidInput:
        return typed


def _language_of(request: HttpRequest) -> str:
    """The language this browser has chosen, '' where it has chosen none."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return chosen if chosen in dict(settings.LANGUAGES) else ""


def _browsers_language(request: HttpRequest) -> str:
    """The language of the pages for who has chosen none."""
    plain = HttpRequest()
    plain.META["HTTP_ACCEPT_LANGUAGE"] = request.headers.get("Accept-Language", "")
    return translation.get_language_from_request(plain)

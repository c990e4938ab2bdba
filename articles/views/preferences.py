"""Save preferences: those of members with their accounts, others in cookies of the browser."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache

from accounts.web import sent_forms
from accounts.web.form_pages import prefers_json
from accounts.web.sent_forms import comes_from_elsewhere
from articles.domain.errors import GroupNotFound
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.text.searching import Hiding, Kind, kind_and_value
from articles.views.lists.rows import gone
from articles.web import error_pages, hiding, reading
from articles.web.form_answers import Done, NotDone, form_or_script, way_back
from articles.web.preferences import (
    HIDDEN_COOKIE,
    KEYBOARD_COOKIE,
    THEME_COOKIE,
    THEMES,
    Preferences,
    cookies_for,
    preferences_of,
    preferences_of_member,
)
from articles.web.wiring import repository

_YEAR_SECONDS = 365 * 86400
_LONGEST_COOKIE = 3800  # limit in characters; browsers drop longer cookies silently
_FIELDS = ("theme", "language", "keyboard", "read", "hide", "show")

_KINDS = {kind.value: kind for kind in Kind}


class _Changes(NamedTuple):
    """The changes that a form requests: its fields by name, and of which kind is what it hides or shows."""

    sent: Mapping[str, str]
    kind: Kind

    @classmethod
    def of(cls, data: QueryDict) -> "_Changes | None":
        """Return the changes; None if a value is unknown or the form has none.

        What is hidden or shown has its kind in a field, or a sign of it at its beginning, as in `Hiding.text`.
        """
        sent = {name: str(data[name]) for name in _FIELDS if name in data}
        kind = _KINDS.get(data.get("kind", "group"))
        if "kind" not in data:
            for name in sent.keys() & {"hide", "show"}:
                kind, sent[name] = kind_and_value(sent[name])
        known = {
            "theme": ("", *THEMES),
            "language": ("", *dict(settings.LANGUAGES)),
            "keyboard": ("on", "off"),
            "read": ("on", "hide", "off"),
        }
        is_known = all(sent[name] in values for name, values in known.items() if name in sent)
        return cls(sent, kind) if sent and kind and is_known else None

    @property
    def are_of_content(self) -> bool:
        """Whether the form names a group, a member, an article, …"""
        return "hide" in self.sent or "show" in self.sent

    @property
    def article(self) -> str:
        """The number of the article that the form hides or shows; "" for none."""
        typed = self.sent.get("hide", self.sent.get("show", ""))
        return typed if self.kind is Kind.ARTICLE and typed.isascii() and typed.isdecimal() else ""

    @property
    def cookies(self) -> set[str]:
        """Return the names of the cookies that the form changes."""
        names = {"theme": THEME_COOKIE, "language": settings.LANGUAGE_COOKIE_NAME, "keyboard": KEYBOARD_COOKIE}
        names |= dict.fromkeys(("hide", "show"), HIDDEN_COOKIE)
        return {names[field] for field in self.sent if field in names}

    def applied_to(self, before: Preferences, reader: int = 0) -> Preferences:
        """Return the preferences after the changes.

        Raises NotDone, HiddenFull, ArticleNotFound and ArticleMerged.
        """
        after, sent = before.hiding, self.sent
        try:
            if "show" in sent:
                after = hiding.with_shown(after, self.kind, sent["show"])
            if "hide" in sent:
                after = hiding.with_hidden(after, self.kind, sent["hide"], reader)
        except InvalidInput as refused:
            raise NotDone(input_sentence(refused)) from refused
        except GroupNotFound as unknown:
            raise NotDone(_("There is no such group.")) from unknown
        return replace(
            before,
            theme=sent.get("theme", before.theme),
            language=sent.get("language", before.language),
            keyboard=sent["keyboard"] == "on" if "keyboard" in sent else before.keyboard,
            hiding=after,
            remembers_read=sent["read"] != "off" if "read" in sent else before.remembers_read,
            hides_read=sent["read"] == "hide" if "read" in sent else before.hides_read,
        )


def _page(request: HttpRequest) -> str:
    """Return the page that the form was on: a list at the article that the form hides or shows.

    That list has a line in place of the hidden article: see `articles.web.hiding.Applied`.
    """
    page = way_back(request) or reverse("articles:front")
    changes = _Changes.of(sent_forms.sent(request))
    article = changes.article if changes else ""
    if "#" in page or not article:
        return page
    path, _mark, query = page.partition("?")
    values = [(name, value) for name, value in parse_qsl(query) if name != "hidden" or not value.isdecimal()]
    if changes and "hide" in changes.sent:
        values.append(("hidden", article))
    return f"{path}{'?' if values else ''}{urlencode(values)}#article-{article}"


@never_cache
@form_or_script(page=_page, button=gettext_lazy("Save your settings"))
def save(request: HttpRequest) -> Done | HttpResponse:
    """Save the preferences of a form.

    Readers without an account need no token, because cacheable pages have none. A form of another site is refused
    if the browser names its origin.
    """
    is_member = request.user.is_authenticated
    changes = None if not is_member and comes_from_elsewhere(request) else _Changes.of(request.POST)
    if changes is None or (reading.is_closed_to(request) and changes.are_of_content):
        return error_pages.page(request, 400)
    before, after = _on_account(int(request.user.pk or 0), changes) if is_member else _in_browser(request, changes)
    with translation.override(after.language or _browsers_language(request)):
        in_settings = _page(request).startswith(reverse("accounts:settings"))
        message, undo = _message(changes, before.hiding, after.hiding, in_settings=in_settings)

    def set_cookies(response: HttpResponse) -> None:
        """Set no cookies for members: their cookies keep the choices made without an account."""
        if not is_member:
            _set_cookies(request, response, changes, after)

    told = {"told": message}
    if changes.article and "hide" in changes.sent and prefers_json(request):
        told["row"] = gone(repository().articles.get(int(changes.article)))
    return Done(told, message, set_cookies, undo)


def _in_browser(request: HttpRequest, changes: _Changes) -> tuple[Preferences, Preferences]:
    """Return the browser's preferences before and after. Raises NotDone if its cookies cannot hold them."""
    before = replace(preferences_of(request), language=_language_of(request))
    after = changes.applied_to(before)
    fits = all(len(value) <= _LONGEST_COOKIE for value in cookies_for(after).values())
    if len(after.hiding.text) > len(before.hiding.text) and not fits:
        raise NotDone(
            _("Your browser cannot store more hidden things. Show some of them again, or log in to hide more.")
        )
    return before, after


@transaction.atomic
def _on_account(user: int, changes: _Changes) -> tuple[Preferences, Preferences]:
    """Save the changes with the account; return its preferences before and after. Raises like `applied_to`."""
    member = get_user_model().objects.select_for_update().get(pk=user)
    before = preferences_of_member(member)
    after = changes.applied_to(before, user)
    member.theme, member.language, member.keyboard = after.theme, after.language, after.keyboard
    member.remembers_read, member.hides_read = after.remembers_read, after.hides_read
    member.save(update_fields=["theme", "language", "keyboard", "remembers_read", "hides_read"])
    if after.hiding != before.hiding:
        hiding.save(member, before.hiding, after.hiding)
    if before.remembers_read and not after.remembers_read:
        repository().members.forget_visits(user)
    return before, after


def _set_cookies(request: HttpRequest, response: HttpResponse, changes: _Changes, after: Preferences) -> None:
    cookies = cookies_for(after) | {settings.LANGUAGE_COOKIE_NAME: after.language}
    for name, value in cookies.items():
        # What the form changes is always set: a concurrent response may set another value.
        if name in changes.cookies or value != request.COOKIES.get(name, ""):
            _set_cookie(request, response, name, value)


def _message(changes: _Changes, before: Hiding, after: Hiding, *, in_settings: bool) -> tuple[str, str]:
    """Return what has changed, in words, and what takes it back; "" if the next page shows it."""
    kind = changes.kind
    if "hide" in changes.sent:
        new = after.values(kind)[-1:]  # the others change only if groups were merged
        if not new or new[0] in before.values(kind):
            return "", ""
        return _told(kind, new[0], is_hidden=True)
    if "show" in changes.sent:
        gone = [value for value in before.values(kind) if value not in after.values(kind)]
        if not gone:
            return "", ""
        return _told(kind, gone[0], is_hidden=False)
    return _("Your reading preferences have been saved.") if in_settings else "", ""


_SENTENCES = {
    Kind.GROUP: (
        gettext_lazy("The group “%(name)s” is now hidden from your lists."),
        gettext_lazy("The group “%(name)s” is shown in your lists again."),
    ),
    Kind.MEMBER: (
        gettext_lazy("Articles by %(name)s are now hidden from your lists."),
        gettext_lazy("Articles by %(name)s are shown in your lists again."),
    ),
    Kind.HOST: (
        gettext_lazy("Articles from %(name)s are now hidden from your lists."),
        gettext_lazy("Articles from %(name)s are shown in your lists again."),
    ),
    Kind.WORD: (
        gettext_lazy("Articles with “%(name)s” in the title are now hidden from your lists."),
        gettext_lazy("Articles with “%(name)s” in the title are shown in your lists again."),
    ),
    Kind.ARTICLE: (
        gettext_lazy("The article is now hidden from your lists."),
        gettext_lazy("The article is shown in your lists again."),
    ),
}


def _told(kind: Kind, value: str | int, *, is_hidden: bool) -> tuple[str, str]:
    """Return a sentence, and the tags by which `templates/messages.html` offers to take the change back."""
    name = hiding.label(kind, value)
    hidden, shown = _SENTENCES[kind]
    sentence, back = (hidden, "show") if is_hidden else (shown, "hide")
    return sentence % {"name": name}, f"undo {back} {kind} {name if kind is Kind.MEMBER else value}"


def _set_cookie(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    """Set or delete a cookie. Scripts can read it: they must know whether keyboard shortcuts are on."""
    if value and len(value) <= _LONGEST_COOKIE:
        secure = settings.SESSION_COOKIE_SECURE or request.is_secure()
        response.set_cookie(name, value, max_age=_YEAR_SECONDS, samesite="Lax", secure=secure)
    elif name in request.COOKIES:
        response.delete_cookie(name, samesite="Lax")


def _language_of(request: HttpRequest) -> str:
    """Return the language chosen in this browser, "" if there is none."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return chosen if chosen in dict(settings.LANGUAGES) else ""


def _browsers_language(request: HttpRequest) -> str:
    """Return the language for readers who have not chosen one."""
    plain = HttpRequest()
    plain.META["HTTP_ACCEPT_LANGUAGE"] = request.headers.get("Accept-Language", "")
    return translation.get_language_from_request(plain)

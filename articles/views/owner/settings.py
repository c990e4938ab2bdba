"""Settings in the browser: forms for them, checked by the variable's own rule, and the accent's style sheet."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from accounts.web.form_pages import private_form, show_form, show_next
from articles.configuration import choices, colours
from articles.domain import extras
from articles.domain.moderation_log import Action, Actor
from articles.formatting.values import listed
from articles.views.owner import limits
from articles.views.owner.administrator import administrators_only
from articles.web.forms.fields import Checkboxes, RadioButtons
from articles.web.identity import actor
from articles.web.wiring import repository, retract

_OF_EXTRAS = tuple(one for one in extras.settings() if one.in_browser)

_RADIO_BUTTONS = {
    "sign-up": (
        ("open", gettext_lazy("Everyone")),
        ("approval", gettext_lazy("Everyone, after a moderator has approved the account")),
        ("invitation", gettext_lazy("People whom a member invites")),
        ("closed", gettext_lazy("No one: administrators add members")),
    ),
    "reading": (
        ("everyone", gettext_lazy("Everyone")),
        ("members", gettext_lazy("Members: all others are asked to log in")),
    ),
    "invitation tree": (
        ("public", gettext_lazy("Everyone")),
        ("moderators", gettext_lazy("Moderators")),
        ("off", pgettext_lazy("readers", "No one")),
    ),
    "yes/no": (("1", pgettext_lazy("setting", "On")), ("0", pgettext_lazy("setting", "Off"))),
}
"""The choices of settings of these kinds, in the words of their fields."""


def _radio_buttons(name: str) -> Sequence[tuple[str, Any]]:
    """Return the choices of a setting, with their labels; none if it has no such choices."""
    variable = settings.BROWSER_SETTINGS[name]
    if variable.choices:
        return [(text, gettext_lazy(label)) for text, label in variable.choices.items()]
    return _RADIO_BUTTONS.get(variable.kind, ())


LABELS: Mapping[str, tuple[Any, Any]] = {
    "SITE_NAME": (gettext_lazy("Name"), gettext_lazy("At the top of every page, and in emails.")),
    "SITE_MARK": (
        gettext_lazy("Mark"),
        gettext_lazy("Beside the name: one or two letters, or an emoji. Empty: the two triangles."),
    ),
    "SITE_ACCENT": (
        gettext_lazy("Accent colour"),
        gettext_lazy("Of buttons and the current page. The dark theme has a lighter one of the same hue."),
    ),
    "SITE_LANGUAGES": (
        gettext_lazy("Languages"),
        gettext_lazy("Readers can choose among them. The site’s own is the language of feeds."),
    ),
    "READING": (
        gettext_lazy("Who can read the site"),
        gettext_lazy("For members only, feeds have private addresses, and search engines find nothing."),
    ),
    "SIGN_UP": (gettext_lazy("Who can sign up"), ""),
    "INVITATIONS_PER_MEMBER": (
        gettext_lazy("Invitations per member"),
        gettext_lazy("Those that expire unused are given back."),
    ),
    "INVITATION_TREE": (gettext_lazy("Who can see who invited whom"), ""),
    "NEW_MEMBER_DAYS": (
        gettext_lazy("Days for which a member is new"),
        gettext_lazy("The limits of new members apply. 0: the age of an account does not matter."),
    ),
    "NEW_MEMBER_POINTS": (
        gettext_lazy("Points until which a member is new"),
        gettext_lazy(
            "Points that the member’s articles get from others who aren’t new, among them a moderator or three "
            "who are unrelated. At least 3; 0: points do not matter."
        ),
    ),
    "PROBATION": (
        gettext_lazy("Let the votes of new members wait"),
        gettext_lazy(
            "They are shown, but affect ranking only once the member is no longer new, or another member vouches "
            "for them."
        ),
    ),
    "VOUCHES": (
        gettext_lazy("Newcomers for whom a member can vouch in 30 days"),
        gettext_lazy("If votes wait. 0: no one can vouch."),
    ),
    "LEGAL_NOTICES": (
        gettext_lazy("Legal notices and statements of reasons"),
        gettext_lazy(
            "Everyone can report content without an account, and members get the reasons for decisions about them "
            "by email, as the EU’s Digital Services Act and similar laws ask. Then write a text on contact points."
        ),
    ),
    "SECURITY_CONTACT": (
        gettext_lazy("Where to report a vulnerability"),
        gettext_lazy("In security.txt: an email address, or the https address of a form. Empty: no such file."),
    ),
    "NODEINFO": (
        gettext_lazy("Tell directories of sites about this one"),
        gettext_lazy(
            "Its name and version, and rounded numbers of members and articles; nothing while it is for members."
        ),
    ),
    limits.NAME: (gettext_lazy("Rate limits"), ""),
    **{one.name: (gettext_lazy(one.label), gettext_lazy(one.help)) for one in _OF_EXTRAS},
}
"""The label and the help of each setting."""


class _Page(NamedTuple):
    """A page with settings: its title, what it is about, and the names of the settings."""

    title: Any
    about: Any
    names: tuple[str, ...]
    template: str = "owner/settings.html"


PAGES = {
    "look": _Page("", "", ("SITE_NAME", "SITE_MARK", "SITE_ACCENT", "SITE_LANGUAGES"), "owner/look.html"),
    "joining": _Page(
        gettext_lazy("Readers and members"),
        gettext_lazy("Who can sign up, and who can read the site."),
        ("SIGN_UP", "INVITATIONS_PER_MEMBER", "INVITATION_TREE", "READING"),
    ),
    "new-members": _Page(
        gettext_lazy("New members"),
        gettext_lazy("Who is new, and what becomes of their votes."),
        ("NEW_MEMBER_DAYS", "NEW_MEMBER_POINTS", "PROBATION", "VOUCHES"),
    ),
    "limits": _Page(
        LABELS[limits.NAME][0],
        gettext_lazy(
            "How often an action is possible. The whole number can be used at once; it is refilled evenly."
        ),
        (limits.NAME,),
        "owner/limits.html",
    ),
    "law": _Page(
        pgettext_lazy("site settings", "Law"),
        gettext_lazy("What laws such as the EU’s ask of sites."),
        ("LEGAL_NOTICES",),
    ),
    "programs": _Page(
        gettext_lazy("Programs"),
        gettext_lazy("How apps, chats and other servers work with the site."),
        ("NODEINFO", "SECURITY_CONTACT"),
    ),
}
"""The pages by their names in addresses."""

for _one in _OF_EXTRAS:
    if _one.page not in PAGES:
        raise extras.BadExtra(f"{_one.name} is on the page {_one.page!r}; the pages are {', '.join(PAGES)}.")
    PAGES[_one.page] = PAGES[_one.page]._replace(names=(*PAGES[_one.page].names, _one.name))


def view_of(page: str) -> str:
    """Return the name of a page's view."""
    return f"owner_{page.replace('-', '_')}"


_ELSEWHERE = {
    "EMAIL_URL": pgettext_lazy("setting", "Mail server"),
    "EMAIL_FROM": pgettext_lazy("setting", "Sender of emails"),
    "BACKUP_DIR": pgettext_lazy("setting", "Daily backups"),
}
"""Settings of pages with more than a form for them."""


def name_of(name: str) -> str:
    """Return what pages call a setting; "" for one that is gone."""
    return str(LABELS[name][0]) if name in LABELS else str(_ELSEWHERE.get(name, ""))


def value_of(text: str, name: str) -> str:
    """Return the text of a setting in words; as it is where it is none of a few."""
    kind = settings.BROWSER_SETTINGS[name].kind
    if kind == "limits":
        return limits.in_words(text)
    if kind == "directory":  # where it is is not for everyone
        return str(dict(_RADIO_BUTTONS["yes/no"])["1" if text else "0"])
    known = dict(settings.LANGUAGES if kind == "list of languages" else _radio_buttons(name))
    return listed(str(known.get(part, part)) for part in text.split(",")) if known else text


def _refusal(name: str, text: str) -> str:
    """Return the sentence for a text that the variable's own rule refuses."""
    variable = settings.BROWSER_SETTINGS[name]
    near = colours.nearest(text) if variable.kind == "accent" else ""
    too_light = _(
        "This colour is too light to be read on the page. The nearest that is dark enough is %(colour)s."
    )
    sentences = {
        "number": _("Enter a number from %(low)s to %(high)s.") % {"low": variable.low, "high": variable.high},
        "mark": _("Enter one or two letters or digits, or one emoji."),
        "accent": too_light % {"colour": near}
        if near
        else _("Enter a colour such as %(colour)s.") % {"colour": colours.DEFAULT},
        "list of languages": _("Choose at least one language."),
        "contact": _("Enter an email address, or an address that begins with https://."),
    }
    return sentences.get(variable.kind, _("Enter printable text of at most 100 characters."))


class _Languages(forms.MultiWidget):
    """The site's own language, and those that it offers beside it. The value is a list such as `en,zh-hans`."""

    template_name = "owner/languages.html"
    use_fieldset = True

    def __init__(self) -> None:
        own = forms.Select(choices=settings.LANGUAGES)
        super().__init__({"own": own, "offered": Checkboxes(choices=settings.LANGUAGES)})

    def decompress(self, value: str | None) -> list[Any]:
        codes = (value or "").split(",")
        return [codes[0], codes]

    def value_omitted_from_data(self, data: Any, _files: Any, name: str) -> bool:
        """Return whether the form lacks it; unticked boxes alone are not sent."""
        return f"{name}_own" not in data

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        own, offered = super().value_from_datadict(data, files, name)
        return ",".join(dict.fromkeys(filter(None, [own, *(offered or ())])))


class _Colour(forms.TextInput):
    input_type = "color"

    def use_required_attribute(self, _initial: Any) -> bool:
        """A field for a colour is never empty, and HTML has no such attribute for it."""
        return False


_FIXED = gettext_lazy("%(name)s is set in the environment or in .env, so it is fixed here.")


class SettingField(forms.CharField):
    """The text of a setting, valid by the variable's own rule; disabled if the environment sets it."""

    def __init__(self, name: str) -> None:
        variable, (label, help_text) = settings.BROWSER_SETTINGS[name], LABELS[name]
        widget: forms.Widget = forms.TextInput({"autocomplete": "off"})
        match variable.kind:
            case "number":
                widget = forms.NumberInput({"min": variable.low, "max": variable.high})
            case "accent":
                widget = _Colour()
            case "list of languages":
                widget = _Languages()
            case _ if buttons := _radio_buttons(name):
                widget = RadioButtons(choices=buttons)
        self.variable, self.is_fixed = variable, name in settings.FIXED_SETTINGS
        if self.is_fixed:
            help_text = _FIXED % {"name": name}
        required, initial = bool(variable.default), choices.text_of(name)
        super().__init__(required=required, label=label, help_text=help_text, widget=widget, initial=initial)
        self.disabled = self.is_fixed

    def clean(self, value: Any) -> str:
        """Return the text to save: "" for the default. Raises ValidationError."""
        text = str(super().clean(value) or "")
        try:
            self.variable.parse(text)
        except ImproperlyConfigured:
            raise ValidationError(_refusal(self.variable.name, text), code="invalid") from None
        return "" if text == self.variable.default else text


class SettingsForm(forms.Form):
    def __init__(self, data: Any, names: tuple[str, ...]) -> None:
        super().__init__(data)
        self._has_limits = limits.NAME in names
        self.fields = {name: SettingField(name) for name in names if name != limits.NAME}
        if self._has_limits:
            self.fields |= limits.fields()
        for name, field in self.fields.items() if data else ():
            if field.widget.value_omitted_from_data(data, {}, name):
                field.disabled = True  # a form without a field does not reset it

    @property
    def readable_accent(self) -> str:
        """Return the colour to use instead of one that was refused; "" if none was."""
        return colours.nearest(str(self["SITE_ACCENT"].value())) if "SITE_ACCENT" in self.errors else ""

    @property
    def changes(self) -> dict[str, str]:
        """Return the texts to save by name, "" for the default, of those that differ."""
        changed = {
            name: text
            for name, text in self.cleaned_data.items()
            if name in LABELS and (text or settings.BROWSER_SETTINGS[name].default) != choices.text_of(name)
        }
        if self._has_limits:
            text = limits.text_of(self.cleaned_data)
            if text != limits.text_of({name: field.initial for name, field in self.fields.items()}):
                changed[limits.NAME] = text
        return changed


def choose(changes: Mapping[str, str], administrator: Actor) -> None:
    """Save valid texts of settings, "" for the default, and log each. Raises StoreError; then nothing is saved."""
    with transaction.atomic():
        for name, text in changes.items():
            default = settings.BROWSER_SETTINGS[name].default
            details = {"from": choices.text_of(name), "to": text or default}
            if settings.BROWSER_SETTINGS[name].is_secret:
                details.clear()
            choices.save(name, text)
            repository().moderation_log.note(Action.CHANGE_SETTING, administrator, name, "", details)
        if changes:
            transaction.on_commit(lambda: retract(None))


@private_form(administrators_only)
def page(request: HttpRequest, name: str) -> HttpResponse:
    """Let an administrator choose the settings of one page."""
    shown = PAGES[name]
    form = SettingsForm(request.POST or None, shown.names)
    if request.method == "POST" and form.is_valid():
        changes = form.changes
        choose(changes, actor(request))
        choices.save(f"step {name}", "done")
        told = _("Saved. All pages follow within seconds.") if changes else _("Nothing has changed.")
        return show_next(request, told, f"articles:{view_of(name)}")
    context: dict[str, Any] = {"page": shown}
    if shown.title:
        others = ((key, one.title) for key, one in PAGES.items() if one.title)
        context["setting_pages"] = [(title, reverse(f"articles:{view_of(key)}")) for key, title in others]
    if limits.NAME in shown.names:
        context["groups"] = list(limits.groups(form))
        context["fixed"] = _FIXED % {"name": limits.NAME} if limits.NAME in settings.FIXED_SETTINGS else ""
    return show_form(request, shown.template, form, **context)


@require_safe
@cache_control(public=True, max_age=365 * 86400, immutable=True)
def accent(_request: HttpRequest, colour: str) -> HttpResponse:
    """Return the style sheet of an accent colour, which depends on nothing else. Raises Http404."""
    try:
        return HttpResponse(colours.style_sheet(colours.parse(f"#{colour}")), content_type="text/css")
    except ValueError:
        raise Http404(colour) from None

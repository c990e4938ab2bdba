"""Rate limits in the browser: a number, a period and its unit for each, and what they are called."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _, gettext_lazy, npgettext, pgettext_lazy

from articles.configuration import choices
from articles.domain import extras
from articles.domain.limits import LIMITS, BadPair, Limit, Per, Rate, rates, without_unknown
from articles.formatting.values import duration, grouped, listed

NAME = "LIMITS"

_ACTIONS = {
    "votes": gettext_lazy("Votes"), "posts": gettext_lazy("Articles"),
    "posts_day": gettext_lazy("Articles, over a longer time"), "comments": gettext_lazy("Comments"),
    "edits": gettext_lazy("Edits"), "mentions": gettext_lazy("Members mentioned"),
    "flags": pgettext_lazy("rate limit", "Flags"),
    "changes": gettext_lazy("Forms, and changes by programs"),
    "texts": gettext_lazy("Bytes of what is sent"),
    "large": gettext_lazy("Requests of more than 100,000 bytes"),
    "views": gettext_lazy("Views that scripts report"),
    "search": gettext_lazy("Searches"), "feeds": gettext_lazy("Feeds"),
    "refresh": gettext_lazy("Updates of open pages"), "lookups": gettext_lazy("Links looked up while typing"),
    "previews": gettext_lazy("Previews of texts"),
    "exports": gettext_lazy("Copies of a member’s data"), "api": gettext_lazy("Requests to the API"),
    "logins": gettext_lazy("Wrong passwords"), "logins_day": gettext_lazy("Wrong passwords, over a longer time"),
    "passwords": gettext_lazy("Passwords checked"), "guesses": gettext_lazy("Wrong passwords from anywhere"),
    "codes": gettext_lazy("Wrong codes of the second step"),
    "codes_day": gettext_lazy("Wrong codes, over a longer time"),
    "codes_before_mail": gettext_lazy("Wrong codes before an email warns the member"),
    "codes_mails": gettext_lazy("Emails that warn of wrong codes"), "signups": gettext_lazy("Sign-ups"),
    "mails": gettext_lazy("Emails of each kind to one address"),
    "mails_network": gettext_lazy("Password resets and links requested"), "notices": gettext_lazy("Legal notices"),
    "notices_mail": gettext_lazy("Legal notices with one address"),
    "notices_day": gettext_lazy("Legal notices from everyone together"),
    "receipts": gettext_lazy("Receipts of legal notices to one address"),
    **{row.name: gettext_lazy(row.label) for row in extras.limits()},
}  # fmt: skip
"""What each counts, by its name or the beginning of it."""

_GROUPS: tuple[tuple[Any, tuple[Per, ...]], ...] = (
    (gettext_lazy("Each new member"), (Per.NEW_MEMBER,)),
    (gettext_lazy("Each member"), (Per.MEMBER,)),
    (gettext_lazy("Each reader, with or without an account"), (Per.READER,)),
    (gettext_lazy("Each network"), (Per.NETWORK,)),
    (
        gettext_lazy("Passwords, codes and emails of each account"),
        (Per.ACCOUNT, Per.WHOLE_ACCOUNT, Per.OUTSIDE, Per.MAIL_ADDRESS, Per.SITE),
    ),
)
"""Whom limits count."""

_OFF, _NUMBER = "off", re.compile("[1-9][0-9]{0,6}")


def _units(number: str) -> list[tuple[str, str]]:
    """Return the units, in the form that follows this number, and what stands for no limit."""
    n = 1 if number == "1" else 2
    return [
        ("s", npgettext("unit", "second", "seconds", n)), ("m", npgettext("unit", "minute", "minutes", n)),
        ("h", npgettext("unit", "hour", "hours", n)), ("d", npgettext("unit", "day", "days", n)),
        (_OFF, _("No limit")),
    ]  # fmt: skip


def _label(limit: Limit) -> Any:
    return _ACTIONS.get(limit.name) or _ACTIONS[limit.name.partition("_")[0]]


class _RateWidget(forms.MultiWidget):
    """A number of uses, a number of units, and the unit. The value is a rate such as `60/2m`, or `off`."""

    template_name = "owner/rate.html"
    use_fieldset = True

    def __init__(self) -> None:
        super().__init__({
            "uses": forms.NumberInput({"min": 1, "max": 9_999_999, "aria-label": _("Number")}),
            "period": forms.NumberInput({"min": 1, "max": 86_400, "aria-label": _("Period")}),
            "unit": forms.Select({"aria-label": _("Unit")}, choices=_units("")),
        })  # fmt: skip

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        value = self.decompress(value)
        self.widgets[2].choices = _units(value[1])  # type: ignore[attr-defined]
        return super().get_context(name, value, attrs)

    def decompress(self, value: str | None) -> list[Any]:
        if not value or value == _OFF:
            return ["", "", _OFF]
        uses, _slash, period = value.partition("/")
        return [uses, period[:-1], period[-1:]]

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        uses, period, unit = (str(part or "").strip() for part in super().value_from_datadict(data, files, name))
        return _OFF if unit == _OFF else f"{uses}/{period}{unit}"


class _RateField(forms.Field):
    """A rate, or `off`. It is not `required`: without a limit, browsers would ask for a number."""

    widget = _RateWidget
    is_needed_sometimes = True

    def clean(self, value: Any) -> str:
        text = str(value)
        if text == _OFF:
            return text
        if not _NUMBER.fullmatch(text.partition("/")[0]):
            sentence = _("Enter a number from %(low)s to %(high)s.") % {"low": 1, "high": grouped(9_999_999)}
            raise ValidationError(sentence, code="invalid")
        try:
            Rate.parse(text)
        except ValueError:
            sentence = _("Enter a period of at most a day, such as 10 minutes.")
            raise ValidationError(sentence, code="invalid") from None
        return text


def _given(text: str) -> dict[str, str]:
    """Return the rates that a valid text of the setting names."""
    if text == _OFF:
        return {limit.name: _OFF for limit in LIMITS}
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return {name.strip(): rate.strip() for name, _equal, rate in pairs}


def fields() -> dict[str, forms.Field]:
    """Return a field for each limit, by its name in the form."""
    given, is_fixed = _given(choices.text_of(NAME)), NAME in settings.FIXED_SETTINGS
    return {
        f"{NAME}_{limit.name}": _RateField(
            required=False, label=_label(limit), initial=given.get(limit.name, limit.default), disabled=is_fixed
        )
        for limit in LIMITS
    }


def groups(form: forms.Form) -> Iterator[tuple[str, list[BoundField], bool]]:
    """Yield the limits of a form by whom they count: the label, the fields, and whether to show them at once."""
    for label, kinds in _GROUPS:
        found = [form[f"{NAME}_{limit.name}"] for limit in LIMITS if limit.per in kinds]
        yield label, found, kinds == (Per.NEW_MEMBER,) or any(bound.errors for bound in found)


def text_of(values: Mapping[str, Any]) -> str:
    """Return the text of the setting that the values of a form say: those that differ from the defaults."""
    pairs = ((limit, values[f"{NAME}_{limit.name}"]) for limit in LIMITS)
    return ",".join(f"{limit.name}={rate}" for limit, rate in pairs if rate != limit.default)


def in_words(text: str) -> str:
    """Return what a text of the setting says, in the reader's language; "" for the defaults."""
    try:
        limits = rates(without_unknown(text))
    except BadPair:
        return text
    given, words = _given(text), list[str]()
    for label, kinds in _GROUPS:
        for limit in LIMITS:
            if limit.name in given and limit.per in kinds:
                rate = limits.get(limit.name)
                facts = {"n": grouped(rate.uses), "period": duration(rate.seconds)} if rate else {}
                value = _("%(n)s in %(period)s") % facts if rate else _("No limit")
                words.append(f"{label} – {_('%(name)s: %(value)s') % {'name': _label(limit), 'value': value}}")
    return listed(words)

"""The form of a sweep."""

from django import forms
from django.utils.translation import gettext_lazy, ngettext

from articles.forms.fields import reason_field

_DAYS = (1, 7, 30, 365)


def _lengths() -> list[tuple[int, str]]:
    return [(days, ngettext("%(num)s day", "%(num)s days", days) % {"num": days}) for days in _DAYS]


class SweepForm(forms.Form):
    """How many days of a member's articles and comments to remove, and why."""

    days = forms.TypedChoiceField(coerce=int, choices=_lengths, label=gettext_lazy("Posted within the last"))
    reason = reason_field()

"""The form of a sweep."""

from django import forms
from django.utils.translation import gettext_lazy

from articles.forms.fields import day_choices, reason_field


class SweepForm(forms.Form):
    """How many days of a member's articles and comments to remove, and why."""

    days = forms.TypedChoiceField(coerce=int, choices=day_choices, label=gettext_lazy("Posted within the last"))
    reason = reason_field()

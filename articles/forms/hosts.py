"""The form of a blocked host."""

from django import forms
from django.utils.translation import gettext_lazy

from articles.forms.fields import CleanedField, reason_field
from articles.text.links import clean_host


class HostForm(forms.Form):
    """A host, or any link to it, and why it is blocked or no longer blocked."""

    host = CleanedField(
        clean_host,
        label=gettext_lazy("Host"),
        help_text=gettext_lazy("Such as example.org, or a link to it. Its subdomains are blocked, too."),
    )
    reason = reason_field()

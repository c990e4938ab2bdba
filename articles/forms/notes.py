"""The form of a note on a member."""

from django import forms
from django.utils.translation import gettext_lazy

from articles.forms.fields import CleanedField, TextInput
from articles.text.lines import NOTE_LIMIT, clean_note


class NoteForm(forms.Form):
    """A note on a member."""

    text = CleanedField(
        clean_note,
        label=gettext_lazy("Note"),
        help_text=gettext_lazy(
            "On the site, only moderators can see it, but the member's data download contains its text."
        ),
        widget=TextInput(NOTE_LIMIT, {"rows": 4}),
    )

"""The form that redacts texts."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from django import forms
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.domain.moderation.log import Redactable
from articles.forms.fields import Checkboxes, reason_field

PARTS = {
    "title": gettext_lazy("Title"),
    "link": gettext_lazy("Link"),
    "text": gettext_lazy("Text"),
    "reason": gettext_lazy("Reason"),
}
"""What a redacted text was."""

_LONGEST_SHOWN = 500
"""Characters of a text that the form shows."""


class RedactionForm(forms.Form):
    """Which of some texts to redact, and why. Each is chosen by its digest: it may be long, and may change."""

    texts = forms.MultipleChoiceField(
        label=gettext_lazy("What to redact"),
        widget=Checkboxes,
        error_messages={
            "required": gettext_lazy("Choose what to redact."),
            "invalid_choice": gettext_lazy("One of these texts has changed meanwhile. Look at it again."),
        },
    )
    reason = reason_field()

    def __init__(self, *args: Any, texts: Iterable[Redactable], **options: Any) -> None:
        super().__init__(*args, **options)
        self._texts = {_digest(one): one for one in texts}
        self.fields["texts"].choices = [  # type: ignore[attr-defined]
            (digest, _("%(name)s: %(value)s") % {"name": PARTS[one.part], "value": _beginning(one.text)})
            for digest, one in self._texts.items()
        ]

    @property
    def chosen(self) -> list[str]:
        return [self._texts[digest].text for digest in self.cleaned_data["texts"]]


def _digest(one: Redactable) -> str:
    return blake2b(f"{one.part} {one.text}".encode(), digest_size=16).hexdigest()


def _beginning(text: str) -> str:
    return Truncator(text).chars(_LONGEST_SHOWN)

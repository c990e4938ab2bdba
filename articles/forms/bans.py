"""Forms of bans: to ban a member, to lift the ban, to appeal and to answer."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from accounts.models import Ban, BanScope
from articles.forms.fields import CleanedField, LineInput, RadioButtons, TextInput, day_choices, reason_field
from articles.text.lines import APPEAL_LIMIT, REASON_LIMIT, clean_appeal, clean_reason

SCOPES = {
    BanScope.POSTING: gettext_lazy("Posting and commenting"),
    BanScope.VOTING: gettext_lazy("Voting"),
    BanScope.BOTH: gettext_lazy("Posting, commenting and voting"),
}
"""What moderators read of each scope."""


def _lengths() -> list[tuple[int, str]]:
    return [*day_choices(), (0, pgettext("ban", "Without end"))]


class BanForm(forms.Form):
    """What to ban a member from, for how long, and why."""

    scope = forms.ChoiceField(
        choices=[(scope.value, label) for scope, label in SCOPES.items()],
        label=gettext_lazy("Ban from"),
        widget=RadioButtons,
    )
    days = forms.TypedChoiceField(
        coerce=int,
        choices=_lengths,
        initial=7,
        label=pgettext_lazy("ban", "Duration"),
    )
    reason = reason_field()


class AppealForm(forms.Form):
    """What a banned member writes to the moderators about one of several bans."""

    ban = forms.TypedChoiceField(coerce=int, label=gettext_lazy("Which ban"), widget=RadioButtons)
    text = CleanedField(
        clean_appeal,
        label=gettext_lazy("Your appeal"),
        help_text=gettext_lazy("Only moderators can read it. You can send one appeal for each ban."),
        widget=TextInput(APPEAL_LIMIT, {"rows": 6, "dir": "auto"}),
    )

    def __init__(self, bans: Sequence[Ban], data: QueryDict | None = None) -> None:
        super().__init__(data)
        choice = cast(forms.TypedChoiceField, self.fields["ban"])
        choice.choices = [(ban.pk, SCOPES[BanScope(ban.scope)]) for ban in bans]
        if len(bans) == 1:
            choice.initial, choice.disabled, choice.widget = bans[0].pk, True, forms.HiddenInput()


class AnswerForm(forms.Form):
    """A moderator's answer to an appeal."""

    LIFT, KEEP = "lift", "keep"

    decision = forms.ChoiceField(choices=[(one, one) for one in (LIFT, KEEP)])
    answer = CleanedField(clean_reason, label=gettext_lazy("Answer"), widget=LineInput(REASON_LIMIT))

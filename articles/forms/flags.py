"""Forms of flags: to flag an article or a comment, and to decide on flags, of members or of voting rings."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from articles.domain.articles import LATEST
from articles.domain.moderation.flags import FlagReason
from articles.forms.fields import CleanedField, LineInput, RadioButtons
from articles.text.lines import REASON_LIMIT, clean_reason

REASONS = {
    FlagReason.SPAM: pgettext_lazy("reason of a flag", "Spam"),
    FlagReason.OFF_TOPIC: pgettext_lazy("reason of a flag", "Off-topic"),
    FlagReason.BROKEN_LINK: pgettext_lazy("reason of a flag", "Broken link"),
    FlagReason.AGAINST_RULES: pgettext_lazy("reason of a flag", "Against the rules"),
    FlagReason.WITHDRAWAL: pgettext_lazy("reason of a flag", "At the request of its poster"),
}
"""What members read of each reason."""


class FlagForm(forms.Form):
    """What is wrong with an article or a comment."""

    reason = forms.ChoiceField(
        label=gettext_lazy("What is wrong?"),
        widget=RadioButtons,
    )
    words = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Details"),
        help_text=gettext_lazy("Only moderators can read this. Required for “Against the rules”: say which rule."),
        widget=LineInput(REASON_LIMIT),
    )

    def __init__(self, *args: Any, has_link: bool, **options: Any) -> None:
        """`has_link`: whether the reason can be a broken link."""
        super().__init__(*args, **options)
        not_offered = {FlagReason.WITHDRAWAL} | (set() if has_link else {FlagReason.BROKEN_LINK})
        offered = [reason for reason in REASONS if reason not in not_offered]
        choices = [(reason.value, REASONS[reason]) for reason in offered]
        self.fields["reason"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if "reason" in values and self.reason_chosen.needs_words and values.get("words") == "":
            self.add_error("words", _("Say which rule it breaks."))
        return values

    @property
    def reason_chosen(self) -> FlagReason:
        return FlagReason(self.cleaned_data["reason"])


class WithdrawalForm(forms.Form):
    """Why moderators should withdraw the poster's article."""

    reason = forms.ChoiceField(
        choices=[(FlagReason.WITHDRAWAL.value, REASONS[FlagReason.WITHDRAWAL])],
        initial=FlagReason.WITHDRAWAL.value,
        widget=forms.HiddenInput,
    )
    words = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Details"),
        help_text=gettext_lazy("Only moderators can read this."),
        widget=LineInput(REASON_LIMIT),
    )
    reason_chosen = FlagReason.WITHDRAWAL


class DecisionForm(forms.Form):
    """A moderator's decision. `seen`: when the page with the form was made, in Unix seconds.

    `usual`: the reason for a removal if none is typed. Keeping something needs no reason, and takes no other.
    """

    KEEP, REMOVE, BAN = "keep", "remove", "ban"

    subject = forms.IntegerField(min_value=1, max_value=10**22)
    seen = forms.FloatField(min_value=0, max_value=LATEST)
    decision = forms.ChoiceField(choices=[(one, one) for one in (KEEP, REMOVE, BAN)])
    reason = CleanedField(clean_reason, required=False)
    usual = forms.ChoiceField(choices=list(REASONS.items()), required=False)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        decision, usual = values.get("decision"), values.get("usual")
        if decision in (self.REMOVE, self.BAN) and values.get("reason") == "":
            if usual and (decision, usual) != (self.BAN, FlagReason.WITHDRAWAL):
                return values | {"reason": str(REASONS[FlagReason(usual)])}
            self.add_error(
                "reason", _("Give a reason for the removal: everyone can read it in the moderation log.")
            )
        return values


class CheckForm(forms.Form):
    """`seen`: the time of the ring's last vote on the page that has the form, in Unix seconds."""

    seen = forms.FloatField(min_value=0, max_value=LATEST)

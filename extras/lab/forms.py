"""Forms of the ranking lab."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from articles.domain.lists import Order
from articles.domain.ranking import LEAST_WEIGHT, RANGES, RECOMMENDED_GAMMA, Parameters, out_of_range
from articles.formatting.values import significant
from articles.web.forms.fields import reason_field
from extras.lab.formulas import LONGEST, SHORTEST


def plain(value: float) -> str:
    """Return a number for inputs and addresses: integers without a point, others in full precision."""
    return str(int(value)) if value == int(value) else repr(value)


def _widget(step: str, scale: str) -> forms.NumberInput:
    """Return a number input. `scale` spreads the values over a slider: evenly, or finer at the low end."""
    return forms.NumberInput({"step": step, "data-scale": scale, "inputmode": "decimal", "autocomplete": "off"})


def _parameter(name: str, label: Any, step: str, scale: str) -> forms.FloatField:
    low, high = RANGES[name]
    return forms.FloatField(label=label, min_value=low, max_value=high, widget=_widget(step, scale))


class LabForm(forms.Form):
    """The parameters of the ranking, the list to preview, and a half-life instead of γ."""

    list = forms.ChoiceField(
        label=gettext_lazy("List"),
        choices=[(Order.SCORE.value, gettext_lazy("Front page")), (Order.HOT.value, gettext_lazy("Hot list"))],
    )
    votes_per_day = forms.IntegerField(
        label=gettext_lazy("Votes per day"),
        min_value=int(RANGES["votes_per_day"][0]),
        max_value=int(RANGES["votes_per_day"][1]),
        widget=_widget("1", "log"),
    )
    alpha = _parameter("alpha", "α", "0.1", "cubic")
    beta = _parameter("beta", "β", "0.1", "cubic")
    base = _parameter("base", gettext_lazy("Base, in hours"), "0.1", "log")
    gamma = _parameter("gamma", "γ", "0.01", "linear")
    half_life = forms.FloatField(
        label=gettext_lazy("Target half-life, in hours"),
        required=False,
        min_value=SHORTEST,
        max_value=LONGEST,
        help_text=gettext_lazy("Sets γ so that hotness halves in this time."),
        widget=forms.NumberInput({"step": "any", "inputmode": "decimal", "autocomplete": "off"}),
    )

    def __init__(self, given: Mapping[str, Any], current: Parameters) -> None:
        """Take values that are not in `given` from the current parameters, and show the front page."""
        defaults = {name: plain(value) for name, value in asdict(current).items()} | {"list": Order.SCORE.value}
        super().__init__(defaults | {name: given[name] for name in self.base_fields if name in given})
        help_texts = {
            "votes_per_day": _("The number of votes that outweighs one day of age."),
            "alpha": _("Weight of a page view."),
            "beta": _("Weight of a unique visitor."),
            "base": _("Added to the age. The larger it is, the less the first hours matter."),
            "gamma": _("How steeply hotness falls; %(low)s to %(high)s is recommended.")
            % {"low": significant(RECOMMENDED_GAMMA[0]), "high": significant(RECOMMENDED_GAMMA[1])},
        }
        for name, text in help_texts.items():
            low, high = (significant(end, 9) for end in RANGES[name])
            limits = _("From %(low)s to %(high)s.") % {"low": low, "high": high}
            self.fields[name].help_text = _("%(first)s %(second)s") % {"first": text, "second": limits}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("alpha", 1) + values.get("beta", 1) < LEAST_WEIGHT:
            for name in ("alpha", "beta"):
                self.add_error(name, _("α and β must not both be 0: nothing would be hot."))
        return values

    @property
    def parameters(self) -> Parameters:
        """Return the chosen parameters, without the half-life. Only for a valid form."""
        chosen = Parameters(**{name: self.cleaned_data[name] for name in RANGES})
        assert not out_of_range(chosen)
        return chosen

    @property
    def order(self) -> Order:
        """Return the chosen list, by default the front page."""
        return Order.HOT if self.cleaned_data.get("list") == Order.HOT.value else Order.SCORE


class ApplyForm(forms.Form):
    """The reason for applying parameters, and the version that was current when they were chosen."""

    reason = reason_field()
    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)


class RollbackForm(forms.Form):
    """The current version, and the version to return to, by default the one before."""

    version = forms.IntegerField(min_value=1)
    to = forms.IntegerField(min_value=1, required=False)

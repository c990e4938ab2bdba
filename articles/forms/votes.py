"""The form of a vote."""

from django import forms

from articles.domain.articles import Choice


class ChoiceForm(forms.Form):
    """A vote. `choice` is a target state."""

    choice = forms.ChoiceField(choices=[(choice.value, choice.name) for choice in Choice])

    @property
    def choice_made(self) -> Choice:
        return Choice(self.cleaned_data["choice"])

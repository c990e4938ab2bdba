"""The form of a vote."""

from django import forms

from articles.domain.articles import Choice


class ChoiceForm(forms.Form):
    """The member's choice on an article. It is a target state, so sending it again changes nothing."""

    choice = forms.ChoiceField(choices=[(choice.value, choice.name) for choice in Choice])

    @property
    def choice_made(self) -> Choice:
        return Choice(self.cleaned_data["choice"])

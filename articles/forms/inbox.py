"""The form that marks an inbox as read."""

from django import forms


class ReadForm(forms.Form):
    """The time up to which the inbox was read, in Unix seconds: later notices stay new."""

    until = forms.FloatField(min_value=0, widget=forms.HiddenInput)

"""The form that marks a voting ring as checked."""

from django import forms

from articles.domain.articles import LATEST


class CheckForm(forms.Form):
    """`seen`: the time of the ring's last vote on the page that has the form, in Unix seconds."""

    seen = forms.FloatField(min_value=0, max_value=LATEST)

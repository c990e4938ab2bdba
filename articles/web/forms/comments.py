"""Forms to write and edit a comment."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from articles.text.lines import clean_comment
from articles.web.forms.fields import CleanedField, PreviewedForm


class _TextForm(PreviewedForm):
    """The text of a comment."""

    text = CleanedField(
        clean_comment,
        label=gettext_lazy("Comment"),
        help_text=gettext_lazy("You can use Markdown: *emphasis*, `code`, > quotation, and lists."),
        widget=forms.Textarea({"rows": 5}),
    )


class EditCommentForm(_TextForm):
    """The text of a comment that is edited."""

    def __init__(self, data: Any = None, *, text: str) -> None:
        super().__init__(data, initial={"text": text})
        self.current_text = text


class CommentForm(_TextForm):
    """A new comment; `parent` is the id of the comment that it replies to, if any."""

    parent = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

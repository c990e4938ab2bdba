"""Forms to post, edit, remove and restore an article."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from articles.domain.articles import CONTENT, Article, Content
from articles.domain.lists import Group
from articles.domain.rules import Rules
from articles.formatting.values import grouped
from articles.text.lines import TEXT_LIMIT, TITLE_LIMIT, InvalidInput, clean_text, clean_title
from articles.text.links import clean_link
from articles.text.refusals import input_sentence
from articles.web.forms import fields


class ContentForm(fields.PreviewedForm):
    """Title, link and text of an article: at least one of link and text."""

    link = fields.CleanedField(
        clean_link,
        required=False,
        label=gettext_lazy("Link"),
        widget=forms.URLInput({"placeholder": "https://", "autocomplete": "off"}),
    )
    title = fields.CleanedField(
        clean_title, label=gettext_lazy("Title"), widget=fields.LineInput(TITLE_LIMIT, {"autocomplete": "off"})
    )
    text = fields.CleanedField(
        clean_text,
        required=False,
        label=gettext_lazy("Text"),
        help_text=gettext_lazy("A summary of the link, or the article itself. You can use Markdown."),
        widget=fields.TextInput(TEXT_LIMIT, {"rows": 8, "dir": "auto"}),
    )

    current_link = ""

    @property
    def content(self) -> Content:
        """The clean content of a valid form."""
        return Content(**{name: self.cleaned_data[name] for name in CONTENT})

    def clean_link(self) -> str:
        link = self.cleaned_data["link"]
        if not link:
            return ""
        with fields.cleaning():
            return fields.clean_article_link(link, current=self.current_link)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("link") == "" and values.get("text") == "":
            self.add_error("link", input_sentence(InvalidInput("article-empty")))
        return values


class PostForm(ContentForm):
    """A new article, with up to five of the existing groups, if there are any."""

    folded = ("text", "groups")  # fields that are shown on demand
    groups = fields.GroupsField(label=gettext_lazy("Groups"), required=False)

    def __init__(self, data: Any = None, *, groups: Sequence[Group], rules: Rules, **options: Any) -> None:
        super().__init__(data, **options)
        most, hours = rules.max_groups_by_poster, rules.repost_window // 3600
        self.fields["link"].help_text = ngettext(
            "If the link was posted in the last %(hours)s hour, you are taken to the existing article.",
            "If the link was posted in the last %(hours)s hours, you are taken to the existing article.",
            hours,
        ) % {"hours": grouped(hours)}
        self.fields["link"].widget.attrs["data-known"] = reverse("articles:known_link") + "?link="
        if not groups:
            self.fields["groups"].widget = forms.MultipleHiddenInput()
            return
        self.fields["groups"].help_text = _("You can choose up to %(most)s.") % {"most": grouped(most)}
        self.fields["groups"].offer(groups, most=most)  # type: ignore[attr-defined]


class EditForm(ContentForm):
    """Title, link and text of an article; posters can change its groups, moderators can give a reason.

    `was` holds the groups when the form was rendered, so that a concurrent change of a moderator stays.
    """

    groups = fields.GroupsField(label=gettext_lazy("Groups"), required=False)
    reason = fields.reason_field(required=False)
    was = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, data: Any = None, *, article: Article, groups: Sequence[Group], most_groups: int, moderator: bool
    ) -> None:
        """`groups`: those that a poster can choose from; none if the editor is not the poster."""
        super().__init__(
            data, initial=article.written | {"groups": article.groups, "was": ",".join(article.groups)}
        )
        self.current_link, self.current_text, self._current = article.link, article.text, article.groups
        self.fields["groups"].help_text = _("You can choose up to %(most)s.") % {"most": grouped(most_groups)}
        self.fields["groups"].offer(groups, article.groups, most_groups)  # type: ignore[attr-defined]
        names = {group.slug: group.title for group in groups}
        self.folded = {"groups": ", ".join(names.get(slug, slug) for slug in article.groups), "reason": ""}
        if not groups:
            del self.fields["groups"], self.fields["was"]
        if not moderator:
            del self.fields["reason"]

    def clean_groups(self) -> list[str]:
        """Return the slugs. A form without the field, which every browser sends, leaves the groups unchanged."""
        return list(self.cleaned_data["groups"] if "groups" in self.data else self._current)

    @property
    def changes(self) -> tuple[list[str], list[str]]:
        """Return the groups to join, and the groups to leave."""
        if "groups" not in self.fields:
            return [], []
        before = self.cleaned_data["was"].split(",") if "was" in self.data else list(self._current)
        after = self.cleaned_data["groups"]
        return [slug for slug in after if slug not in before], [slug for slug in before if slug not in after]


_CLEANING: Mapping[str, Callable[[str, str], str]] = {
    "title": lambda raw, _current: clean_title(raw),
    "text": lambda raw, current: fields.check_links(clean_text(raw), current=current),
    "link": lambda raw, current: fields.clean_article_link(raw, current=current) if raw else "",
}


def clean_content(given: Any, before: Content | None = None) -> Content:
    """Return a program's content as attributes; for None, that of an edited article. Raises InvalidInput."""
    content = before.written if before else dict.fromkeys(CONTENT, "")
    for name, clean in _CLEANING.items():
        if (raw := getattr(given, name)) is not None:
            content[name] = clean(raw, content[name])
    if not content["link"] and not content["text"]:
        raise InvalidInput("article-empty")
    return Content(**content)


class ReasonForm(forms.Form):
    """The reason for removing or restoring an article."""

    reason = fields.reason_field()

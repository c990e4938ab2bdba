"""Moderators' forms for groups."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from articles.domain.lists import EVERYONE, MEMBERS, Group
from articles.text import lines
from articles.text.slugs import slug_from_title
from articles.web.forms import fields


class TakeOutForm(forms.Form):
    """Out of which groups an article is taken, and why."""

    groups = forms.MultipleChoiceField(label=gettext_lazy("Take it out of"), widget=fields.Checkboxes)
    reason = fields.reason_field()

    def __init__(self, data: Any = None, *, groups: Mapping[str, str]) -> None:
        """`groups`: titles by slug."""
        super().__init__(data, initial={"groups": list(groups) if len(groups) == 1 else []})
        self.fields["groups"].choices = list(groups.items())  # type: ignore[attr-defined]


class AssignForm(forms.Form):
    """The groups of an article: checkboxes, typed names, and a group to create.

    `was` holds the groups when the form was rendered, so that concurrent changes of two moderators are merged.
    """

    folded = ("reason",)
    groups = fields.GroupsField(label=gettext_lazy("Groups"), required=False)
    new_group = fields.CleanedField(
        lines.clean_group_title,
        required=False,
        label=gettext_lazy("New group"),
        help_text=gettext_lazy("Title of a new group; its address is derived from it."),
        widget=fields.LineInput(lines.GROUP_TITLE_LIMIT),
    )
    reason = fields.reason_field(required=False)
    was = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, groups: Sequence[Group], current: Sequence[str]) -> None:
        super().__init__(data, initial={"groups": list(current), "was": ",".join(current)})
        self._current, self._known = current, {group.slug: group.title for group in groups}
        self.fields["groups"].offer(groups, always=current)  # type: ignore[attr-defined]
        self.fields["groups"].help_text = _("Tick groups, or type their names.")

    def clean_groups(self) -> list[str]:
        """Return the slugs. A form without the field, which every browser sends, does not empty the groups."""
        if "groups" not in self.data:
            raise ValidationError(_("The form was incomplete. Please choose the groups again."), code="incomplete")
        return list(self.cleaned_data["groups"])

    def clean_new_group(self) -> str:
        """Return the title. That of an existing group chooses it, so that the form can be resubmitted."""
        title: str = self.cleaned_data["new_group"]
        return title if title in self._known.values() else _check_new_group(title, self._known)

    @property
    def new(self) -> dict[str, str]:
        """Return the title of the group to create by its slug; {} if there is none."""
        title = self.cleaned_data["new_group"]
        return {self._slug_of(title): title} if title else {}

    def _slug_of(self, title: str) -> str:
        slugs = (slug for slug, other in self._known.items() if other == title)
        return next(slugs, None) or slug_from_title(title)

    @property
    def changes(self) -> tuple[list[str], list[str]]:
        """Return the groups to add, and the groups to remove."""
        before = self.cleaned_data["was"].split(",") if "was" in self.data else list(self._current)
        after = [*self.cleaned_data["groups"], *self.new]
        return [s for s in after if s not in before], [s for s in before if s and s not in after]


def _check_new_group(title: str, known: Mapping[str, str]) -> str:
    """Return the title if a group can have it. `known` holds titles by slug. Raises ValidationError."""
    if title:
        if not (slug := slug_from_title(title)):
            raise ValidationError(_("This title can’t be turned into an address. Use letters or digits."))
        _refuse_taken(title, slug, known)
    return title


def _refuse_taken(title: str, slug: str, known: Mapping[str, str]) -> None:
    """Raise ValidationError if a known group has this title, or the slug that is made from it."""
    if slug in known or title.casefold() in {other.casefold() for other in known.values()}:
        raise ValidationError(_("There is already a group with this name."), code="taken")


class _DescribedForm(forms.Form):
    """The description of a group."""

    description = fields.CleanedField(
        lines.clean_group_description,
        required=False,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy("What belongs here, in a few sentences. You can use Markdown."),
        widget=fields.TextInput(lines.GROUP_DESCRIPTION_LIMIT, {"rows": 5, "dir": "auto"}),
    )
    _current = ""

    def clean_description(self) -> str:
        with fields.cleaning():
            return fields.check_links(self.cleaned_data["description"], current=self._current)


class _SeenForm(forms.Form):
    """Who sees a group."""

    visible = forms.ChoiceField(
        label=gettext_lazy("Who sees the group and its articles"),
        choices=[
            (EVERYONE, pgettext_lazy("who sees a group", "Everyone")),
            (MEMBERS, pgettext_lazy("who sees a group", "Members only")),
        ],
        initial=EVERYONE,
        widget=forms.RadioSelect,
    )


class GroupForm(_DescribedForm, _SeenForm):
    """A new group. Without an answer, everyone sees it."""

    title = fields.CleanedField(
        lines.clean_group_title, label=gettext_lazy("Title"), widget=fields.LineInput(lines.GROUP_TITLE_LIMIT)
    )
    field_order = ("title", "description", "visible")

    def __init__(self, *args: Any, known: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._known = known
        self.fields["visible"].required = False
        fields.needed_sometimes(self, "visible")

    def clean_title(self) -> str:
        return _check_new_group(self.cleaned_data["title"], self._known)

    @property
    def slug(self) -> str:
        """Return the slug of the new group."""
        return slug_from_title(self.cleaned_data["title"])


class EditForm(_DescribedForm):
    """Another title and description for a group. A form that lacks one of them leaves it."""

    folded = ("reason",)
    title = fields.CleanedField(
        lines.clean_group_title,
        label=gettext_lazy("Title"),
        help_text=gettext_lazy("The group’s address stays the same."),
        widget=fields.LineInput(lines.GROUP_TITLE_LIMIT),
    )
    reason = fields.reason_field(required=False)
    field_order = ("title", "description", "reason")

    def __init__(self, data: Any = None, *, group: Group, groups: Sequence[Group], description: str = "") -> None:
        super().__init__(data, initial={"title": group.title, "description": description})
        self._others = {other.slug: other.title for other in groups if other.slug != group.slug}
        self._current = description
        for name in self.initial.keys() - data.keys() if data else ():
            self.fields[name].disabled = True

    def clean_title(self) -> str:
        title: str = self.cleaned_data["title"]
        _refuse_taken(title, slug_from_title(title), self._others)  # "" is no group's
        return title


class VisibilityForm(_SeenForm):
    """Who sees an existing group."""

    folded = ("reason",)
    reason = fields.reason_field(required=False)

    def __init__(self, data: Any = None, *, visible: str) -> None:
        super().__init__(data, prefix="show", initial={"visible": visible})


class MergeForm(forms.Form):
    """The group into which another group is merged."""

    folded = ("reason",)
    into = forms.CharField(label=gettext_lazy("Merge into"))
    reason = fields.reason_field(required=False)
    sure = forms.BooleanField(
        label=gettext_lazy("I understand that this cannot be undone"),
        error_messages={"required": gettext_lazy("Tick this box to merge the groups.")},
    )

    def __init__(self, data: Any = None, *, others: Mapping[str, str]) -> None:
        """`others`: what the form calls the other groups, by slug."""
        super().__init__(data, prefix="merge")
        self._known = others
        self.fields["into"].widget = forms.Select(choices=[("", "—"), *others.items()])

    def clean_into(self) -> str:
        into: str = self.cleaned_data["into"]
        fields.check_groups([into], self._known)
        return into

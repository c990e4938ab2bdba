"""Form fields that clean their input, with errors in the reader's language, and the one check of posted links."""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext
from markupsafe import Markup

from articles.domain.lists import Group
from articles.formatting.values import as_shown, grouped, listed
from articles.site import find_block
from articles.text.lines import REASON_LIMIT, STEPS, UNREAD_FACTOR, InvalidInput, clean_reason, clean_token_name
from articles.text.links import clean_posted_link
from articles.text.markdown import links_in, render
from articles.text.refusals import input_sentence
from articles.text.slugs import SLUGS_PER_REQUEST, clean_slug
from articles.web.wiring import html_of


def clean_article_link(raw: str, *, current: str = "") -> str:
    """Return the link as stored. `current`: the link of an edited article, which may stay.

    Raises InvalidInput, including with "link-private", and with "link-blocked" if an administrator blocked its
    host.
    """
    link = clean_posted_link(raw, current=current, allow_private=settings.ALLOW_PRIVATE_LINKS)
    if link != current:
        _refuse_blocked(link)
    return link


def check_links(text: str, *, current: str = "") -> str:
    """Return a clean text in Markdown. `current`: the text that is edited, whose links may stay.

    Raises InvalidInput with "link-blocked" if a link leads to a host that an administrator blocked.
    """
    if links := _links_of(text):
        known = set(_links_of(current))
        for link in links:
            if link not in known:
                _refuse_blocked(link)
    return text


def _links_of(text: str) -> list[str]:
    return links_in(render(text, private_links=settings.ALLOW_PRIVATE_LINKS))


def _refuse_blocked(link: str) -> None:
    """Raise InvalidInput if the clean link leads to a blocked host."""
    if block := find_block(link):
        host, reason = block
        raise InvalidInput("link-blocked", host=host, reason=as_shown(reason).rstrip(".。"))


MOST_GROUP_BOXES = 40  # maximum number of checkboxes, for the largest groups; names of other groups are typed
_MOST_SUGGESTED = 200  # maximum number of titles of other groups that a browser suggests while a member types
_COMMA = re.compile(r"[,;，、；\n]")


@contextmanager
def cleaning() -> Iterator[None]:
    """Turn the refusal of what is cleaned inside into an error of the field."""
    try:
        yield
    except InvalidInput as refused:
        raise ValidationError(input_sentence(refused), code=refused.code) from refused


class CleanedField(forms.CharField):
    """A line or a text cleaned by a function of `articles.text`, whose InvalidInput becomes the field's error."""

    def __init__(self, clean: Callable[[str], str], **options: Any) -> None:
        super().__init__(strip=False, **options)
        self._clean_raw = clean

    def clean(self, value: Any) -> str:
        raw = str(self.to_python(value) or "")
        if not self.required and not raw.strip():
            return ""
        with cleaning():
            return self._clean_raw(raw)


def needed_sometimes(form: forms.Form, *names: str) -> None:
    """Do not call these fields optional: other answers decide whether they are. Their help says which."""
    for name in names:
        vars(form.fields[name])["is_needed_sometimes"] = True


class _Counted(forms.Widget):
    """An input whose characters static/js/posting.js counts, after the steps that clean them.

    It has no `maxlength`: browsers count an emoji as two or more characters, and truncate pasted text silently.
    """

    _steps = "[]"
    _unread_factor = 1

    def __init__(self, limit: int, attrs: Mapping[str, Any] | None = None) -> None:
        super().__init__(dict(attrs or {}))
        self._limit = limit

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        counter_attrs = {
            "data-counter": _("%(n)s of %(limit)s characters") % {"n": "{n}", "limit": "{limit}"},
            "data-limit": self._limit,
            "data-unread": self._unread_factor * self._limit,
            "data-steps": self._steps,
        }
        return super().get_context(name, value, dict(attrs or {}) | counter_attrs)


class LineInput(_Counted, forms.TextInput):
    """A line, counted as `articles.text.lines.clean_line` cleans it."""

    _steps = json.dumps(STEPS)
    _unread_factor = UNREAD_FACTOR


class TextInput(_Counted, forms.Textarea):
    """Several lines, counted as they are typed."""


class GroupsWidget(forms.Widget):
    """Checkboxes for the groups on offer, and a text input for the others. All are sent under one field name."""

    template_name = "groups/widget.html"
    use_fieldset = True

    def __init__(self) -> None:
        super().__init__()
        self.offered: Sequence[Group] = ()
        self.others: Mapping[str, str] = {}
        """What other groups are typed as, by slug, the largest first: titles, or slugs if those have commas."""

    def value_from_datadict(self, data: Mapping[str, Any], _files: Any, name: str) -> list[str]:
        return list(data.getlist(name)) if hasattr(data, "getlist") else list(data.get(name, ()))

    def id_for_label(self, id_: str, index: Any = None) -> str:  # noqa: ARG002 - Django's signature
        return id_

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        chosen = list(value or ())
        offered_slugs = {group.slug for group in self.offered}
        context["widget"] |= {
            "offered": self.offered,
            "chosen": set(chosen),
            "others": list(islice(self.others.values(), _MOST_SUGGESTED)),
            "typed": ", ".join(
                self.others.get(name, name) for name in chosen if name and name not in offered_slugs
            ),
        }
        return context

    def format_value(self, value: Any) -> Any:
        return value


def _folded(title: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(title.split())).casefold()


class GroupsField(forms.Field):
    """Slugs of groups, each once, in the order given. What is typed are titles, or slugs."""

    widget = GroupsWidget
    _slugs: Mapping[str, str] = {}
    _known: Collection[str] = ()
    _most: int | None = None

    def offer(self, groups: Sequence[Group], always: Collection[str] = (), most: int | None = None) -> None:
        """Offer the largest of these groups as checkboxes, and those in `always`; the others by their titles.

        At most `most` can be chosen, but as many as there are in `always`.
        """
        by_size = sorted(groups, key=lambda group: -group.articles)
        largest = by_size[:MOST_GROUP_BOXES]
        more = [group for group in groups if group.slug in always and group not in largest]
        offered = sorted([*largest, *more], key=lambda group: group.title.casefold())
        others = [group for group in by_size if group not in offered]
        self.widget.offered = offered
        self.widget.others = {one.slug: one.slug if _COMMA.search(one.title) else one.title for one in others}
        self._slugs = {_folded(group.title): group.slug for group in groups}
        self._known = {*(group.slug for group in groups), *always}
        self._most = None if most is None else max(most, len(always))

    def withhold(self, slugs: Collection[str]) -> None:
        """Offer none of these groups. A form that names one of them is still valid."""
        widget: Any = self.widget
        widget.offered = [group for group in widget.offered if group.slug not in slugs]
        widget.others = {slug: title for slug, title in widget.others.items() if slug not in slugs}

    def _names_in(self, line: str) -> list[str]:
        """Return the groups of a line, which are between commas; a title may have spaces, and slugs have none."""
        names: list[str] = []
        for part in [line] if _folded(line) in self._slugs else _COMMA.split(line):
            slug = self._slugs.get(_folded(part))
            names += [slug] if slug else [self._slugs.get(_folded(word), word) for word in part.split()]
        return names

    def clean(self, value: Any) -> list[str]:
        names = [name for line in value or () for name in self._names_in(str(line)[:2000])]
        if len(names) > SLUGS_PER_REQUEST:
            raise ValidationError(_("Too many groups."))
        slugs, problems = list[str](), []
        for name in names:
            try:
                slugs.append(clean_slug(name))
            except InvalidInput as refused:
                problems.append(
                    ValidationError(
                        _("“%(name)s”: %(problem)s") % {"name": name[:40], "problem": input_sentence(refused)},
                        code=refused.code,
                    )
                )
        if problems:
            raise ValidationError(problems)
        slugs = list(dict.fromkeys(slugs))
        check_groups(slugs, self._known, self._most)
        return slugs


class PreviewedForm(forms.Form):
    """A form with a text in Markdown, which it can show before it is processed."""

    current_text = ""  # the text that is edited, if any: its links may stay

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["text"].widget.attrs["data-preview"] = reverse("articles:preview")

    def clean_text(self) -> str:
        with cleaning():
            return check_links(self.cleaned_data["text"], current=self.current_text)

    def preview(self, request: HttpRequest) -> Markup | None:
        """Return the HTML of the text if the member asks for a preview; the form is not processed then.

        None, with an error, if the text is refused. Other fields keep what was typed, without errors.
        """
        if request.method != "POST" or "preview" not in request.POST:
            return None
        for name in [name for name in self.errors if name != "text"]:
            del self.errors[name]
        return None if self.errors else html_of(self.cleaned_data["text"])


def clean_token_label(name: str) -> str:
    """Clean the name of a personal token, for `accounts.names`. Raises ValidationError."""
    return CleanedField(clean_token_name).clean(name)


def check_groups(slugs: Collection[str], known: Collection[str], most: int | None = None) -> None:
    """Raise ValidationError for slugs that are not `known`, or for more than `most`."""
    if unknown := [slug for slug in slugs if slug not in known]:
        message = _("There is no group named %(names)s.") % {"names": listed(unknown)}
        raise ValidationError(message, code="unknown-group")
    if most is not None and len(slugs) > most:
        message = _("Choose at most %(most)s groups.") % {"most": grouped(most)}
        raise ValidationError(message, code="too-many-groups")


def day_choices() -> list[tuple[int, str]]:
    """Return the numbers of days that moderators can choose from, with their labels."""
    return [(days, ngettext("%(num)s day", "%(num)s days", days) % {"num": days}) for days in (1, 7, 30, 365)]


def reason_field(*, required: bool = True) -> CleanedField:
    """Return the field for a moderator's reason, which is public."""
    return CleanedField(
        clean_reason,
        required=required,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("Everyone can read it in the moderation log."),
        widget=LineInput(REASON_LIMIT),
    )


class _OneFocus(forms.widgets.ChoiceWidget):
    """Gives only the first button `autofocus`: a page may have one such element."""

    def create_option(self, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(*args, **options)
        if option["index"] != "0":
            option["attrs"].pop("autofocus", None)
        return option


class RadioButtons(_OneFocus, forms.RadioSelect):
    """Radio buttons."""


class Checkboxes(_OneFocus, forms.CheckboxSelectMultiple):
    """Checkboxes, of which several can be chosen."""

"""The index of groups, and forms with which moderators create, rename and merge them."""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _, ngettext, pgettext
from django.views.decorators.http import require_safe
from markupsafe import Markup

from accounts.moderators import ASSIGN_GROUPS
from accounts.web import sent_forms
from accounts.web.form_pages import page_with_form, show_form, show_next
from articles.domain.errors import GroupExists, GroupNotFound
from articles.domain.lists import MEMBERS, Group
from articles.domain.moderation_log import Action
from articles.formatting.kept import drawn
from articles.formatting.values import grouped
from articles.text.lines import InvalidInput
from articles.text.refusals import action_sentence, input_sentence
from articles.views.lists.headings import Tab, Tabs
from articles.views.lists.search import typed_words
from articles.web.context import in_brief
from articles.web.form_answers import just_done
from articles.web.forms.groups import EditForm, GroupForm, MergeForm, VisibilityForm
from articles.web.groups import liveliness, merge, option_title, set_visibility, visibility_of
from articles.web.identity import actor, needs
from articles.web.rights import acting, may
from articles.web.wiring import repository

MOST_WITHOUT_SEARCH = 30  # groups up to which the index has no search box


class IndexedGroup(NamedTuple):
    """A group in the index. `latest_at`: when its latest article was posted, in Unix seconds; 0 for none."""

    group: Group
    about: str
    followers: int
    latest_at: float

    def has(self, words: str) -> bool:
        """Return whether title, name or description have these words, in lower case."""
        return any(words in text.casefold() for text in (self.group.title, self.group.slug, self.about))


_ORDERS: Mapping[str, Callable[[IndexedGroup], tuple[object, ...]]] = {
    "activity": lambda one: (-one.latest_at, *one.group.sort_key),
    "name": lambda one: (one.group.title.casefold(), one.group.slug),
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Show all groups, or those with the words `?q=`. Two round trips; see `articles.web.groups` for more.

    `?any=a&any=b` redirects to the list of the articles in any of these groups.
    """
    chosen, order = set(request.GET.getlist("any")), request.GET.get("order", "activity")
    groups = sorted(repository().groups.list_all(with_descriptions=True), key=lambda group: group.sort_key)
    if slugs := [group.slug for group in groups if group.slug in chosen]:
        rest = request.GET.copy()
        rest.pop("any")
        query = f"?{rest.urlencode()}" if rest else ""
        return redirect(reverse("articles:group", args=["+".join(slugs)]) + query)
    if order not in _ORDERS:
        raise Http404("no such order")
    words, lively = typed_words(request).strip(), liveliness()
    found = (
        IndexedGroup(
            one, in_brief(one.description), lively.followers.get(one.slug, 0), lively.latest.get(one.slug, 0)
        )
        for one in groups
    )
    context = {
        "groups": sorted((one for one in found if one.has(words.casefold())), key=_ORDERS[order]),
        "order": order,
        "orders": _order_tabs(order, words),
        "q": words,
        "is_searched": len(groups) > MOST_WITHOUT_SEARCH or words != "",
    }
    return render(request, "groups/groups.html", context)


def _order_tabs(current: str, words: str) -> Tabs:
    labels = {"activity": _("Latest article"), "name": pgettext("order of groups", "Name")}
    tabs = (
        Tab(label, "?" + urlencode({"order": name} | ({"q": words} if words else {})), name == current)
        for name, label in labels.items()
    )
    return Tabs(_("Order"), tuple(tabs))


def facts_of(slug: str) -> Markup:
    """Return how lively a group is, for the page of its articles."""
    lively = liveliness()
    facts = {
        "followers": lively.followers.get(slug, 0),
        "latest_at": lively.latest.get(slug, 0),
        "moderators": lively.moderators.get(slug, ()),
    }
    return drawn("groups/facts.html", facts)


@page_with_form
@needs(ASSIGN_GROUPS, carries=["title", "description", "visible"])
def create(request: HttpRequest) -> HttpResponse:
    """Create a group, and offer the form for the next one."""
    form = GroupForm(request.POST or None, known=repository().groups.get_titles())
    if request.method == "POST" and form.is_valid():
        try:
            repository().groups.create(form.slug, form.cleaned_data["title"], actor(request))
        except GroupExists as taken:  # by a concurrent request
            form.add_error("title", ValidationError(action_sentence(taken), code="taken"))
        else:
            return _created(request, form.slug, form)
    if slug := _just_created(request, form):
        return _created(request, slug, form)
    return show_form(request, "groups/create.html", form)


def _just_created(request: HttpRequest, form: GroupForm) -> str:
    """Return the slug of the group that this same form created a moment ago; "" if it did not."""
    if not form.has_error("title", "taken") or len(form.errors) > 1:
        return ""
    title = form.fields["title"].clean(form.data["title"])
    done = just_done(repository(), request, Action.CREATE_GROUP)
    return next((entry.details["slug"] for entry in done if entry.title == title), "")


def _created(request: HttpRequest, slug: str, form: GroupForm) -> HttpResponse:
    """Complete a group that this form has created."""
    given, moderator = form.cleaned_data, actor(request)
    if given["visible"] == MEMBERS:
        set_visibility(slug, moderator, "", is_closed=True)
    if given["description"]:
        repository().groups.describe(slug, given["description"], moderator)
    title = form.fields["title"].clean(form.data["title"])
    link = format_html('<a href="{}" dir="auto">{}</a>', reverse("articles:group", args=[slug]), title)
    told = _("The group %(group)s has been created. You can create another one.")
    return show_next(request, format_html(told % {"group": "{}"}, link), "articles:create_group")


_FIELDS = ("title", "description", "reason", "show-visible", "show-reason", "merge-into", "merge-reason")
_FOR_SITE = ("show", "merge")  # forms of moderators of the whole site


@page_with_form
@needs(ASSIGN_GROUPS, in_groups=True, carries=_FIELDS)
def manage(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a group's title and description, or its readers, or merge it, as the button of the form says.

    Its moderators can do the first.
    """
    acting(request, ASSIGN_GROUPS, [slug])
    repo = repository()
    groups = repo.groups.list_all()
    group = next((group for group in groups if group.slug == slug), None)
    if group is None:
        raise GroupNotFound(slug, moved_to=repo.groups.get_targets([slug]).get(slug))
    sent = next((button for button in _FOR_SITE if button in request.POST), "edit")
    may_all = may(request.user, ASSIGN_GROUPS)
    if sent in _FOR_SITE and not may_all:
        raise PermissionDenied
    data = {sent: request.POST or None}
    description = repo.groups.get_descriptions([slug]).get(slug, "")
    edit_form = EditForm(data.get("edit"), group=group, groups=groups, description=description)
    others = {one.slug: option_title(one.slug, one.title) for one in groups if one.slug != slug}
    merge_form = MergeForm(data.get("merge"), others=others)
    show_form = VisibilityForm(data.get("show"), visible=visibility_of(slug))
    forms = {"edit": edit_form, "show": show_form, "merge": merge_form}
    if request.method == "POST" and forms[sent].is_valid():
        try:
            return _change(request, group, sent, forms[sent])
        except GroupExists as taken:  # by a concurrent request
            edit_form.add_error("title", action_sentence(taken))
        except InvalidInput as refused:
            merge_form.add_error("into", input_sentence(refused))
    sent_forms.refill(request, *forms.values())
    context = {"group": group, "may_all": may_all} | {f"{name}_form": form for name, form in forms.items()}
    return render(request, "groups/manage.html", context, status=400 if forms[sent].errors else 200)


def _change(request: HttpRequest, group: Group, what: str, form: Form) -> HttpResponse:
    """Change a group as its form says. Raises GroupExists, InvalidInput."""
    groups, slug, values = repository().groups, group.slug, form.cleaned_data
    moderator, reason = acting(request, ASSIGN_GROUPS, [slug]), values["reason"]
    match what:
        case "edit":
            if "title" in form.changed_data:
                groups.rename(slug, values["title"], moderator, reason)
            if "description" in form.changed_data:
                groups.describe(slug, values["description"], moderator, reason)
            told = _("The group has been saved.")
        case "show":
            set_visibility(slug, moderator, reason, is_closed=values["visible"] == MEMBERS)
            told = _("Who sees the group has been saved.")
        case _merge:
            slug, moved = values["into"], merge(slug, values["into"], moderator, reason)
            text = ngettext("%(n)s article has been moved.", "%(n)s articles have been moved.", moved)
            told = text % {"n": grouped(moved)}
    return show_next(request, told, "articles:group", slug)

"""Pages on which members, and administrators for the site, add webhooks, and see what was delivered."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils.translation import get_language, gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.web.form_pages import (
    ButtonText,
    MemberRequest,
    View,
    form_action,
    members_only,
    page_with_form,
    show_form,
    show_next,
)
from articles.configuration.choices import chosen
from articles.configuration.encryption import KeyChanged
from articles.views.owner.administrator import administrators_only
from articles.web.forms.fields import Checkboxes
from articles.web.groups import group_options
from articles.web.wiring import repository
from extras.webhooks import bodies, events, sending
from extras.webhooks.models import LOGGED, MOST_WEBHOOKS, Delivery, Webhook, WebhookLimitError
from outgoing.fetching import NotFetched, checked
from tasks import TaskQueueFull

_MOST_POINTS = 1_000_000
_LONGEST_ADDRESS = 1_000
_FIRST_EVENTS, _FIRST_POINTS = (events.POSTED,), 10

STATES = {
    Delivery.WAITING: pgettext_lazy("delivery", "waiting"),
    Delivery.DONE: pgettext_lazy("delivery", "delivered"),
    Delivery.FAILED: pgettext_lazy("delivery", "failed"),
}
PROBLEMS = {
    "off": gettext_lazy("The webhook was off."),
    "full": gettext_lazy("Too many deliveries waited."),
    "removed": gettext_lazy("It was removed before it could be sent."),
    "key": gettext_lazy("The site’s secret key has changed: add the webhook again."),
    "slow": gettext_lazy("The server did not answer in time."),
    "tls": gettext_lazy("The connection was not secure."),
    "broken": gettext_lazy("The response was not valid."),
    **dict.fromkeys(("not-public", "port", "address"), gettext_lazy("The address is not public.")),
    "unreachable": gettext_lazy("The server could not be reached."),
}
"""Why a delivery got no response; codes of `outgoing.fetching.NotFetched` among them."""

_FULL = gettext_lazy("Too many deliveries wait. Please try again later.")

OFF_BECAUSE = {
    "": gettext_lazy("You switched this webhook off."),
    "gone": gettext_lazy("This webhook is off: the server answered that the address is gone (410)."),
    "failing": gettext_lazy("This webhook is off: all deliveries failed for a day."),
    "key": gettext_lazy("This webhook is off: the site’s secret key has changed. Remove it, and add it again."),
}


class EventsForm(forms.Form):
    """The events and groups of a webhook."""

    events = forms.MultipleChoiceField(
        label=gettext_lazy("Send when"), choices=[*events.EVENTS.items()], widget=Checkboxes
    )
    points = forms.IntegerField(
        label=gettext_lazy("Points"),
        min_value=1,
        max_value=_MOST_POINTS,
        initial=_FIRST_POINTS,
        help_text=gettext_lazy("Of articles that are posted from now on."),
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Only these groups"),
        required=False,
        widget=Checkboxes,
        help_text=gettext_lazy(
            "None selected: all groups that everyone can read. What is in a group for members is sent only if it "
            "is selected."
        ),
    )

    def __init__(self, data: Any = None, webhook: Webhook | None = None) -> None:
        initial: dict[str, Any] = {"events": list(_FIRST_EVENTS)}
        if webhook:
            initial = {"events": webhook.event_list, "points": webhook.points, "groups": webhook.slugs}
        super().__init__(data, initial=initial)
        titles = group_options()
        chosen_groups = [title for slug, title in titles if slug in initial.get("groups", ())]
        self.folded = {"points": str(initial.get("points", _FIRST_POINTS)), "groups": ", ".join(chosen_groups)}
        field: Any = self.fields["groups"]
        field.choices = titles
        if not titles:
            del self.fields["groups"]

    @property
    def facts(self) -> dict[str, Any]:
        """The columns that a valid form fills."""
        wanted = self.cleaned_data
        return {
            "events": ",".join(wanted["events"]),
            "points": wanted["points"],
            "groups": ",".join(wanted.get("groups", ())),
        }


class WebhookForm(EventsForm):
    """A new webhook."""

    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=_LONGEST_ADDRESS,
        help_text=gettext_lazy("An https address on the public internet. It is stored encrypted."),
        widget=forms.URLInput,
    )
    form = forms.ChoiceField(label=gettext_lazy("Format"), choices=[*bodies.FORMS.items()])
    field_order = ("address", "form", "events", "points", "groups")

    def clean_address(self) -> str:
        try:
            url = checked(self.cleaned_data["address"].strip(), private_hosts=settings.WEBHOOK_HOSTS, https=True)
        except NotFetched:
            raise ValidationError(
                _("Enter an https address on the public internet, without a user name.")
            ) from None
        self.host = url.hostname
        return str(url.href)


def _owned(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a view have the owner: the member, or None for the site's webhooks, which administrators have.

    A fresh proof is needed: the pages show what signs, and send out what the member can read. Raises Http404.
    """

    @members_only(proof=True)
    def with_owner(request: MemberRequest, of_site: bool, **rest: Any) -> HttpResponse:
        if chosen.WEBHOOKS == "off" or not (of_site or chosen.WEBHOOKS == "members"):
            raise Http404("no webhooks")
        return view(request, None if of_site else request.user, of_site=of_site, **rest)

    of_the_site = administrators_only(with_owner)

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, of_site: bool, **rest: Any) -> HttpResponse:
        return (of_the_site if of_site else with_owner)(request, of_site=of_site, **rest)

    vars(guarded)["is_for_members"] = True
    return guarded


def _found(owner: User | None, number: int) -> Webhook:
    return get_object_or_404(Webhook, user=owner, pk=number)


@page_with_form
@_owned
def index(request: MemberRequest, owner: User | None, of_site: bool) -> HttpResponse:
    """Show the webhooks, and add one."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = _added(form, owner)
        except WebhookLimitError as limit:
            own = _("You have %(count)s webhooks, which is the limit. Remove one first.")
            of_all = _("The members of this site have as many webhooks as are possible. Ask an administrator.")
            form.add_error(None, of_all if limit.args else own % {"count": MOST_WEBHOOKS})
        else:
            return show_next(request, _("The webhook has been added."), _page(request, of_site, made.pk))
    context = {"webhooks": Webhook.objects.filter(user=owner), "of_site": of_site, "FORMS": bodies.FORMS}
    return show_form(request, "webhooks/index.html", form, **context)


def _added(form: WebhookForm, owner: User | None) -> Webhook:
    facts = form.facts | {"form": form.cleaned_data["form"], "language": get_language() or ""}
    facts["since"] = repository().store.now()
    sending.begin(repository())
    return Webhook.objects.add(owner, form.cleaned_data["address"], form.host, **facts)


@page_with_form
@_owned
def show(request: MemberRequest, owner: User | None, of_site: bool, webhook_id: int) -> HttpResponse:
    """Show a webhook and its deliveries, and change its events and groups."""
    webhook = _found(owner, webhook_id)
    form = EventsForm(request.POST if request.method == "POST" else None, webhook)
    if form.is_valid():
        Webhook.objects.filter(pk=webhook.pk).update(**form.facts)
        return show_next(request, _("The webhook has been changed."), _page(request, of_site, webhook.pk))
    try:
        secret = webhook.read_secret()
    except KeyChanged:
        secret = None
    context = {
        "webhook": webhook,
        "secret": secret,
        "key": bodies.KEY_PREFIX + secret.keys[0] if secret else "",
        "label": bodies.FORMS[webhook.form],
        "is_signed": webhook.form == bodies.STANDARD,
        "of_site": of_site,
        "deliveries": [_shown(one) for one in webhook.deliveries.exclude(body="")[:LOGGED]],
        "off_because": OFF_BECAUSE.get(webhook.off_because, ""),
    }
    return show_form(request, "webhooks/webhook.html", form, **context)


def _shown(one: Delivery) -> dict[str, Any]:
    happened = bodies.Happened.from_text(one.body)
    return {
        "id": one.pk,
        "at": one.added_at.timestamp(),
        "type": one.event,
        "line": happened.line,
        "address": happened.address,
        "state": STATES[one.state],
        "status": one.status,
        "problem": PROBLEMS.get(one.problem, one.problem),
        "is_waiting": one.state == Delivery.WAITING,
    }


def _page(_request: HttpRequest, of_site: bool, webhook_id: int, **_rest: object) -> str:
    return reverse(f"articles:{'owner_' if of_site else ''}webhook", args=[webhook_id])


def _act(button: ButtonText) -> Callable[[Callable[..., None]], View]:
    """Let a view do something with a webhook, and lead back to its page."""

    def decorate(act: Callable[..., None]) -> View:
        @form_action(page=_page, button=button)
        @_owned
        @wraps(act)
        def acting(
            request: MemberRequest, owner: User | None, of_site: bool, webhook_id: int, **rest: Any
        ) -> HttpResponse:
            act(request, _found(owner, webhook_id), **rest)
            return redirect(_page(request, of_site, webhook_id))

        return acting

    return decorate


@_act(gettext_lazy("Change the key"))
def rotate(request: MemberRequest, webhook: Webhook) -> None:
    """Give a webhook a new key; the old one signs, too, for a day."""
    try:
        webhook.rotate()
    except KeyChanged:
        messages.error(request, str(PROBLEMS["key"]))
    else:
        messages.success(request, _("The key has changed. For a day, deliveries are signed with both keys."))


@_act(gettext_lazy("Send a test"))
def test(request: MemberRequest, webhook: Webhook) -> None:
    try:
        sending.test(webhook)
    except TaskQueueFull:
        messages.error(request, _FULL)
    else:
        messages.success(request, _("A test has been sent. Reload this page to see whether it arrived."))


@_act(gettext_lazy("Send again"))
def replay(request: MemberRequest, webhook: Webhook, delivery_id: int) -> None:
    """Deliver something again."""
    try:
        if sending.replay(get_object_or_404(Delivery, webhook=webhook, pk=delivery_id)):
            messages.success(request, _("It is sent again. Reload this page to see whether it arrived."))
    except TaskQueueFull:
        messages.error(request, _FULL)


@_act(gettext_lazy("Switch on or off"))
def switch(request: MemberRequest, webhook: Webhook) -> None:
    """Switch a webhook on or off, as the field `on` says. Idempotent."""
    is_on = request.POST.get("on") == "1"
    webhook.switch(on=is_on)
    messages.success(request, _("The webhook is on.") if is_on else _("The webhook is off."))


@form_action(page=_page, button=gettext_lazy("Remove"))
@_owned
def remove(request: MemberRequest, owner: User | None, of_site: bool, webhook_id: int) -> HttpResponse:
    """Remove a webhook, with its deliveries. Idempotent."""
    Webhook.objects.filter(user=owner, pk=webhook_id).delete()
    to = "articles:owner_webhooks" if of_site else "articles:webhooks"
    return show_next(request, _("The webhook has been removed."), to)


_PAGES = (
    ("", index, "webhooks"),
    ("<int:webhook_id>/", show, "webhook"),
    ("<int:webhook_id>/key/", rotate, "rotate_webhook"),
    ("<int:webhook_id>/test/", test, "test_webhook"),
    ("<int:webhook_id>/switch/", switch, "switch_webhook"),
    ("<int:webhook_id>/remove/", remove, "remove_webhook"),
    ("<int:webhook_id>/deliveries/<int:delivery_id>/", replay, "replay_delivery"),
)

urlpatterns = [
    path(f"{root}/webhooks/{place}", view, {"of_site": of_site}, name=f"{'owner_' if of_site else ''}{name}")
    for root, of_site in (("settings", False), ("administration", True))
    for place, view, name in _PAGES
]

"""Pages of moving in: the sitemap of old addresses, and the claims of accounts. No page of these is cached."""

from contextlib import suppress
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import account_deletion
from accounts.forms import DeleteAccountForm, NewPasswordForm
from accounts.mail import is_dropped, mail_origin
from accounts.models import User
from accounts.moderators import BAN_MEMBERS
from accounts.sign_in.arrival import PASSWORD, arrive
from accounts.web import sent_forms
from accounts.web.form_pages import page_with_form, private_act, show_form, show_next
from accounts.web.login_intent import LoginIntent
from articles.domain.errors import FellowModerator
from articles.domain.moderation_log import Action
from articles.formatting.kept import drawn
from articles.views.crawlers import MOST_IN_A_FILE
from articles.web.caching import CRAWLER_SECONDS
from articles.web.error_pages import ACCOUNTS_AWAY
from articles.web.identity import actor, member_named, needs
from articles.web.rights import may
from articles.web.wiring import repository
from extras.moving_in import addresses, claims
from extras.moving_in.models import Arrival, FollowedFeed
from moderation.subjects import page_of, reason_in
from tasks import TaskQueueFull, add


def _parts() -> int:
    return -(-(Arrival.objects.aggregate(last=Max("pk"))["last"] or 0) // MOST_IN_A_FILE)


def sitemaps() -> list[str]:
    """Return the paths of the parts. One query, none without a former host."""
    if not settings.OLD_HOSTS:
        return []
    return [reverse("articles:old_addresses", args=[number + 1]) for number in range(_parts())]


@require_safe
def old_addresses(request: HttpRequest, number: int) -> HttpResponse:
    """Return part `number` of the sitemap of old addresses, which lead crawlers to the new ones."""
    if not 0 < number <= _parts():
        raise Http404(f"part {number}")
    lines = addresses.describe_part(request, number, MOST_IN_A_FILE)
    response = HttpResponse("\n".join(lines), content_type="application/xml; charset=utf-8")
    patch_cache_control(response, public=True, max_age=CRAWLER_SECONDS)
    return response


# Parts of the core's pages


def draw(place: str, request: HttpRequest, **facts: Any) -> str:
    """Return what a place of one of the core's pages shows of accounts that wait. One query at most."""
    match place:
        case "held":
            if not FollowedFeed.objects.filter(member=facts["member"]).exists():
                return ""
        case "newcomer":
            found = claims.waiting().filter(address__iexact=facts["address"]) if facts["address"] else ()
            facts["links"] = [(one, claims.path_of(one, one.address)) for one in found]
        case "member" | "moderation":
            member = facts["member"]
            facts["moved"] = claims.waiting().filter(user=member).first() if member.imported else None
            facts["may_send"] = place == "moderation" and _may_send(member, request.user)
        case "login" | "sign_up" | "password_reset":
            with suppress(*ACCOUNTS_AWAY):  # the login page needs no account
                facts["sources"] = claims.sources()
        case _:
            return ""
    return drawn("moving_in/places.html", {"place": place, "sources": [], **facts}, request)


# Claims


class AskForm(forms.Form):
    """Ask for the link to an account that waits. The limits of mails count what the field has."""

    email = forms.CharField(
        label=gettext_lazy("Your old name or email address"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "email", "autocapitalize": "none", "spellcheck": "false"}),
    )


class AddressForm(forms.Form):
    email = forms.EmailField(max_length=254, required=False)


@never_cache
@page_with_form
def ask(request: HttpRequest) -> HttpResponse:
    """Mail a link to the owner of an account. The answer does not show whether there is one."""
    if not (sources := claims.sources()):
        raise Http404("no account waits")
    form = AskForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return show_form(request, "moving_in/ask.html", form, sources=sources, passwords=settings.PASSWORDS)
    claims.send_links(request, form.cleaned_data["email"])
    if not is_dropped():
        messages.success(request, _("If an unclaimed account matches, we’ve sent a link to its email address."))
    return redirect("articles:claim")


class LeaveForm(DeleteAccountForm):
    posts = forms.BooleanField(
        label=gettext_lazy("Delete its comments as well, and withdraw its articles"), required=False
    )


@sensitive_post_parameters()
@never_cache
@page_with_form
def claim(request: HttpRequest, token: str) -> HttpResponse:
    """Give an account that waits to the holder of the link, with a password, or delete it.

    Who has come from a provider, or on a site without passwords, gets it without one.
    """
    number, address = claims.read(token)
    moved = claims.waiting().filter(pk=number).first()
    if moved is None:
        if number and request.user.pk == number and not sent_forms.is_stale(request):
            return redirect(settings.LOGIN_REDIRECT_URL)  # the form arrives twice
        return render(request, "moving_in/claim.html", {"moved": None}, status=404)
    member, intent = moved.user, LoginIntent.from_request(request)
    typed, leaves = request.POST if request.method == "POST" else None, "name" in request.POST
    leaving = LeaveForm(typed if leaves else None, member=member)
    takes_password = settings.PASSWORDS and not intent.connect
    data = None if leaves else typed
    form: Any = NewPasswordForm(member, data) if takes_password else forms.Form(data)
    if leaving.is_valid() and _delete(member, leaving):
        posts = leaving.cleaned_data["posts"]
        told = (
            _("The account and what it posted are being deleted.") if posts else _("The account has been deleted.")
        )
        return show_next(request, told, "/")
    if form.is_valid() and _claim(member, address, form):
        messages.success(
            request, _("Welcome back, %(name)s. The account is yours now.") % {"name": member.get_username()}
        )
        return arrive(request, member, intent if takes_password or intent.connect else _TO_WAYS_IN, PASSWORD)
    context = {"moved": moved, "address": address, "intent": intent, "leaving": leaving}
    return show_form(request, "moving_in/claim.html", form, takes_password=takes_password, **context)


def _may_send(member: User, moderator: Any) -> bool:
    """Return whether the moderator gives away the account, as `moderation.members.may_reset_second_factor`."""
    return may(moderator, BAN_MEMBERS) and (moderator.is_superuser or not member.is_moderator)


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Send the link"))
def send_claim(request: HttpRequest, name: str) -> HttpResponse:
    """Mail the link to the address that a moderator types, or show it to be handed over."""
    member, form = member_named(name), AddressForm(request.POST)
    if not _may_send(member, request.user):
        raise FellowModerator
    moved = claims.waiting().filter(user=member).first()
    if not form.is_valid():
        messages.error(request, _("Enter a valid email address."))
    elif moved and (reason := reason_in(request)):
        details = {"account": str(member.pk)}
        repository().moderation_log.note(Action.SEND_CLAIM, actor(request), "", reason, details)
        if to := form.cleaned_data["email"]:
            claims.send_links(request, to, member.pk)
            messages.success(request, _("We’ve sent the link to %(email)s.") % {"email": to})
        else:
            text = _("Hand this link over. It works once, within %(days)s days: %(link)s")
            link = mail_origin(request) + claims.path_of(moved, "")
            messages.success(request, text % {"days": claims.DAYS, "link": link})
    return redirect(page_of(request, name))


_TO_WAYS_IN = LoginIntent(next="/settings/security/")


def _claim(member: User, address: str, form: Any) -> bool:
    """Give the account to its owner, with this address and a password; return False if someone else was faster.

    Where the owner chooses none, the old one ends as well.
    """
    if isinstance(form, NewPasswordForm):
        form.save(commit=False)  # hashes the password outside the transaction
    else:
        member.set_unusable_password()
    if address:
        member.email = member.verified_email = User.objects.normalize_email(address)
    with transaction.atomic():
        if not claims.take(member):
            return False
        member.save(update_fields=["password", "email", "verified_email"])
    return True


def _delete(member: User, form: LeaveForm) -> bool:
    """Delete the account, or let a task do it with what it posted; return False if someone else was faster."""
    try:
        with transaction.atomic():
            if not claims.take(member):
                return False
            if form.cleaned_data["posts"]:
                User.objects.filter(pk=member.pk).update(password=make_password(None))
                add(claims.leave_with_posts, member.pk)
            else:
                account_deletion.begin(member.pk)
    except TaskQueueFull:
        form.add_error(None, _("Too much is waiting to be done here. Try again later."))
        return False
    account_deletion.advance_briefly()
    return True


urlpatterns = [
    path("users/<str:name>/moderation/claim/", send_claim, name="send_claim"),
    path("claim/", ask, name="claim"),
    path("claim/<str:token>/", claim, name="claim_by_link"),
    path("sitemap-old-addresses-<int:number>.xml", old_addresses, name="old_addresses"),
]

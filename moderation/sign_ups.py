"""The moderators' page of sign-ups: accounts that wait for approval."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts import account_deletion
from accounts.models import User, WaitingAccount
from accounts.moderators import REMOVE_ARTICLES
from accounts.web import sent_forms
from accounts.web.form_pages import ask_once, private_act, private_page
from articles.domain.moderation_log import Action
from articles.web.identity import actor, needs
from articles.web.rights import may_see_inviters
from articles.web.wiring import repository


@private_page(needs(REMOVE_ARTICLES))
def index(request: HttpRequest) -> HttpResponse:
    waiting = WaitingAccount.objects.select_related("user__invitation__inviter")
    context = {"waiting": waiting, "shows_inviters": may_see_inviters(request)}
    return render(request, "moderation/sign_ups.html", context)


def _button(request: HttpRequest) -> str:
    return _("Approve") if "approve" in sent_forms.sent(request) else _("Decline")


@private_act(needs(REMOVE_ARTICLES), page="articles:sign_ups", button=_button)
@transaction.atomic
def decide(request: HttpRequest) -> HttpResponse:
    """Approve a waiting account, or decline it, which deletes it. A form that arrives twice succeeds.

    The log has no name of a declined account: the account is deleted.
    """
    is_approval = "approve" in request.POST
    number = request.POST.get("approve") or request.POST.get("decline") or ""
    if not number.isdecimal():
        return redirect("articles:sign_ups")
    account = int(number[:15])
    waiting = WaitingAccount.objects.filter(pk=account).first()
    if waiting is not None and not is_approval:
        name = waiting.user.get_username()
        question = ask_once(
            request,
            _("Decline %(name)s?") % {"name": name},
            _("The account is deleted, and its name cannot be used again. This cannot be undone."),
            _("Decline and delete"),
        )
        if question:
            return question
    if waiting is not None and waiting.end():
        if is_approval:
            waiting.approve()
        else:
            account_deletion.begin(account)
            transaction.on_commit(account_deletion.advance_briefly)
            log = repository().moderation_log
            log.note(Action.DECLINE_SIGN_UP, actor(request), "", "", {"account": str(account)})
    _tell(request, account, is_approval=is_approval)
    return redirect("articles:sign_ups")


def _tell(request: HttpRequest, account: int, *, is_approval: bool) -> None:
    """Tell the moderator the decision on an account, which another moderator may have made before."""
    is_approved = User.objects.filter(pk=account, left_at=None).exists()
    if is_approved != is_approval:
        if is_approved:
            messages.error(request, _("Another moderator has approved this account already."))
        else:
            messages.error(request, _("Another moderator has declined this account already. It is deleted."))
    elif is_approved:
        messages.success(request, _("The account has been approved."))
    else:
        messages.success(request, _("The sign-up has been declined and the account deleted."))

"""Appeals: banned members write to the moderators, who answer."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import Ban
from accounts.moderators import BAN_MEMBERS
from accounts.web import unsent_form
from accounts.web.form_pages import MemberRequest, form_action, members_only, page_with_form
from articles.forms.bans import SCOPES, AnswerForm, AppealForm
from articles.web.identity import actor, needs
from articles.web.moderation.bans import lift_ban
from articles.web.moderation.conflicts import check_not_own


@never_cache
@page_with_form
@members_only(carries=["ban", "text"])
def appeal(request: MemberRequest) -> HttpResponse:
    """Show the member's current bans and the last changed one, with appeals and answers; send an appeal, once."""
    bans = Ban.objects.list_latest(request.user)
    open_bans, appealed = [one for one in bans if one.may_be_appealed], [one for one in bans if one.appealed_at]
    form = AppealForm(open_bans, request.POST or None)
    number = request.POST.get("ban", "")
    is_repeated = number in {str(one.pk) for one in appealed} or bool(appealed and not open_bans)
    if request.method == "POST" and not (open_bans or is_repeated):
        raise PermissionDenied
    if request.method == "POST" and (is_repeated or form.is_valid()):
        if not is_repeated:
            open_ban = Ban.objects.filter(pk=form.cleaned_data["ban"], appealed_at=None)
            open_ban.update(appeal=form.cleaned_data["text"], appealed_at=timezone.now())
        messages.success(request, _("The moderators have received your appeal. Their answer will appear here."))
        return redirect("articles:appeal")
    unsent_form.refill(request, form)
    context = {
        "bans": [one for one in bans if one.is_current or one == bans[0]],
        "form": form,
        "may_appeal": bool(open_bans),
        "scopes": SCOPES,
    }
    return render(request, "bans/appeal.html", context, status=400 if form.errors else 200)


def _queue(_request: HttpRequest, **_address: Any) -> str:
    return reverse("articles:queue")


@never_cache
@form_action(page=_queue, button=lambda *_address, **_named: _("Answer"))
@needs(BAN_MEMBERS)
def answer(request: HttpRequest, ban_id: int) -> HttpResponse:
    """Answer an appeal by lifting the ban or keeping it. A form that arrives twice succeeds."""
    form, ban = AnswerForm(request.POST), get_object_or_404(Ban.objects.select_related("member"), pk=ban_id)
    check_not_own(ban.member_id, actor(request).id)
    if not form.is_valid():
        messages.error(request, _("Write an answer first: the member will read it."))
        return redirect("articles:queue")
    text = form.cleaned_data["answer"]
    lifts = form.cleaned_data["decision"] == AnswerForm.LIFT
    with transaction.atomic():
        if Ban.objects.answer(ban, text) and lifts:
            lift_ban(ban, "", actor(request), after_appeal=True)
    ban.refresh_from_db()
    if ban.answer == text and lifts == (ban.lifted_at is not None):
        messages.success(request, _("The answer has been sent."))
    elif ban.answered_at:
        told = _("Another moderator has already answered this appeal: “%(answer)s”")
        messages.error(request, told % {"answer": ban.answer})
    else:
        messages.error(request, _("The ban has ended already, so your answer was not sent."))
    return redirect("articles:queue")

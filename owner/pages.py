"""The owner's pages that only show something or try it: all steps, email, backups."""

import time

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_safe

from accounts.web.form_pages import form_action
from articles.doctor.examination import Level
from articles.doctor.mail import is_sent, send_test
from owner import choices
from owner.administrator import administrators_only
from owner.steps import DISMISSED, MAIL_TESTED, last_backup, steps


@require_safe
@administrators_only
def administration(request: HttpRequest) -> HttpResponse:
    """Show the six steps, and the way to what is done rarely."""
    return render(request, "owner/administration.html", {"steps": list(steps())})


@form_action(page="articles:administration", button=gettext_lazy("Hide this list"))
@administrators_only
def dismiss(request: HttpRequest) -> HttpResponse:
    choices.save(DISMISSED, "yes")
    messages.success(request, _("You can find the list under Administration, in the menu of your account."))
    return redirect("articles:front")


@require_safe
@administrators_only
def mail(request: HttpRequest) -> HttpResponse:
    context = {"is_sent": is_sent(), "sender": settings.DEFAULT_FROM_EMAIL, "tested": choices.note_of(MAIL_TESTED)}
    return render(request, "owner/mail.html", context)


@form_action(page="articles:owner_mail", button=gettext_lazy("Send a test email"))
@administrators_only
def test_mail(request: HttpRequest) -> HttpResponse:
    """Let a mail be sent to the administrator's own address, and say what the mail server answered."""
    address = request.user.email  # type: ignore[union-attr]
    if address and is_sent():
        finding = send_test(address)
        if finding.level is Level.FINE:
            choices.save(MAIL_TESTED, str(int(time.time())))
            accepted = _("The mail server has accepted the email to %(address)s. Look whether it arrives.")
            messages.success(request, accepted % {"address": address})
        elif finding.detail:
            failed = _("The email could not be sent: %(answer)s. Check EMAIL_URL and EMAIL_FROM.")
            messages.error(request, failed % {"answer": finding.detail.rstrip(".")})
        else:
            messages.error(request, f"{finding.text} {finding.advice}")
    return redirect("articles:owner_mail")


@require_safe
@administrators_only
def backups(request: HttpRequest) -> HttpResponse:
    context = {"folder": settings.BACKUP_DIR, "age": last_backup(), "kept": settings.BACKUP_KEEP}
    return render(request, "owner/backup.html", context)

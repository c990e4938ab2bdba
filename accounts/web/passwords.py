"""Passwords with which members confirm a change. They are logged and limited like those of logins."""

from django.contrib.auth.signals import user_login_failed
from django.dispatch import Signal
from django.forms import BaseForm
from django.http import HttpRequest

password_confirmed = Signal()
"""Sent with `request` when a member's own password was right."""


def note_password(request: HttpRequest, form: BaseForm, field: str = "password") -> None:
    """Report whether the password in this field of a validated form was right."""
    if field in form.cleaned_data:
        password_confirmed.send(sender=type(form), request=request)
    elif form.data.get(field):
        credentials = {"username": request.user.get_username()}
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)

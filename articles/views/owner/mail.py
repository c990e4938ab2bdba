"""Email: administrators choose the mail server, unless the environment sets it, and try it.

Links to new passwords pass through that server, so the page asks for a fresh proof, and a saved password goes
only to the server for which it was typed. The server may be in a private network, as mail servers mostly are:
SMTP sends nothing before the other side has greeted, and pages show its answers, or why there are none.
"""

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from accounts.mail import is_sent
from accounts.web.form_pages import members_only, private_act, private_form, show_form, show_next
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.doctor.examination import Level
from articles.doctor.mail import send_test
from articles.views.owner.administrator import administrators_only
from articles.views.owner.settings import choose
from articles.views.owner.steps import MAIL_TESTED
from articles.web.forms.fields import RadioButtons
from articles.web.identity import actor

_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_SCHEMES = {"starttls": "smtp+tls", "tls": "smtp+ssl", "none": "smtp"}
_SERVER = ("host", "port", "security", "user")


class MailForm(forms.Form):
    """The mail server and the sender: those of the two that the environment does not set."""

    host = forms.CharField(
        label=gettext_lazy("Server"),
        max_length=253,
        help_text=gettext_lazy("Its name, as your mail provider says: for example smtp.example.org."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    port = forms.IntegerField(label=gettext_lazy("Port"), min_value=1, max_value=65535, initial=587)
    security = forms.ChoiceField(
        label=gettext_lazy("Encryption"),
        choices=[
            ("starttls", gettext_lazy("STARTTLS, mostly on port 587")),
            ("tls", gettext_lazy("TLS, mostly on port 465")),
            ("none", gettext_lazy("None: only inside your own network")),
        ],
        initial="starttls",
        widget=RadioButtons,
    )
    user = forms.CharField(
        label=gettext_lazy("User name"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        strip=False,
        max_length=200,
        help_text=gettext_lazy("It is stored encrypted."),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    sender = forms.CharField(
        label=gettext_lazy("Sender"),
        max_length=200,
        help_text=gettext_lazy("An address from which the server lets you send."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        if has_own := "EMAIL_URL" in settings.FIXED_SETTINGS:
            for name in (*_SERVER, "password"):
                del self.fields[name]
        if "EMAIL_FROM" in settings.FIXED_SETTINGS:
            del self.fields["sender"]
        elif (sender := chosen.EMAIL_FROM) != settings.BROWSER_SETTINGS["EMAIL_FROM"].default:
            self.initial["sender"] = sender
        elif host := urlsplit(settings.SITE_URL).hostname:
            self.initial["sender"] = f"noreply@{host}"
        self._saved = {} if has_own else _saved()
        self.initial.update(self._saved)
        if self._saved.get("user"):
            self.fields["password"].help_text = _("It is stored encrypted. Leave it empty to keep the saved one.")

    def clean_host(self) -> str:
        host: str = self.cleaned_data["host"].strip("[]").lower()
        if not _HOST.fullmatch(host):
            raise ValidationError(_("Enter the name of a server, without a port."), code="host")
        return host

    def clean_sender(self) -> str:
        sender: str = self.cleaned_data["sender"]
        try:
            settings.BROWSER_SETTINGS["EMAIL_FROM"].parse(sender)
        except ImproperlyConfigured:
            raise ValidationError(_("Enter a valid email address."), code="sender") from None
        return sender

    def clean(self) -> None:
        given, password = self.cleaned_data, self.cleaned_data.get("password", "")
        told = _("Enter the password again: the saved one is kept only for the same server and user.")
        for name in ("user", "password"):
            if not given.get(name, "").isascii():
                self.add_error(name, _("Use only letters without accents, digits and common signs."))
        if given.get("user") and not password and not self.errors:
            if self._saved != {name: given[name] for name in _SERVER}:
                self.add_error("password", told)
            else:
                given["password"] = chosen.EMAIL_URL["EMAIL_HOST_PASSWORD"]

    @property
    def changes(self) -> dict[str, str]:
        """Return the texts to save by the names of the settings, of those that differ."""
        given, texts = self.cleaned_data, dict[str, str]()
        if "host" in given:
            login = f"{quote(given['user'], '')}:{quote(given['password'], '')}@" if given["user"] else ""
            host = f"[{given['host']}]" if ":" in given["host"] else given["host"]
            texts["EMAIL_URL"] = f"{_SCHEMES[given['security']]}://{login}{host}:{given['port']}"
        if "sender" in given:
            texts["EMAIL_FROM"] = given["sender"]
        return {name: text for name, text in texts.items() if text != choices.text_of(name)}


def _saved() -> dict[str, Any]:
    """Return the fields of the server that was chosen here, without its password; {} if none was."""
    if not (own := chosen.EMAIL_URL):
        return {}
    security = "starttls" if own.get("EMAIL_USE_TLS") else "tls" if own.get("EMAIL_USE_SSL") else "none"
    facts = (own["EMAIL_HOST"], own["EMAIL_PORT"], security, own["EMAIL_HOST_USER"] or "")
    return dict(zip(_SERVER, facts, strict=True))


@sensitive_post_parameters("password")
@private_form(administrators_only)
@members_only(carries=(*_SERVER, "sender"), proof=True)
def page(request: HttpRequest) -> HttpResponse:
    """Show how mail is sent; let an administrator choose the mail server, or none."""
    form = MailForm(request.POST or None)
    if "remove" in request.POST and _saved():
        return _chosen(request, {"EMAIL_URL": ""}, _("The site no longer sends emails."))
    if request.method == "POST" and form.fields and form.is_valid():
        told = _("Saved. Now send a test email to see whether it arrives.")
        return _chosen(request, form.changes, told)
    context = {
        "is_sent": is_sent(),
        "is_own": bool(_saved()),
        "fixed": [name for name in ("EMAIL_URL", "EMAIL_FROM") if name in settings.FIXED_SETTINGS],
        "sender": chosen.EMAIL_FROM,
        "tested": choices.note_of(MAIL_TESTED),
    }
    return show_form(request, "owner/mail.html", form, **context)


def _chosen(request: HttpRequest, changes: Mapping[str, str], told: str) -> HttpResponse:
    choose(changes, actor(request))
    if changes:
        choices.save(MAIL_TESTED, "")
    return show_next(request, told, "articles:owner_mail")


@private_act(administrators_only, page="articles:owner_mail", button=gettext_lazy("Send a test email"))
def test(request: HttpRequest) -> HttpResponse:
    """Let a mail be sent to the administrator's own address, and say what the mail server answered."""
    address = request.user.email  # type: ignore[union-attr]
    if address and is_sent():
        finding = send_test(address)
        if finding.level is Level.FINE:
            choices.save(MAIL_TESTED, str(int(time.time())))
            accepted = _("The mail server has accepted the email to %(address)s. Look whether it arrives.")
            messages.success(request, accepted % {"address": address})
        elif finding.detail:
            messages.error(request, _("The email could not be sent: %(answer)s") % {"answer": finding.detail})
        else:
            messages.error(request, f"{finding.text} {finding.advice}")
    return redirect("articles:owner_mail")

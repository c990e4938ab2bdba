"""Forms for members: sign-up, login, password, email, tokens.

Django's forms are generic for mypy only, not at run time: hence `ignore[type-arg]`.
"""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import forms as auth_forms
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.module_loading import import_string
from django.utils.translation import get_language, gettext_lazy as _, override, pgettext_lazy
from django_tasks import task

from accounts import names
from accounts.mail import Kind, Letter, letter, mail_origin, send_now
from accounts.models import LOOKS_TAKEN, NAME_RULE, Invitation, Token, User, WaitingAccount
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.name_characters import is_one_script
from accounts.sign_in.changes import Change, tell_change
from accounts.web import sent_forms
from articles.configuration.choices import chosen
from tasks import MAIL, TaskQueueFull, add

_log = logging.getLogger(__name__)

_TAKEN = _("This name is taken.")
_WRONG = _("Incorrect username or password.")
_EMAIL_USE = _("Used to reset your password, and for the emails you turn on. We’ll send a link to verify it.")


_PASSWORD_RULE = _("At least %(count)s characters, not only digits, and hard to guess.")


class _PasswordHelp(forms.BaseForm):
    """Say in a line what a new password takes: an error says the rule that one breaks."""

    new_password = "password1"  # noqa: S105 - a field's name

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.new_password in self.fields:
            rule = _PASSWORD_RULE % {"count": MinimumLengthValidator().min_length}
            self.fields[self.new_password].help_text = rule

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:  # noqa: ARG002
        """Report a weak password at its own field, not at the field that repeats it."""
        super().validate_password_for_user(user, self.new_password)  # type: ignore[misc]


class LoginForm(auth_forms.AuthenticationForm):
    """Log in. One message covers every cause, so it does not reveal which names exist."""

    error_messages = {"invalid_login": _WRONG, "inactive": _WRONG}

    def get_invalid_login_error(self) -> ValidationError:
        """Return the message. Only a reader with the right password learns that the account waits for approval."""
        name, password = (self.cleaned_data.get(field) or "" for field in ("username", "password"))
        if WaitingAccount.find(name, password):
            return ValidationError(_("A moderator has to approve your account first."), code="waiting")
        return super().get_invalid_login_error()


def _name_problem(name: str) -> Any:
    """Return the rule of the form's help text that the name breaks; '' if none."""
    takes_any = settings.NAMES == "any"
    if names.is_permitted(name, settings.NAMES):
        return ""
    if len(name) < names.MIN_LENGTH:
        return _("This name is too short.")
    if takes_any and not name[0].isalpha():
        return _("The name must start with a letter.")
    if not takes_any and not (name[0].isascii() and name[0].isalpha()):
        return _("The name must start with a letter from a to z.")
    if takes_any and not is_one_script(name):
        return _("The name mixes letters of several languages, which could be mistaken for each other.")
    return _("The name contains characters that are not allowed.")


class _InvitationUsedError(Exception):
    """A concurrent sign-up used the invitation."""


class SignUpForm(_PasswordHelp, auth_forms.BaseUserCreationForm):  # type: ignore[type-arg]
    """Create an account; without a password where none could be used."""

    accepts_reserved = False
    left_out: Collection[str] = ()  # fields that the form does not have
    waits = False  # whether a rule wants a moderator to approve the account, for its name

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": auth_forms.UsernameField}
        widgets = {"email": forms.EmailInput(attrs={"autocomplete": "email"})}
        help_texts = {"username": NAME_RULE, "email": _EMAIL_USE}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.left_out or (() if settings.PASSWORDS else ("password1", "password2")):
            del self.fields[name]

    def set_password_and_save(self, user: User, *args: Any, **kwargs: Any) -> User:
        if "password1" in self.fields:
            return super().set_password_and_save(user, *args, **kwargs)  # type: ignore[misc,no-any-return]
        user.set_unusable_password()
        return user  # which `create` saves

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if problem := _name_problem(username):
            raise ValidationError(problem, code="invalid")
        looks_taken = User.objects.is_look_taken(username)  # first: a form sent twice finds its own name taken
        if User.objects.is_taken(username):
            raise ValidationError(_TAKEN, code="taken")
        if not self.accepts_reserved and names.is_reserved(username, chosen.SITE_NAME):
            raise ValidationError(_("This name is reserved."), code="reserved")
        if looks_taken:
            raise ValidationError(LOOKS_TAKEN, code="look")
        if not self.accepts_reserved:
            refusal, self.waits = import_string(settings.NAME_CHECKER)(username)
            if refusal:
                raise ValidationError(refusal, code="rule")
        return username

    def created_before(self, request: HttpRequest) -> User | None:
        """Return the account that an identical form created, if it waits for approval or is a minute old at most.

        Then all that is wrong is that the name is taken.
        """
        is_taken = any(self.has_error("username", code) for code in ("taken", "unique"))
        if set(self.errors) != {"username"} or not is_taken or "password1" not in self.fields:
            return None
        name, password = self.fields["username"].clean(self.data["username"]), self.cleaned_data["password1"]
        waiting = WaitingAccount.find(name, password)
        return waiting.user if waiting else sent_forms.just_signed_up(request, name, password)

    def create(self, invitation: Invitation | None = None, *, waits: bool = False) -> User | None:
        """Create and return the account; None, with a form error, if a concurrent sign-up took the name.

        `invitation`: the one that it uses up; None, too, if it is used already. `waits`: for approval.
        """
        user: User = self.save(commit=False)  # hashes the password outside the transaction
        user.take_id()
        waits = waits or self.waits
        user.is_active = not waits
        try:
            with transaction.atomic():
                user.save()
                self.complete(user)
                if waits:
                    WaitingAccount.objects.create(user=user)
                if invitation is not None and not Invitation.objects.use(invitation, user):
                    raise _InvitationUsedError
        except _InvitationUsedError:
            self.add_error(None, ValidationError(_("This invitation has been used."), code="used"))
            return None
        except (IntegrityError, ValidationError):
            self.add_error("username", ValidationError(_TAKEN, code="taken"))
            return None
        return user

    def complete(self, user: User) -> None:
        """Add to the new account what belongs to it, in the transaction that creates it."""


class _RevokeTokens(forms.BaseForm):
    """Offer to revoke the member's tokens with a change of password: an intruder may have created one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user and self.user.tokens.exists():  # type: ignore[attr-defined]
            self.fields["revoke_tokens"] = forms.BooleanField(
                label=_("Revoke all tokens for programs too"), required=False, initial=True
            )

    def save(self, commit: bool = True) -> Any:
        member = super().save(commit)  # type: ignore[misc]
        if commit and self.cleaned_data.get("revoke_tokens"):
            member.tokens.all().delete()
        return member


class PasswordChangeForm(_RevokeTokens, _PasswordHelp, auth_forms.PasswordChangeForm):
    """Change the password of a member who enters the current one."""

    new_password = "new_password1"  # noqa: S105 - a field's name


class NewPasswordForm(_RevokeTokens, _PasswordHelp, auth_forms.SetPasswordForm):  # type: ignore[type-arg]
    """Set a new password for a member who opened a link from a mail."""

    new_password = "new_password1"  # noqa: S105 - a field's name


class PasswordResetForm(auth_forms.PasswordResetForm):
    """Send a link to every account with an email address, without revealing whether one exists."""

    email = forms.EmailField(
        label=_("Email address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    # Addresses are not verified at sign-up, so one address may have many accounts, in many spellings.
    _MOST_ACCOUNTS = 10

    def letter(self, origin: str) -> Letter | None:
        """Return one mail with a link for each account of the address; None without any.

        It goes to the spelling that was typed, or else to that of a verified or of the oldest account, in the
        language that its first member has set, or else in the active one.
        """
        typed = self.cleaned_data["email"]
        found = sorted(
            self.get_users(typed), key=lambda one: (one.email != typed, not one.has_verified_email, one.pk)
        )
        members = [one for one in found if one.email == found[0].email][: self._MOST_ACCOUNTS]
        token_of = default_token_generator.make_token
        if not members:
            return None
        keys = [(urlsafe_base64_encode(force_bytes(one.pk)), token_of(one)) for one in members]
        paths = [reverse("accounts:password_reset_confirm", args=pair) for pair in keys]
        context = {
            "name": members[0].username if len(members) == 1 else "",
            "accounts": [(one.username, origin + path) for one, path in zip(members, paths, strict=True)],
            "days": settings.PASSWORD_RESET_TIMEOUT // 86400,
        }
        return letter(Kind.PASSWORD_RESET, members[0].email, context, members[0].language)

    def send_links(self, request: HttpRequest) -> None:
        """Let a task send one mail to each account; it does the looking up, too. If too many wait, only log it."""
        try:
            add(send_reset_links, self.cleaned_data["email"], *mail_origin(request).split("://"), get_language())
        except TaskQueueFull:
            _log.error("links for a new password were not sent: too many mails wait")


@task(queue_name=MAIL)
def send_reset_links(email: str, protocol: str, domain: str, language: str) -> None:
    """Send links to the accounts with this address. Raises as `accounts.mail.send_now`."""
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        with override(language):
            if found := form.letter(f"{protocol}://{domain}"):
                send_now(found.message())


class _OwnForm(forms.Form):
    """A form about the account of the `member` who sends it."""

    def __init__(self, data: Any = None, *, member: Any) -> None:
        super().__init__(data)
        self._member = member


class ConfirmForm(_OwnForm):
    """Prove with the password who uses the session."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self._member.check_password(password):
            raise ValidationError(_("Incorrect password."), code="password")
        return password


class EmailForm(forms.ModelForm):  # type: ignore[type-arg]
    """Change a member's email address."""

    class Meta:
        model = User
        fields = ("email",)
        widgets = {"email": forms.EmailInput(attrs={"autocomplete": "email"})}
        help_texts = {"email": _EMAIL_USE}

    def save(self, commit: bool = True) -> User:
        """Write the address only, so that concurrent changes of other fields are not overwritten."""
        user: User = super().save(commit=False)
        if commit:
            user.save(update_fields=["email"])
            if "email" in self.changed_data:
                tell_change(user, Change.ADDRESS)
        return user


NOTICE_LABELS = {
    "reply": _("replies to my articles and comments"),
    "mention": _("mentions of my name"),
    "moderation": _("moderator actions on my articles and comments"),
    "flag": _("decisions on my flags"),
    "suggestion": _("suggestions for my articles"),
}
"""Kinds of notices, as members choose them."""


class MailForm(forms.Form):
    """Choose what is mailed."""

    kinds = forms.MultipleChoiceField(
        label=_("Email me"),
        choices=list(NOTICE_LABELS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    digest = forms.BooleanField(label=_("once a week, the best articles in the groups I follow"), required=False)
    waiting = forms.ChoiceField(
        label=_("Email me what waits for a moderator"),
        help_text=_("New flags, appeals and sign-ups that you can decide on."),
        choices=[
            ("now", _("At once")),
            ("hourly", _("At most once an hour")),
            ("daily", _("At most once a day")),
            ("", pgettext_lazy("email", "Never")),
        ],
        required=False,
    )

    def __init__(self, data: Any = None, *, member: User) -> None:
        """`member`: whose mail it is. Only moderators have a choice of mail for moderators."""
        kinds = member.mail_kinds.split(",")
        initial = {"kinds": kinds, "digest": member.digest, "waiting": member.waiting_mail}
        super().__init__(data, initial=initial)
        if not (member.has_perm(REMOVE_ARTICLES) or member.has_perm(BAN_MEMBERS) or member.moderated):
            del self.fields["waiting"]


class DeleteAccountForm(_OwnForm):
    """Confirm the deletion of an account: the name prevents slips."""

    name = forms.CharField(
        max_length=names.MAX_LENGTH,
        label=_("Your name"),
        help_text=_("Type it to confirm."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if names.canonical(name) != names.canonical(self._member.get_username()):
            raise ValidationError(_("This is not your username."), code="name")
        return name


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """Name a new token, and choose what it allows and how long it is valid. Every token can read."""

    folded = ("days",)
    _DAYS = (("", _("No expiry")), ("30", _("30 days")), ("90", _("90 days")), ("365", _("1 year")))

    scopes = forms.MultipleChoiceField(
        label=_("Besides reading, let the program"),
        required=False,
        initial=["vote", "post"],
        choices=[
            ("vote", _("vote and save articles")),
            ("post", _("post articles and edit yours")),
            ("moderate", _("moderate, if you can")),
        ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.ChoiceField(label=_("Valid for"), required=False, choices=_DAYS)

    class Meta:
        model = Token
        fields = ("name",)
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "off"})}

    def clean_name(self) -> str:
        return names.cleaned_token_name(self.cleaned_data["name"])

    @property
    def expires_at(self) -> datetime | None:
        """Return when the token expires; None if it does not."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=int(days)) if days else None

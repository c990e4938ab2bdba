"""Identities at providers: whom they log in, how they are linked to accounts, and the moderation that claims give.

An address alone never leads to an account: only an address that a trusted provider calls verified, and that the
account has verified as well, links by itself. Anyone else logs in to their account first.
"""

import logging
import secrets
import time
from dataclasses import asdict
from enum import Enum
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts import names
from accounts.models import User
from accounts.moderators import GROUP
from accounts.sign_in.changes import tell_change
from accounts.web.login_intent import LoginIntent
from articles.configuration.choices import chosen
from extras.providers.models import Identity
from extras.providers.provider import Person, Provider, provider_of

NEWCOMER_SECONDS = 1800
"""For which a person who has come from a provider can choose a name, or log in to connect an account."""

_IN_SESSION = "newcomer"
_SUFFIXES = range(2, 10)

_log = logging.getLogger(__name__)


class Change(Enum):
    """What has changed, as the mail says it."""

    ADDED = gettext_noop("You can now log in to %(site)s with %(name)s")
    REMOVED = gettext_noop("You can no longer log in to %(site)s with %(name)s")


class TakenError(Exception):
    """The identity belongs to another account."""


def recognise(person: Person) -> User | None:
    """Return the person's member, active or not; None for a newcomer. Notes the use, and follows the claims."""
    identity = _find(person)
    if identity is None:
        member = _account_of_address(person)
        return link(member, person).user if member else None
    identity.label, identity.last_used_at = person.label, timezone.now()
    identity.save(update_fields=["label", "last_used_at"])
    _change_moderation(identity, is_given=person.is_moderator)
    return identity.user


def _find(person: Person) -> Identity | None:
    known = Identity.objects.filter(issuer=person.issuer, subject=person.subject)
    return known.select_related("user").first()


def account_of(person: Person) -> User | None:
    """Return the member whose identity it is, or None."""
    identity = _find(person)
    return identity.user if identity else None


def has_verified(person: Person) -> bool:
    """Return whether the site believes that the address is the person's."""
    return person.email_is_verified and settings.PROVIDERS[person.provider].is_trusted


def _account_of_address(person: Person) -> User | None:
    """Return the only active member who has verified an address that a trusted provider calls verified."""
    if not has_verified(person):
        return None
    address = User.objects.normalize_email(person.email)
    owners = User.objects.filter(email=address, verified_email=address, is_active=True)[:2]
    return owners[0] if len(owners) == 1 else None


def link(member: User, person: Person, *, is_new: bool = False) -> Identity:
    """Link the identity, and mail the member unless the account `is_new`. Idempotent. Raises TakenError."""
    try:
        with transaction.atomic():
            identity, is_first = Identity.objects.get_or_create(
                issuer=person.issuer,
                subject=person.subject,
                defaults={"user": member, "label": person.label, "last_used_at": timezone.now()},
            )
    except IntegrityError:
        raise TakenError from None
    if identity.user_id != member.pk:
        raise TakenError
    identity.user = member
    _change_moderation(identity, is_given=person.is_moderator)
    if is_first and not is_new:
        tell_change(member, Change.ADDED, settings.PROVIDERS[person.provider].label)
    return identity


def unlink(identity: Identity) -> None:
    """Remove an identity, and the moderation that it gave; mail the member about it."""
    _change_moderation(identity, is_given=False)
    identity.delete()
    provider = provider_of(identity.issuer)
    tell_change(identity.user, Change.REMOVED, provider.label if provider else identity.issuer)


def _change_moderation(identity: Identity, *, is_given: bool) -> None:
    """Give moderation, or take it away if this identity gave it and no other does."""
    group = Group.objects.filter(name=GROUP).first()
    if is_given == identity.gives_moderation or group is None:
        return
    member = identity.user
    is_by_others = member.identities.exclude(pk=identity.pk).filter(gives_moderation=True).exists()
    if is_given and not is_by_others and member.groups.filter(pk=group.pk).exists():
        return  # a person made the member a moderator
    with transaction.atomic():
        identity.gives_moderation = is_given
        identity.save(update_fields=["gives_moderation"])
        if is_given:
            member.groups.add(group)
        elif not is_by_others:
            member.groups.remove(group)
    vars(member).pop("has_permissions", None)
    _log.info("moderation of account %s by a provider: %s", member.pk, "given" if is_given else "taken away")


def shown(member: Any) -> list[tuple[Identity, Provider | None]]:
    """Return the member's identities, with their providers in the settings. One query."""
    return [(one, provider_of(one.issuer)) for one in member.identities.all()]


def providers_of(member: Any) -> list[Provider]:
    """Return the providers at which the member has an identity, each once. One query."""
    return list(dict.fromkeys(provider for _identity, provider in shown(member) if provider))


def count_ways(member: User | None, **_signal: object) -> int:
    """Return how many ways in a member has at providers, or how many providers a newcomer could come from."""
    if member is None:
        return len(settings.PROVIDERS)
    issuers = member.identities.values_list("issuer", flat=True)
    return sum(provider_of(issuer) is not None for issuer in issuers)


# Newcomers


class Newcomer(NamedTuple):
    """A person from a provider who has no account yet, or has not connected it."""

    person: Person
    intent: LoginIntent
    invitation: str
    token: str  # what a login form carries to connect the account that it logs in to


def keep_newcomer(request: HttpRequest, person: Person, intent: LoginIntent, invitation: str) -> None:
    """Keep a newcomer in the session, in place of an earlier one."""
    request.session[_IN_SESSION] = {
        "person": person._asdict(),
        "intent": asdict(intent),
        "invitation": invitation,
        "token": secrets.token_urlsafe(16),
        "until": time.time() + NEWCOMER_SECONDS,
    }


def newcomer_of(request: HttpRequest) -> Newcomer | None:
    """Return the newcomer of the session; None without one, or if the provider left the settings."""
    kept: dict[str, Any] | None = request.session.get(_IN_SESSION)
    if not kept or kept["until"] < time.time() or kept["person"]["provider"] not in settings.PROVIDERS:
        return None
    token = kept["token"]
    intent = LoginIntent(**kept["intent"] | {"connect": token})
    return Newcomer(Person(**kept["person"]), intent, kept["invitation"], token)


def forget_newcomer(request: HttpRequest) -> None:
    request.session.pop(_IN_SESSION, None)


def connecting(request: HttpRequest, intent: LoginIntent) -> Provider | None:
    """Return the provider whose newcomer a login with this intent connects; None if it connects none."""
    newcomer = newcomer_of(request) if intent.connect else None
    if newcomer is None or not secrets.compare_digest(newcomer.token, intent.connect):
        return None
    provider: Provider = settings.PROVIDERS[newcomer.person.provider]
    return provider


def connect(request: HttpRequest, member: User, intent: LoginIntent) -> Provider | None:
    """Link the newcomer to the account that has just been logged in to, if the login announced it.

    Returns the provider; None if there is nothing to connect. Raises TakenError.
    """
    provider, newcomer = connecting(request, intent), newcomer_of(request)
    if provider is None or newcomer is None:
        return None
    forget_newcomer(request)
    link(member, newcomer.person)
    return provider


def propose_name(person: Person) -> str:
    """Return a valid and free name for the person; "" if the claims lead to none."""
    for text in person.names:
        name = names.proposed(text, settings.NAMES)
        if not name or names.is_reserved(name, chosen.SITE_NAME):
            continue
        for proposal in (name, *(f"{name[: names.MAX_LENGTH - 1]}{number}" for number in _SUFFIXES)):
            if not (User.objects.is_taken(proposal) or User.objects.is_look_taken(proposal)):
                return proposal
    return ""

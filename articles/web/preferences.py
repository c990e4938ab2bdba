"""Reader preferences and the language of a page, which `articles.middleware` chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from django.contrib.auth import get_user_model
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.http import HttpRequest
from django.utils import translation

from articles.configuration.choices import chosen
from articles.domain.errors import FollowedFull, GroupNotFound
from articles.domain.members import UserId
from articles.text.searching import NOTHING, Hiding, Kind
from articles.web.wiring import repository

THEMES = ("light", "dark")

THEME_COOKIE = "theme"
KEYBOARD_COOKIE = "keyboard"
HIDDEN_COOKIE = "hidden"

PREFERENCE_COOKIES = (THEME_COOKIE, KEYBOARD_COOKIE, HIDDEN_COOKIE)
"""Everything that a reader without an account can choose, besides the language."""

MOST_FOLLOWED = 50  # maximum number of groups that a member can follow
_OFF = "off"

_signer = Signer(sep="!", salt=HIDDEN_COOKIE)


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences of one reader. `theme` and `language` are empty where the browser decides."""

    theme: str = ""
    language: str = ""
    keyboard: bool = True  # whether keyboard shortcuts are on
    hiding: Hiding = NOTHING  # what the reader's lists leave out
    followed_groups: tuple[str, ...] = ()  # slugs of the groups that a member follows
    remembers_read: bool = False  # whether the site remembers which articles a member opens
    hides_read: bool = False  # whether lists leave these out


def preferences_of(request: HttpRequest) -> Preferences:
    """Return the reader's preferences, read once per request. Unknown or malformed values count as not set."""
    user = getattr(request, "user", None)  # missing if a request fails before authentication
    known: tuple[Any, Preferences] | None = vars(request).get("preferences")
    if known is None or known[0] is not user:
        known = vars(request)["preferences"] = user, _read(request, user)
    return known[1]


def _read(request: HttpRequest, user: Any) -> Preferences:
    if user and user.is_authenticated:
        return preferences_of_member(user)
    cookies = request.COOKIES
    theme = cookies.get(THEME_COOKIE, "")
    return Preferences(
        theme=theme if theme in THEMES else "",
        keyboard=cookies.get(KEYBOARD_COOKIE) != _OFF,
        hiding=_hiding_in(unquote(cookies.get(HIDDEN_COOKIE, ""))),
    )


def preferences_of_member(user: Any) -> Preferences:
    """Return the preferences that are stored with an account. Queries as `hiding_of`."""
    return Preferences(
        theme=user.theme,
        language=user.language,
        keyboard=user.keyboard,
        hiding=hiding_of(user),
        followed_groups=slugs_from(user.followed_groups),
        remembers_read=user.remembers_read,
        hides_read=user.hides_read,
    )


def _hiding_in(cookie: str) -> Hiding:
    """Return what a cookie says; which members only if this site wrote it, for their names are shown."""
    try:
        return Hiding.of(_signer.unsign(cookie))
    except BadSignature:
        return Hiding.of(cookie).without(Kind.MEMBER)


def hiding_of(member: Any) -> Hiding:
    """Return what a member hides. No query for the member of a request, else one."""
    blocked = f"@{member.blocked_ids.replace(',', '.')}" if member.blocked_ids else ""
    return Hiding.of(f"{member.hidden_groups},{member.hidden},{blocked}")


def slugs_from(joined: str) -> tuple[str, ...]:
    """Split slugs joined by commas, without duplicates; the first `MOST_FOLLOWED` only."""
    return tuple(dict.fromkeys(filter(None, joined.split(","))))[:MOST_FOLLOWED]


def current_groups(slugs: Sequence[str]) -> tuple[str, ...]:
    """Return the groups that exist, merged ones replaced by their targets. One round trip, none without groups."""
    return _follow_merges(slugs, repository().groups.get_targets(slugs))


def _follow_merges(slugs: Sequence[str], targets: Mapping[str, str]) -> tuple[str, ...]:
    """Return the targets of these groups, each once, in the order of the groups, without those that have none."""
    return tuple(dict.fromkeys(targets[slug] for slug in slugs if slug in targets))


@transaction.atomic
def set_followed(user: UserId, slug: str, *, wanted: bool) -> tuple[str, ...]:
    """Let a member follow a group or not; merged ones are replaced. Return all groups followed. One round trip.

    Raises GroupNotFound and FollowedFull.
    """
    member = get_user_model().objects.select_for_update().get(pk=user)
    followed = slugs_from(member.followed_groups)
    targets = repository().groups.get_targets([*followed, slug])
    if wanted:
        if slug not in targets:
            raise GroupNotFound(slug, None)
        followed = _follow_merges((*followed, slug), targets)
        if len(followed) > MOST_FOLLOWED:
            raise FollowedFull
    else:
        followed = tuple(other for other in followed if slug not in (other, targets.get(other)))
    member.followed_groups = ",".join(followed)
    member.save(update_fields=["followed_groups"])
    return followed


def cookies_for(preferences: Preferences) -> dict[str, str]:
    """Return cookie values for the preferences, "" for defaults. The language is in Django's own cookie."""
    hiding = preferences.hiding
    hidden = _signer.sign(hiding.text) if hiding.members else hiding.text
    return {
        THEME_COOKIE: preferences.theme,
        KEYBOARD_COOKIE: "" if preferences.keyboard else _OFF,
        HIDDEN_COOKIE: quote(hidden, safe="/@~#"),
    }


def current_code() -> str:
    """Return the code of the active language: "en", "zh-hans"."""
    return translation.get_language() or chosen.language


def tag(code: str = "") -> str:
    """Return the BCP 47 tag of a language, by default the active one, for `<html lang>`: "en", "zh-Hans"."""
    return translation.to_locale(code or current_code()).replace("_", "-")

"""Reader preferences: stored with the account for members, in cookies for readers without account."""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from django.http import HttpRequest

THEMES = ("light", "dark")

THEME_COOKIE = "theme"
KEYBOARD_COOKIE = "keyboard"
HIDDEN_COOKIE = "hidden"

PREFERENCE_COOKIES = (THEME_COOKIE, KEYBOARD_COOKIE, HIDDEN_COOKIE)
"""All that a reader without account can choose, besides the language."""

MOST_HIDDEN = MOST_FOLLOWED = 50
"""Maximum number of groups that a reader can hide, and that a member can follow."""

_OFF = "off"


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences of one reader. `theme` and `language` are empty where the browser decides."""

    theme: str = ""
    language: str = ""
    keyboard: bool = True
    """Whether keyboard shortcuts are on."""

    hidden_groups: tuple[str, ...] = ()
    """Slugs of the groups that the reader's lists leave out."""

    followed_groups: tuple[str, ...] = ()
    """Slugs of the groups that a member follows."""


def preferences_of(request: HttpRequest) -> Preferences:
    """Return the reader's preferences. Unknown or malformed values count as not set."""
    user = getattr(request, "user", None)  # missing if a request fails before authentication
    if user and user.is_authenticated:
        return Preferences(
            theme=user.theme,
            language=user.language,
            keyboard=user.keyboard,
            hidden_groups=slugs_from(user.hidden_groups),
            followed_groups=slugs_from(user.followed_groups),
        )
    cookies = request.COOKIES
    theme = cookies.get(THEME_COOKIE, "")
    return Preferences(
        theme=theme if theme in THEMES else "",
        keyboard=cookies.get(KEYBOARD_COOKIE) != _OFF,
        hidden_groups=slugs_from(unquote(cookies.get(HIDDEN_COOKIE, ""))),
    )


def slugs_from(joined: str) -> tuple[str, ...]:
    """Split slugs joined by commas, without duplicates; the first `MOST_HIDDEN` only."""
    return tuple(dict.fromkeys(slug for slug in joined.split(",") if slug))[:MOST_HIDDEN]


def cookies_for(preferences: Preferences) -> dict[str, str]:
    """Return cookie values for the preferences, "" for defaults. The language is in Django's own cookie."""
    return {
        THEME_COOKIE: preferences.theme,
        KEYBOARD_COOKIE: "" if preferences.keyboard else _OFF,
        HIDDEN_COOKIE: quote(",".join(preferences.hidden_groups)),
    }

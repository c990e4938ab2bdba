"""How a reader wants the site: the account's choices for members, cookies of this browser for everybody else."""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from django.http import HttpRequest

THEMES = ("light", "dark")

THEME_COOKIE = "theme"
KEYBOARD_COOKIE = "keyboard"
HIDDEN_COOKIE = "hidden"

MOST_HIDDEN = 50
"""Groups one reader can hide."""

_OFF = "off"


@dataclass(frozen=True, slots=True)
class Preferences:
    """`theme` and `language` are empty where the browser's own wish counts."""

    theme: str = ""
    language: str = ""
    keyboard: bool = True
    """Whether single keys do something."""

    hidden_groups: tuple[str, ...] = ()
    """Slugs whose articles the reader's lists leave out."""


def preferences_of(request: HttpRequest) -> Preferences:
    """The reader's preferences. What is unknown or broken counts as not chosen."""
    user = getattr(request, "user", None)  # not there on errors before anybody asked who it is
    if user and user.is_authenticated:
        return Preferences(
            theme=user.theme,
            language=user.language,
            keyboard=user.keyboard,
            hidden_groups=slugs_from(user.hidden_groups),
        )
    cookies = request.COOKIES
    theme = cookies.get(THEME_COOKIE, "")
    return Preferences(
        theme=theme if theme in THEMES else "",
        keyboard=cookies.get(KEYBOARD_COOKIE) != _OFF,
        hidden_groups=slugs_from(unquote(cookies.get(HIDDEN_COOKIE, ""))),
    )


def slugs_from(joined: str) -> tuple[str, ...]:
    """Slugs joined by commas: each once, at most `MOST_HIDDEN`."""
    return tuple(dict.fromkeys(slug for slug in joined.split(",") if slug))[:MOST_HIDDEN]


def cookies_for(preferences: Preferences) -> dict[str, str]:
    """The cookies that say the same, "" for each that is not needed. The language has Django's own."""
    return {
        THEME_COOKIE: preferences.theme,
        KEYBOARD_COOKIE: "" if preferences.keyboard else _OFF,
        HIDDEN_COOKIE: quote(",".join(preferences.hidden_groups)),
    }

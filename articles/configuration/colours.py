"""Accent colours: which can be read on the site's pages, the nearest that can, and the style sheet of one."""

import colorsys
import re
from functools import lru_cache

DEFAULT = "#0c6653"
"""The accent of static/css/frame/tokens.css, in the light theme."""

_BACKGROUNDS = {"light": "#f1f2ee", "dark": "#1e2327", "light strong": "#ffffff", "dark strong": "#000000"}
"""The background in each theme on which an accent has the least contrast; "strong" where readers prefer more."""

_LEAST = {"light": 4.5, "dark": 6.0, "light strong": 7.0, "dark strong": 9.0}
"""Least contrast with it, by WCAG 2: AA is 4.5, AAA 7. Text on the accent then has more."""

_HEX = re.compile(r"#[0-9a-f]{6}")
_STEPS = 400


def parse(text: str) -> str:
    """Return a colour such as `#0c6653` that can be read on the site's pages. Raises ValueError for another."""
    colour = text.lower()
    if not _HEX.fullmatch(colour) or not _is_readable(colour, "light"):
        raise ValueError(text)
    return colour


def nearest(text: str) -> str:
    """Return the nearest colour of the same hue that can be read; "" if the text is no colour."""
    return _readable(text.lower(), "light") if _HEX.fullmatch(text.lower()) else ""


@lru_cache(maxsize=16)
def style_sheet(colour: str) -> str:
    """Return the rules that give the site this accent, lighter ones of its hue in the dark theme."""
    pair = f"--accent: light-dark({colour}, {in_dark_theme(colour)});"
    strong = f"--accent: light-dark({_readable(colour, 'light strong')}, {_readable(colour, 'dark strong')});"
    return f":root {{ {pair} }}\n@media (prefers-contrast: more) {{ :root {{ {strong} }} }}\n"


def in_dark_theme(colour: str) -> str:
    """Return the lighter colour of the same hue that replaces an accent in the dark theme."""
    return _readable(colour, "dark")


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by WCAG 2, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _is_readable(colour: str, theme: str) -> bool:
    return contrast(colour, _BACKGROUNDS[theme]) >= _LEAST[theme]


def _readable(colour: str, theme: str) -> str:
    """Return the colour, or the first that can be read on the way to black, on dark backgrounds to white."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(colour))
    end = 1.0 if theme.startswith("dark") else 0.0
    muted = saturation * 0.75 if theme == "dark" else saturation  # full colours glare on a dark page
    for step in range(_STEPS + 1):
        shade = lightness + (end - lightness) * step / _STEPS
        channels = colorsys.hls_to_rgb(hue, shade, muted if step else saturation)
        found = "#" + "".join(f"{round(channel * 255):02x}" for channel in channels)
        if _is_readable(found, theme):
            return found
    return "#ffffff" if end else "#000000"


def _channels(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _luminance(colour: str) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

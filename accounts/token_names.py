"""Clean the names of tokens as the site cleans its titles."""

from collections.abc import Callable

Clean = Callable[[str], str]
"""Returns the name as displayed. Raises ValidationError for one that is invisible or has hidden characters."""

_cleaners: list[Clean] = []


def clean_with(clean: Clean) -> None:
    """Register a cleaner. This app does not import the site's rules for text."""
    _cleaners.append(clean)


def cleaned(name: str) -> str:
    """Return the name after all registered cleaners. Raises ValidationError."""
    for clean in _cleaners:
        name = clean(name)
    return name

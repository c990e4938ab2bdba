"""Names that members give to what is theirs, cleaned as the site cleans its titles."""

from collections.abc import Callable

Clean = Callable[[str], str]
"""Return the name as it shows. Raise ValidationError for one that shows nothing or hides something."""

_cleaners: list[Clean] = []


def clean_with(clean: Clean) -> None:
    """Register what cleans names: this app does not know how the site treats text."""
    _cleaners.append(clean)


def cleaned(name: str) -> str:
    """Return the name after all registered cleaners. Raise ValidationError."""
    for clean in _cleaners:
        name = clean(name)
    return name

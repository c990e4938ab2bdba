"""Where the site's data may lie: anywhere but among the files of the program."""

from pathlib import Path

from voting_site.configuration.kinds import BadSetting

PROGRAM_FOLDERS = [
    "accounts",
    "articles",
    "bench",
    "docs",
    "locale",
    "static",
    "templates",
    "tests",
    "voting_site",
]
"""In the checkout, beside hidden folders such as .git."""


def placed(base_dir: Path, text: str) -> Path:
    """The data directory as an absolute path without links; a relative one starts at `base_dir`.

    Raises BadSetting for one that is, contains or lies in a folder of the program: the site keeps a folder static/
    in it and clears that at times.
    """
    try:
        place, checkout = (base_dir / Path(text).expanduser()).resolve(), base_dir.resolve()
        if place.exists() and not place.is_dir():
            raise BadSetting(f"DATA_DIR={text!r} cannot be used: it is not a directory.")
        taken = _is_among(place, [checkout, *checkout.parents]) or _lies_in_program(place, checkout)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, the home of an unknown user
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(f"DATA_DIR={text!r} cannot be used: {reason}.") from None
    if taken:
        raise BadSetting(
            f"DATA_DIR={text!r} cannot be used: {place} is, contains or lies in a folder of the program; "
            "choose a directory of its own, such as var or /var/lib/voting-site."
        )
    return place


def _lies_in_program(place: Path, checkout: Path) -> bool:
    own = [checkout / name for name in PROGRAM_FOLDERS]
    if any(_is_among(folder, own) for folder in (place, *place.parents)):
        return True
    return place.is_relative_to(checkout) and place.relative_to(checkout).parts[0].startswith(".")


def _is_among(place: Path, folders: list[Path]) -> bool:
    """Whether it is one of them, under whatever name the file system has for it."""
    there = [folder for folder in folders if place.exists() and folder.exists()]
    return place in folders or any(place.samefile(folder) for folder in there)

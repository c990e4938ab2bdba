"""Check the directories of data and of backups: they must not overlap with the program's files."""

from pathlib import Path

from voting_site.configuration.kinds import BadSetting

PROGRAM_FOLDERS = [
    "accounts",
    "articles",
    "bench",
    "deploy",
    "docs",
    "locale",
    "moderation",
    "static",
    "templates",
    "tests",
    "voting_site",
]
"""Folders of the checkout, in addition to hidden ones such as .git."""

_OWN_FOLDERS = ("static", "store", "kept_pages", "metrics")
"""Folders of the data directory that the site clears or serves."""


def placed(base_dir: Path, text: str, name: str = "DATA_DIR") -> Path:
    """Return the directory of a setting as an absolute path without links; a relative one starts at `base_dir`.

    Raises BadSetting for a path that is, contains or is inside a folder of the program: the site creates a folder
    static/ in the data directory and sometimes clears it.
    """
    try:
        path, checkout = (base_dir / Path(text).expanduser()).resolve(), base_dir.resolve()
        if path.exists() and not path.is_dir():
            raise BadSetting(f"{name}={text!r} cannot be used: it is not a directory.")
        overlaps = _is_among(path, [checkout, *checkout.parents]) or _is_in_program(path, checkout)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, the home of an unknown user
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(f"{name}={text!r} cannot be used: {reason}.") from None
    if overlaps:
        raise BadSetting(
            f"{name}={text!r} cannot be used: {path} is, contains or is inside a folder of the program; "
            "choose a separate directory, such as var or /var/lib/voting-site."
        )
    return path


def for_backups(base_dir: Path, text: str, data_dir: Path) -> Path:
    """Return the directory of backups like `placed`.

    Raises BadSetting, including for the public part of the data.
    """
    path = placed(base_dir, text, "BACKUP_DIR")
    if path == data_dir or any(path.is_relative_to(data_dir / name) for name in _OWN_FOLDERS):
        raise BadSetting(
            f"BACKUP_DIR={text!r} cannot be used: the site keeps other files there; "
            "choose a separate directory, such as /var/backups/voting-site."
        )
    return path


def _is_in_program(path: Path, checkout: Path) -> bool:
    folders = [checkout / name for name in PROGRAM_FOLDERS]
    if any(_is_among(folder, folders) for folder in (path, *path.parents)):
        return True
    return path.is_relative_to(checkout) and path.relative_to(checkout).parts[0].startswith(".")


def _is_among(path: Path, folders: list[Path]) -> bool:
    """Return whether the path is one of the folders, even by another name in the file system."""
    existing = [folder for folder in folders if path.exists() and folder.exists()]
    return path in folders or any(path.samefile(folder) for folder in existing)

"""Serve the collected static files, without those that only the site itself reads."""

from typing import Any

from whitenoise.middleware import WhiteNoiseMiddleware

_MANIFEST = "staticfiles.json"


class PublicFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Django's static files by WhiteNoise, except hidden files and the manifest, which pages do not link."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        if _is_public(url):
            super().add_file_to_dictionary(url, path, stat_cache=stat_cache)

    def find_file(self, url: str) -> Any:
        """Return the file at an address; only used with DEBUG."""
        return super().find_file(url) if _is_public(url) else None


def _is_public(url: str) -> bool:
    *folders, name = url.split("/")
    return name != _MANIFEST and not any(part.startswith(".") for part in (*folders, name))

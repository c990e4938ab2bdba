"""An embedded store that takes its time to load its file, as with one that is many times as large."""

from pathlib import Path

from django.conf import settings

from tests.store_state import client_of
from voting_site.embedded import StorePaths


def slow_loading_in(folder: Path, *, microseconds: int) -> dict[str, str]:
    """Return the environment of a site whose store pauses at each key that it loads."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(settings.BASE_DIR)!r})\n"
        "from voting_site.embedded import server\n"
        "server._SETTINGS.update({\n"
        f"    'key-load-delay': '{microseconds}',\n"
        "    'loading-process-events-interval-bytes': '1024',\n"
        "})\n"
    )
    return {"PYTHONPATH": str(folder)}


def load_fast(data_dir: Path) -> None:
    """Let the store of this data directory load the rest of its file without pauses."""
    client_of(StorePaths(data_dir).url(0)).config_set("key-load-delay", 0)

"""The server's configuration, as command-line arguments."""

from collections.abc import Mapping

from .paths import StorePaths

_SETTINGS = {
    # Only this user can connect, and only by the socket.
    "port": "0",
    "unixsocketperm": "700",
    "enable-debug-command": "no",
    "enable-module-command": "no",
    "enable-protected-configs": "no",
    # Acknowledged writes are on disk.
    "appendonly": "yes",
    "appendfsync": "always",
    "aof-use-rdb-preamble": "yes",
    "aof-load-truncated": "yes",  # an incomplete last write was never acknowledged
    "save": "",
    # Sets of ids (words, groups, voters) up to this size are integer arrays, at a tenth of a hash table's memory.
    "set-max-intset-entries": "16384",
    # An article's fields stay one array although some are long: a third less memory than a hash table.
    "hash-max-listpack-value": "2048",
    # A full store rejects writes and never evicts keys.
    "maxmemory-policy": "noeviction",
    "databases": "4",  # 0 articles, 1 cache and sessions, two spare
    # The supervisor runs it in the foreground; its output is the log.
    "daemonize": "no",
    "supervised": "no",
}


def arguments(paths: StorePaths, overrides: Mapping[str, str]) -> list[str]:
    """Return `--name value` for each setting; `overrides` replace settings or add to them."""
    settings = _SETTINGS | {"dir": str(paths.directory), "unixsocket": str(paths.socket)} | dict(overrides)
    return [argument for name, value in settings.items() for argument in (f"--{name}", value)]

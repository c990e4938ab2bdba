"""The server's configuration, as arguments of its command."""

from collections.abc import Mapping

from .paths import StorePaths

_SETTINGS = {
    # Reached through the socket only, by this user only.
    "port": "0",
    "unixsocketperm": "700",
    "enable-debug-command": "no",
    "enable-module-command": "no",
    "enable-protected-configs": "no",
    # Acknowledged means on disk.
    "appendonly": "yes",
    "appendfsync": "always",
    "aof-use-rdb-preamble": "yes",
    "aof-load-truncated": "yes",  # a write cut off by a power loss was never acknowledged
    "save": "",
    # Sets of ids up to this size are arrays of integers: words, groups, voters. A tenth of the memory of tables.
    "set-max-intset-entries": "16384",
    # Full means refused, never forgotten.
    "maxmemory-policy": "noeviction",
    "databases": "4",  # 0 articles, 1 cache and sessions, two spare
    # Run and watched by the supervisor; its output is the log.
    "daemonize": "no",
    "supervised": "no",
}


def arguments(paths: StorePaths, overrides: Mapping[str, str]) -> list[str]:
    """`--name value` for each; `overrides` replace our settings or add to them."""
    settings = _SETTINGS | {"dir": str(paths.directory), "unixsocket": str(paths.socket)} | dict(overrides)
    return [argument for name, value in settings.items() for argument in (f"--{name}", value)]

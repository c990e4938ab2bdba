"""Errors of backups. Each message is a sentence for the operator."""


class BackupError(Exception):
    """A backup cannot be made or restored."""


class BackupRunning(BackupError):
    """Another process makes a backup into the same folder."""


class BackupDamaged(BackupError):
    """The backup does not hold what was written, or not what this version can read."""


class SiteNotEmpty(BackupError):
    """A backup is restored into an empty site only."""

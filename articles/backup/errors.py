"""Errors of backups. Each message is a sentence for the operator."""


class BackupError(Exception):
    """A backup cannot be made or restored."""


class BackupRunning(BackupError):
    """Another process is making a backup in the same folder."""


class BackupDamaged(BackupError):
    """The backup is damaged, or this version cannot read it."""


class SiteNotEmpty(BackupError):
    """A backup is restored into an empty site only."""

"""Backups of the whole site: what is in the store, the accounts, and the secret key, in one folder each.

A backup depends neither on the server (Redis or Valkey, embedded or not) nor on the number of shards nor on the
accounts database (SQLite or PostgreSQL).
"""

from articles.backup.files import (
    BackupDamaged,
    BackupError,
    BackupRunning,
    Manifest,
    SiteNotEmpty,
    read_manifest,
)
from articles.backup.folders import BACKUP_SECONDS, age_of_newest, is_due, newest_in
from articles.backup.making import make
from articles.backup.restoring import Restored, check, restore

"""Backups of the whole site: what is in the store, the accounts, and the secret key, in one folder each.

A backup depends neither on the server (Redis or Valkey, embedded or not) nor on the number of shards nor on the
accounts database (SQLite or PostgreSQL).
"""

"""Django's database backend for SQLite, to which a damaged file is one that cannot be used."""

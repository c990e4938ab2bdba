"""Django's database backend for PostgreSQL, with a limit for how long a page waits for an answer."""

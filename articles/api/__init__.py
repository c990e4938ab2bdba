"""The API at /api/: what the pages can do, for programs."""

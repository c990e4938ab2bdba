"""The JSON API at /api/, for what the pages can do."""

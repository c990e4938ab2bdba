"""The JSON API at /api/, which does for programs what the pages do for readers."""

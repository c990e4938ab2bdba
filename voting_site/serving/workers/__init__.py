"""The web server's processes: one that keeps the workers running, and the workers, which answer requests."""

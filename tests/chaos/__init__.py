"""Minutes of everything at once, by several processes: run by `make chaos`."""

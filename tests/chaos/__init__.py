"""Several processes that use everything at once for minutes: run by `make chaos`."""

"""A backup of the store: what is read for it, and how it is written into an empty store."""

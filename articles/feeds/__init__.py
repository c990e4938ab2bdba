"""Feeds in Atom and RSS. docs/feeds.md describes them."""

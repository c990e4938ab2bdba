"""Feeds: what a reader subscribes to, as Atom and as RSS. docs/feeds.md describes them."""

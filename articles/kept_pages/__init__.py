"""Copies of public pages, from which readers go on reading while the store is away."""

from articles.kept_pages.requests import is_copying

__all__ = ["is_copying"]

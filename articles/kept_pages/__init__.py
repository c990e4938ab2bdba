"""Copies of public pages, which readers get while the store is away."""

from articles.kept_pages.requests import is_copying
from articles.kept_pages.sharing import in_turn

"""The cast and the site of the pages' tests."""

from tests.pages.conftest import alice, article, bob, carol, site

__all__ = ["alice", "article", "bob", "carol", "site"]

"""Fixtures of the core's tests that those of suggestions need."""

from tests.pages.test_reach import friends, groups

__all__ = ["friends", "groups"]

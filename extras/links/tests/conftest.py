"""Fixtures of the core's tests that those of titles need."""

from tests.site.conftest import empty_data, filled_data, start

__all__ = ["empty_data", "filled_data", "start"]

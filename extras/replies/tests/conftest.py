"""Fixtures of the core's tests that those of replies by mail need."""

from tests.site.conftest import demo_data, empty_data, start

__all__ = ["demo_data", "empty_data", "start"]

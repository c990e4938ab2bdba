"""Imports, exports and the demo."""

"""Searches for the inputs that take the longest."""

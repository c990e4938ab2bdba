"""Suggestions: members propose another title or other groups of an article."""

"""Discussions: threads of comments on articles' pages, and the pages and forms of single comments."""

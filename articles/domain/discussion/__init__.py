"""Discussions of articles: comments and threads."""

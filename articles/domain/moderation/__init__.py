"""Moderation: what moderators do, and its public log."""

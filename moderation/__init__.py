"""Moderation: flags and their queue, bans, notes, sweeps, redactions, votes cast together, sign-ups and the log.

A module is a noun, with its forms, its acts, its pages and its operations of the API. The core asks `rights`. What
the store keeps of moderation is in `articles.repository.moderation`: scripts of the core change both at once.
"""

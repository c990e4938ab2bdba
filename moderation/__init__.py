"""Moderation: flags and their queue, bans, notes, sweeps, redactions, votes cast together, sign-ups and the log.

A module is a noun, with its forms, its acts, its pages and its operations of the API. Who may do what is in
`articles.web.rights`. What the store keeps is in `articles.repository.moderation`: scripts change both at once.
"""

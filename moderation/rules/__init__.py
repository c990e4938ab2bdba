"""Moderators' rules: what happens to posts, names and flags that match, also while no moderator is awake.

`matching` decides, `acting` is what the core asks, `trying` shows what a rule would have done, `pages` and `held`
are for moderators and authors.
"""

"""Moderators' rules: what happens to posts, names and flags that match, also while no moderator is awake.

`articles.web.rules` has what acts ask. `trying` shows what a rule would have done, `pages` and `held` are for
moderators and authors.
"""

"""Demo content: the groups, member names and articles that a demo site is filled with."""

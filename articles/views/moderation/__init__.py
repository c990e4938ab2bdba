"""Pages of moderators: the log, the groups and the removal of an article, voting rings."""

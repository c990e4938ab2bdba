"""Pages of moderators: the log, the queue, removals, bans and appeals, sweeps, sign-ups, voting rings."""

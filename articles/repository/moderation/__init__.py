"""Log, flags, merges, removed articles and comments, sweeps, votes left out, voting rings."""

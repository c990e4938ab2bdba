"""What moderators do about one member: the page, bans, votes left out of ranking, sweeps and notes."""

"""What moderators do about flags and members."""

"""What moderators do about flags, members and hosts, and the lists of what they removed."""

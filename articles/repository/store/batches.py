"""Batch sizes of round trips and scripts. While a script runs, the store serves no other client."""

ARTICLES_PER_STEP = 1000
"""Articles that one script ranks, lists or stamps: some milliseconds of the store's time."""

ARTICLES_PER_READ = 500
"""Whole articles in one reply: some hundred kilobytes."""

TEXTS_PER_READ = 50
"""Whole articles with their texts in one reply: a few megabytes, if all are as long as they can be."""

ARTICLES_PER_CHECK = 250
"""Articles, or entries of the moderation log, that one script audits or repairs: it reads all data of each."""

ENTRIES_PER_READ = 500
"""Entries of a long list or sorted set in one reply."""

ENTRIES_PER_STEP = 20_000
"""Entries that one script reads, unless a single article has more: some milliseconds of the store's time."""

ENTRIES_PER_CHECK = 500
"""Entries of a member's lists that one script audits or repairs."""

KEYS_PER_SCAN = 1000
"""Keys, or members of a collection, that one SCAN visits."""

KEYS_PER_READ = 250
"""Whole keys of a backup in one reply."""

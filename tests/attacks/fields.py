"""What the attacks send to forms."""

FIELDS = {
    "choice": "oppose",
    "saved": "save",
    "title": "Taken over",
    "link": "https://evil.example/",
    "reason": "because",
    "text": "Taken over",
    "new_group": "evil",
    "name": "evil",
    "email": "evil@example.org",
    "theme": "dark",
    "language": "zh-hans",
    "version": "1",
    "to": "1",
    "rename": "1",
    "votes_per_day": "7",
    "votes": "999",
    "is_staff": "1",
    "poster": "4",
}
"""Everything that some form takes, and what none takes."""

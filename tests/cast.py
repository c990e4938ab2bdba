"""The cast of all tests: alice posts, bob votes, carol moderates, mallory attacks."""

from articles.domain.moderation_log import Actor

ALICE, BOB, CAROL, MALLORY = 1, 2, 3, 4  # member ids, in the store and in the database
NAMES = {ALICE: "alice", BOB: "bob", CAROL: "carol", MALLORY: "mallory"}
IDS = {name: number for number, name in NAMES.items()}

MODERATOR = Actor(CAROL, "carol")

PASSWORD = "correct horse battery staple"  # of all members, where it does not matter who has which


def password_of(name: str) -> str:
    return f"{name}'s long secret"


def name_of(user_id: int) -> str:
    """Return the member's name, also of members who are only a number."""
    return NAMES.get(user_id, f"user{user_id}")

"""Whose points end a member's time as a new member: who gave them decides, not how many there are.

Points count only from members who are no longer new. A moderator has to be among them, or three who are unrelated:
of whom no one brought in another, by an invitation or a vouch, and no two were brought in by the same member. So
members whom one person controls never make others trusted, whatever their number.
"""

from collections.abc import Mapping, Sequence, Set

from articles.domain.members import UserId

BACKERS = 3  # unrelated members who have to give points


def counted(points: Mapping[UserId, int], origins: Mapping[UserId, Set[UserId]], moderators: Set[UserId]) -> int:
    """Return how many of the points that trusted members gave count: all or none.

    `origins`: of those members, the member and who brought the member in; `moderators`: who has permissions.
    """
    is_backed = not moderators.isdisjoint(points) or are_three_unrelated([*origins.values()])
    return sum(points.values()) if is_backed else 0


def are_three_unrelated(origins: Sequence[Set[UserId]]) -> bool:
    """Return whether three of these sets have nothing in common, two by two."""
    later = [
        sum(1 << other for other in range(number + 1, len(origins)) if one.isdisjoint(origins[other]))
        for number, one in enumerate(origins)
    ]
    return any(
        both & 1 << other and both & later[other] for both in filter(None, later) for other in range(len(origins))
    )

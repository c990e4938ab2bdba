"""Ballot records: votes of an article as text and hashes that anyone can recompute. Knows no framework.

The trees are those of RFC 9162, section 2.1, with SHA-256.
"""

import gzip
import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from articles.domain.articles import ArticleId, Choice, LeftOut
from articles.domain.members import UserId

BY_MODERATORS = "moderators"
"""Class of a vote that is left out of ranking because moderators leave its member's votes out."""

ON_PROBATION = "probation"
"""Class of a vote that is left out because its member was new until voting closed."""

_NONE = "-"


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def opening_of(key: bytes, article: ArticleId) -> bytes:
    """Return what opens a member's commitment on one article, and tells nothing of others. 32 bytes."""
    return hmac.digest(key, str(article).encode(), "sha256")


def commitment_of(article: ArticleId, member: UserId, opening: bytes) -> str:
    """Return the commitment, in hex. It names the member, so that no two members can share one ballot."""
    return _sha256(f"{article} {member} {opening.hex()}".encode()).hex()


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote."""

    commitment: str
    choice: Choice
    left_out: str = ""
    """Why it is left out of ranking; "" if it counts."""

    origin: ArticleId = 0
    """The merged article that it was cast on; 0 if on this one."""

    @property
    def line(self) -> str:
        """The ballot as the record has it."""
        return f"{self.commitment} {self.choice.value} {self.left_out or _NONE} {self.origin or _NONE}"

    @classmethod
    def of(cls, line: str) -> "Ballot":
        """Return the ballot of a line. Raises ValueError."""
        commitment, choice, left_out, origin = line.split(" ")
        return cls(
            commitment,
            Choice(choice),
            "" if left_out == _NONE else left_out,
            0 if origin == _NONE else int(origin),
        )


def leaf_hash(article: ArticleId, line: str) -> bytes:
    return _sha256(b"\0" + f"{article} {line}".encode())


def _levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Return the tree from the leaves to the root: a node without a neighbour rises unchanged."""
    levels = [list(leaves) or [_sha256(b"")]]
    while len(nodes := levels[-1]) > 1:
        pairs = [_sha256(b"\1" + nodes[at] + nodes[at + 1]) for at in range(0, len(nodes) - 1, 2)]
        levels.append(pairs + nodes[len(pairs) * 2 :])
    return levels


@dataclass(frozen=True)
class Record:
    """The votes of a closed article. A later version differs only in ballots that came with merged articles."""

    article: ArticleId
    version: int
    day: str
    """Day of the chain, such as 2026-11-27."""

    unnamed: tuple[int, int]
    """Votes and opposes of an import, of which no member is known."""

    nonce: str
    """32 random hex digits, so that the record cannot be guessed from its digest."""

    ballots: tuple[Ballot, ...]
    """Sorted by commitment."""

    @property
    def votes(self) -> int:
        return self.unnamed[0] + self._count(Choice.VOTE)

    @property
    def opposes(self) -> int:
        return self.unnamed[1] + self._count(Choice.OPPOSE)

    @property
    def left_out(self) -> LeftOut:
        """How many of them are left out of ranking."""
        return LeftOut(*(self._count(choice, left_out=True) for choice in (Choice.VOTE, Choice.OPPOSE)))

    def _count(self, choice: Choice, *, left_out: bool = False) -> int:
        return sum(one.choice is choice and (not left_out or one.left_out != "") for one in self.ballots)

    @cached_property
    def _tree(self) -> list[list[bytes]]:
        return _levels([leaf_hash(self.article, ballot.line) for ballot in self.ballots])

    @property
    def root(self) -> str:
        """Root of the tree of the ballots, in hex."""
        return self._tree[-1][0].hex()

    @cached_property
    def head(self) -> str:
        """All of the record but its ballots, in one line."""
        numbers = (self.article, self.version, self.votes, self.opposes, *self.left_out, *self.unnamed)
        return " ".join([*map(str, numbers), self.root, self.nonce])

    @cached_property
    def digest(self) -> str:
        """What the chain has of the record, in hex."""
        return _sha256(self.head.encode()).hex()

    def path(self, place: int) -> list[str]:
        """Return the hashes that lead from a ballot to the root, in hex. `place`: its number, from 0."""
        hashes = list[str]()
        for nodes in self._tree[:-1]:
            if place ^ 1 < len(nodes):
                hashes.append(nodes[place ^ 1].hex())
            place //= 2
        return hashes

    def find(self, commitment: str) -> int | None:
        """Return the number of a commitment's ballot, from 0; None without one."""
        return next((at for at, one in enumerate(self.ballots) if one.commitment == commitment), None)

    def as_json(self) -> dict[str, Any]:
        """Return what `ballots.json` has."""
        left_out = self.left_out
        return {
            "article": self.article,
            "version": self.version,
            "day": self.day,
            "votes": self.votes,
            "opposes": self.opposes,
            "votes_left_out": left_out.votes,
            "opposes_left_out": left_out.opposes,
            "unnamed_votes": self.unnamed[0],
            "unnamed_opposes": self.unnamed[1],
            "root": self.root,
            "nonce": self.nonce,
            "digest": self.digest,
            "ballots": [ballot.line for ballot in self.ballots],
        }

    def packed(self) -> bytes:
        """Return `ballots.json`, compressed: about 36 bytes a ballot."""
        return gzip.compress(json.dumps(self.as_json(), separators=(",", ":")).encode(), mtime=0)

    @classmethod
    def unpacked(cls, packed: bytes) -> "Record":
        """Return the record that was packed. Raises ValueError, OSError."""
        fields = json.loads(gzip.decompress(packed))
        return cls(
            fields["article"],
            fields["version"],
            fields["day"],
            (fields["unnamed_votes"], fields["unnamed_opposes"]),
            fields["nonce"],
            tuple(map(Ballot.of, fields["ballots"])),
        )


def sorted_ballots(ballots: Iterable[Ballot]) -> tuple[Ballot, ...]:
    return tuple(sorted(ballots, key=lambda ballot: ballot.commitment))


FIRST = "0" * 64
"""What the first day of a chain follows."""


def day_hash(previous: str, day: str, digests: Sequence[str]) -> str:
    """Return the hash of a day of the chain: of the day before, its own name, and its digests, sorted. In hex."""
    return _sha256(" ".join([previous, day, *sorted(digests)]).encode()).hex()

"""Ballot records: all choices on an article that has closed, as texts and hashes that anyone can recompute.

Only a member's key leads from the member to a ballot. What changes here raises FORMAT: verifiers are written for
it. The trees are those of RFC 9162, section 2.1, with SHA-256.
"""

import gzip
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from articles.domain.articles import ArticleId, Choice, LeftOut
from articles.domain.members import UserId

FORMAT = 2  # version of the format; it is in each text that is hashed
FIRST = "0" * 64  # what the first version of a record follows

BY_MODERATORS = "moderators"
"""Class of a vote that is left out of ranking because moderators leave its member's votes out."""

ON_PROBATION = "probation"  # class of a vote that is left out because its member was new until voting closed

_NONE = "-"
_BALLOT = re.compile(
    f"([0-9a-f]{{64}}) ({Choice.VOTE}|{Choice.OPPOSE}) "
    f"({_NONE}|{BY_MODERATORS}|{ON_PROBATION}) ({_NONE}|[1-9][0-9]*)"
)


def canonical(value: object) -> str:
    """Return the only spelling of a JSON value of texts, whole numbers, lists and objects. All texts are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_of(text: str) -> str:
    """Return the hash of a text, in hex."""
    return _sha256(text.encode()).hex()


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
    left_out: str = ""  # why it is left out of ranking; "" if it counts
    origin: ArticleId = 0  # the merged article that it was cast on; 0 if on this one

    @property
    def line(self) -> str:
        """The ballot as the record has it."""
        return f"{self.commitment} {self.choice.value} {self.left_out or _NONE} {self.origin or _NONE}"

    @classmethod
    def of(cls, line: str) -> "Ballot":
        """Return the ballot of a line. Raises ValueError."""
        match = _BALLOT.fullmatch(line)
        if match is None:
            raise ValueError(line)
        commitment, choice, left_out, origin = match.groups()
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
    day: str  # when it was made, such as 2026-11-27
    unnamed: tuple[int, int]  # votes and opposes of an import, of which no member is known
    nonce: str  # 32 random hex digits, so that the record cannot be guessed from its digest
    ballots: tuple[Ballot, ...]  # sorted by commitment
    former: str = FIRST  # digest of the version before

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
    def head(self) -> Mapping[str, Any]:
        """All of the record but its ballots."""
        left_out = self.left_out
        return {
            "article": self.article,
            "ballots": len(self.ballots),
            "day": self.day,
            "format": FORMAT,
            "former": self.former,
            "kind": "record",
            "nonce": self.nonce,
            "opposes": self.opposes,
            "opposes_left_out": left_out.opposes,
            "root": self.root,
            "unnamed_opposes": self.unnamed[1],
            "unnamed_votes": self.unnamed[0],
            "version": self.version,
            "votes": self.votes,
            "votes_left_out": left_out.votes,
        }

    @cached_property
    def digest(self) -> str:
        """The hash of its head, in hex: while it is the same, nothing was changed."""
        return digest_of(canonical(self.head))

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

    @property
    def text(self) -> str:
        """The public file."""
        return canonical({"ballots": [ballot.line for ballot in self.ballots], "head": self.head})

    def packed(self) -> bytes:
        """Return the public file, compressed: about 36 bytes a ballot."""
        return gzip.compress(self.text.encode(), mtime=0)

    @classmethod
    def unpacked(cls, packed: bytes) -> "Record":
        """Return the record that was packed. Raises ValueError, OSError."""
        fields = json.loads(gzip.decompress(packed))
        head = fields["head"]
        return cls(
            head["article"],
            head["version"],
            head["day"],
            (head["unnamed_votes"], head["unnamed_opposes"]),
            head["nonce"],
            tuple(map(Ballot.of, fields["ballots"])),
            head["former"],
        )


def sorted_ballots(ballots: Iterable[Ballot]) -> tuple[Ballot, ...]:
    return tuple(sorted(ballots, key=lambda ballot: ballot.commitment))

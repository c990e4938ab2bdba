#!/usr/bin/env python3
"""Check the ballot records of a voting site without trusting it: format 2, checks 1 to 25 of its description.

    verify_ballots.py https://news.example.org                         check all that is public
    verify_ballots.py https://news.example.org HASH ...                and that these hashes are in the chain
    verify_ballots.py --since HASH https://news.example.org            the chain, and the records of later days
    verify_ballots.py --article 42 https://news.example.org            the chain, and one record
    verify_ballots.py --proof ballot-42.json https://news.example.org  a member's own vote

Exits with 0 if nothing is wrong, 1 if something is, 2 if it could not check everything. Needs only Python 3.9.

A file of the format has one spelling: regular expressions read it from its first byte to its last, and the hash of
an object is that of its bytes as they came. Memory holds one file, and 300 bytes for each record that is listed.
"""
# For every Python since 3.9, on its own.
# ruff: noqa: B905, PLR0912, T201, UP017, UP031, UP035, UP045

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import json
import re
import socket
import sys
import threading
import time
from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import Any, Callable, Generator, Iterable, Iterator, Optional
from urllib.parse import urlsplit

MIB = 1 << 20
LARGEST = 2**53 - 1
WAITS = (20.0, 60.0, 120.0)  # seconds, until checks 15 to 17 fail for good
NONE = "0" * 64
VOTES = ("articles_closed", "votes", "opposes", "votes_left_out", "opposes_left_out")  # in reports

NUMBER, FROM_1, HASH = "(?:0|[1-9][0-9]{0,15})", "[1-9][0-9]{0,15}", '"[0-9a-f]{64}"'
DAY, MONTH = '"[0-9]{4}-[0-9]{2}-[0-9]{2}"', '"[0-9]{4}-[0-9]{2}"'


def members(**kinds: str) -> str:
    """Return the pattern of an object's members: each value is a group with its name."""
    return ",".join(f'"{name}":(?P<{name}>{kind})' for name, kind in kinds.items())


BALLOT = (
    '"(?P<commitment>[0-9a-f]{64}) (?P<choice>vote|oppose) (?P<reason>-|moderators|probation) (?P<origin>-|%s)"'
    % FROM_1
)
HEAD = "{%s}" % members(
    article=FROM_1, ballots=NUMBER, day=DAY, format="2", former=HASH, kind='"record"', nonce='"[0-9a-f]{32}"',
    opposes=NUMBER, opposes_left_out=NUMBER, root=HASH, unnamed_opposes=NUMBER, unnamed_votes=NUMBER,
    version=FROM_1, votes=NUMBER, votes_left_out=NUMBER,
)  # fmt: skip
CHAIN_DAY = rf"\[(?P<day>{DAY}),(?P<digest>{HASH})\]"
DAY_RECORD = rf"\[(?P<article>{FROM_1}),(?P<version>{FROM_1}),(?P<digest>{HASH})\]"
DAY_REPORT = rf"\[(?P<month>{MONTH}),(?P<digest>{HASH})\]"
FIGURE = '(?P<name>"[a-z_]+"):(?P<number>0|[5-9]|[1-9][0-9]{1,15}|"<5")'
CSV_HEAD = b"month,figure,number\r\n"
CSV_LINE = f"(?P<month>{MONTH[1:-1]}),(?P<name>[a-z_]+),(?:0|[5-9]|[1-9][0-9]{{1,15}}|<5)\r\n"

Read = Callable[[str, int], Optional[bytes]]


class Refused(Exception):
    """A file is wrong; the text begins with the number of the check."""


class Unreadable(Exception):
    """Something could not be checked."""


def sha256(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def following(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04}-{number % 12 + 1:02}"


class Text:
    """A file that is read from its first byte to its last."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data, self.at = name, data, 0

    def take(self, pattern: str) -> dict[str, Any]:
        """Read what matches the pattern; return its groups as numbers and texts."""
        match = re.compile(pattern.encode()).match(self.data, self.at)
        if match is None:
            raise Refused(f"1: {self.name} is not in the format at byte {self.at}")
        values: dict[str, Any] = {}
        for name, group in match.groupdict().items():
            if len(group) <= 16 and group.isdigit():
                value: Any = int(group)
            else:
                value = group.decode().strip('"')
            values[name] = value
            try:
                if name in {"day", "month"}:
                    date.fromisoformat(value if name == "day" else value + "-01")
            except ValueError:
                raise Refused(f"1: {self.name} has at byte {self.at} a {name} that does not exist") from None
            if type(value) is int and value > (32767 if name == "version" else LARGEST):
                raise Refused(f"1: {self.name} has at byte {self.at} a number that is too large")
        self.at = match.end()
        return values

    def rows(self, pattern: str, brackets: str = "[]") -> Iterator[dict[str, Any]]:
        """Read a list, or the members of an object."""
        self.take("\\" + brackets[0])
        if self.data[self.at : self.at + 1] != brackets[1].encode():
            yield self.take(pattern)
            while self.data[self.at : self.at + 1] == b",":
                self.at += 1
                yield self.take(pattern)
        self.take("\\" + brackets[1])

    def end(self, pattern: str) -> dict[str, Any]:
        values = self.take(pattern)
        if self.at != len(self.data):
            raise Refused(f"1: {self.name} has more after its end at byte {self.at}")
        return values


def fetch(read: Read, path: str, mebibytes: int) -> Text | None:
    data = read(path, mebibytes * MIB)
    if data is not None and len(data) > mebibytes * MIB:
        raise Refused(f"1: {path} is larger than {mebibytes} MiB")
    return None if data is None else Text(path, data)


class Chain:
    """The days, and what they list."""

    def __init__(self) -> None:
        self.days: list[str] = []
        self.hashes: list[str] = []
        self.versions: dict[
            int, bytearray
        ] = {}  # article: for each version 4 bytes for the place of its day, and its digest
        self.reports: dict[str, str] = {}  # month: digest
        self.last_month = ""
        self.closed: dict[str, int] = {}  # month: records of version 1
        self.digests: set[bytes] = set()
        self.due = ""  # the first month whose report has not been asked for

    def listed(self, article: int) -> list[tuple[int, str]]:
        """Return for each version the place of its day, and its digest."""
        packed = self.versions.get(article, b"")
        return [
            (int.from_bytes(packed[i : i + 4], "big"), packed[i + 4 : i + 36].hex())
            for i in range(0, len(packed), 36)
        ]

    def newest(self, article: int) -> int:
        """Return the place of the day that lists the last version; -1 without one."""
        return self.listed(article)[-1][0] if self.versions.get(article) else -1

    def check(self, read: Read, known: Iterable[str], today: date) -> Iterator[str]:
        """Read the chain and its days: checks 1 to 7 and 19."""
        text = fetch(read, "/integrity/chain.json", 64)
        if text is None:
            raise Unreadable("/integrity/chain.json is missing: the site has no chain")
        text.take('{"days":')
        for row in text.rows(CHAIN_DAY):
            if self.days and row["day"] <= self.days[-1]:
                yield f"2: in the chain {row['day']} comes after {self.days[-1]}"
            if row["day"] > today.isoformat():
                yield f"2: in the chain {row['day']} has not ended"
            self.days.append(row["day"])
            self.hashes.append(row["digest"])
        text.end(',"format":2,"kind":"chain"}')
        for place in range(len(self.days)):
            try:
                yield from self.check_day(read, place)
            except Refused as wrong:
                yield str(wrong)
            while self.due and self.due < self.days[place][:7]:
                if self.due not in self.reports:
                    yield f"19: the report of {self.due} is not listed by {self.days[place]}"
                self.due = following(self.due)
        self.digests.clear()
        hashes = set(self.hashes)
        yield from (
            f"7: {known_hash} is not the hash of a day in the chain"
            for known_hash in known
            if known_hash not in hashes
        )

    def check_day(self, read: Read, place: int) -> Iterator[str]:
        day = self.days[place]
        text = fetch(read, f"/integrity/{day}.json", 64)
        if text is None:
            raise Refused(f"3: /integrity/{day}.json is missing")
        if sha256(text.data) != self.hashes[place]:
            yield f"3: the hash of {text.name} is not the one in the chain"
        head = text.take("{%s," % members(day=DAY, format="2", kind='"day"', previous=HASH))
        if head["day"] != day:
            yield f"3: {text.name} is of {head['day']}"
        if head["previous"] != (self.hashes[place - 1] if place else NONE):
            yield f"3: previous in {text.name} is not the hash of the day before"
        text.take('"records":')
        last = (0, 0)
        for row in text.rows(DAY_RECORD):
            article, version = row["article"], row["version"]
            if (article, version) < last:
                yield f"4: records in {text.name} are not sorted at article {article} version {version}"
            last = article, version
            yield from self.add_digest(row["digest"], text.name)
            versions = self.versions.setdefault(article, bytearray())
            if version <= len(versions) // 36:
                yield f"5: article {article} version {version} is listed twice, the second time in {text.name}"
            elif version > len(versions) // 36 + 1:
                yield f"6: article {article} version {version} is listed by {day} before version {version - 1}"
            else:
                versions += place.to_bytes(4, "big") + bytes.fromhex(row["digest"])
            if version == 1:
                self.closed[day[:7]] = self.closed.get(day[:7], 0) + 1
            self.due = self.due or day[:7]
        text.take(',"reports":')
        month = ""
        for row in text.rows(DAY_REPORT):
            if row["month"] < month:
                yield f"4: reports in {text.name} are not sorted at {row['month']}"
            month = row["month"]
            yield from self.add_digest(row["digest"], text.name)
            if month in self.reports:
                yield f"5: the report of {month} is listed twice, the second time in {text.name}"
                continue
            if month >= day[:7]:
                yield f"19: the report of {month} is listed by {day}, which is not after its end"
            if self.reports and month != following(self.last_month):
                yield f"19: the report of {month} is listed after that of {self.last_month}"
            self.reports[month], self.last_month = row["digest"], month
        text.end("}")
        if last == (0, 0) and not month:
            yield f"4: {text.name} has no records and no reports"

    def add_digest(self, digest: str, name: str) -> Iterator[str]:
        if bytes.fromhex(digest) in self.digests:
            yield f"5: digest {digest} is listed twice, the second time in {name}"
        self.digests.add(bytes.fromhex(digest))


class Tree:
    """The tree of RFC 9162, section 2.1, of which only the right edge is kept."""

    def __init__(self) -> None:
        self.size, self.edge = 0, list[bytes]()

    def add(self, article: int, ballot: str) -> None:
        node = hashlib.sha256(f"\0{article} {ballot}".encode()).digest()
        size = self.size
        while size & 1:
            node = hashlib.sha256(b"\1" + self.edge.pop() + node).digest()
            size >>= 1
        self.edge.append(node)
        self.size += 1

    def root(self) -> str:
        if not self.edge:
            return sha256(b"")
        node = self.edge[-1]
        for left in reversed(self.edge[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return node.hex()


class Record:
    """The record of an article as a file has it, with what its ballots add up to: checks 1, 10, 11 and 14."""

    def __init__(self, text: Text, article: int) -> None:
        self.findings: list[str] = []
        self.name, self.file = text.name, sha256(text.data)
        self.has_ballots = text.data.startswith(b'{"ballots":')
        self.came: dict[int, list[int]] = {}  # merged article: votes and opposes cast on it
        tree, own, counts, last, unsorted, itself = Tree(), hashlib.sha256(), [0, 0, 0, 0], "", False, False
        self.cast = [0, 0]  # votes and opposes cast on this article
        if self.has_ballots:
            text.take('{"ballots":')
            for ballot in text.rows(BALLOT):
                oppose = ballot["choice"] == "oppose"
                unsorted |= ballot["commitment"] <= last
                last = ballot["commitment"]
                itself |= ballot["origin"] == article
                counts[oppose] += 1
                counts[2 + oppose] += ballot["reason"] != "-"
                words = " ".join(map(str, ballot.values()))
                tree.add(article, words)
                if ballot["origin"] == "-":
                    own.update(words.encode())
                    self.cast[oppose] += 1
                else:
                    self.came.setdefault(ballot["origin"], [0, 0])[oppose] += 1
            text.take(',"head":')
        else:
            text.take('{"head":')
        start = text.at
        self.head = head = text.take(HEAD)
        self.digest = sha256(text.data[start : text.at])
        text.end("}")
        self.own = own.digest()
        if unsorted:
            self.findings.append(f"10: ballots of {self.name} are not sorted, or a commitment is there twice")
        if itself:
            self.findings.append(f"14: a ballot of {self.name} came from the article itself")
        self.findings += check_sums(head, self.name)
        if self.has_ballots:
            stated = [head["votes"] - head["unnamed_votes"], head["opposes"] - head["unnamed_opposes"]]
            stated += [head["votes_left_out"], head["opposes_left_out"], head["ballots"]]
            if [*counts, tree.size] != stated:
                self.findings.append(f"11: the ballots of {self.name} do not add up to its head")
            if tree.root() != head["root"]:
                self.findings.append(f"11: the root of the ballots of {self.name} is not the one of its head")
        else:  # a bound
            self.cast = [head["votes"] - head["unnamed_votes"], head["opposes"] - head["unnamed_opposes"]]


def check_sums(head: dict[str, Any], name: str) -> Iterator[str]:
    """Compare the counts of a head with each other: the part of check 11 that needs no ballots."""
    votes, opposes = head["votes"] - head["unnamed_votes"], head["opposes"] - head["unnamed_opposes"]
    if votes + opposes != head["ballots"] or votes < head["votes_left_out"] or opposes < head["opposes_left_out"]:
        yield f"11: the counts in the head of {name} do not fit together"


def read_record(read: Read, article: int, version: int = 0) -> Record | None:
    text = fetch(read, f"/articles/{article}/ballots.json" + (f"?version={version}" if version else ""), 256)
    return None if text is None else Record(text, article)


def read_api(read: Read, article: int) -> tuple[int, int, int, int | None] | None:
    """Return id, votes, opposes and merged_into. This file is any JSON, not of the format."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError
        return dict(pairs)

    text = fetch(read, f"/api/articles/{article}", 4)
    if text is None:
        return None
    found: Any = None
    try:
        says = json.loads(text.data.decode(), object_pairs_hook=once, parse_int=lambda digits: int(digits[:20]))
        found = (says["id"], says["votes"], says["opposes"], says["merged_into"])
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    if [type(value) for value in found or ()] not in ([int] * 4, [int] * 3 + [type(None)]):
        raise Refused(f"16: {text.name} does not have id, votes, opposes and merged_into, once and as numbers")
    return found  # type: ignore[no-any-return]


class Article:
    """What checks 8 to 17 find about the record of an article."""

    def __init__(self, read: Read, chain: Chain, number: int, today: date) -> None:
        self.number, self.read, self.chain, self.today = number, read, chain, today
        self.findings: list[str] = []
        self.heads: dict[int, dict[str, Any]] = {}  # version: head that is right
        self.digests: dict[int, str] = {}
        self.without: list[str] = []  # days of records without ballots
        self.listed = chain.listed(number)
        says = self.attempt(partial(read_api, read, number))
        latest = self.attempt(partial(read_record, read, number))
        self.pending = max(0, latest.head["version"] - len(self.listed)) if latest else 0
        self.check_versions(latest, says is not None)
        if latest:
            self.check_now(latest, says)
        self.visible = bool((says is not None and self.listed) or latest or self.heads or self.findings)

    def attempt(self, reading: Callable[[], Any]) -> Any:
        """Return what is read; None if it is missing, False if it is wrong."""
        try:
            return reading()
        except Refused as wrong:
            self.findings.append(str(wrong))
            return False

    def check_versions(self, latest: Any, seen: bool) -> None:
        """Read all versions: checks 8 to 15."""
        before = record = None
        own: bytes | None = None  # hash of what was cast on the article, by the last version with ballots
        missing = []
        for version in range(1, len(self.listed) + self.pending + 1):
            record = self.attempt(partial(read_record, self.read, self.number, version))
            if record:
                findings = [*record.findings, *self.check_version(record, version, before)]
                if record.has_ballots and own not in {None, record.own}:
                    findings.append(
                        f"13: ballots cast on the article differ between {record.name} and an earlier version"
                    )
                own = record.own if record.has_ballots else own
                self.findings += findings
                self.digests[version] = record.digest
                if not findings:
                    self.heads[version] = record.head
                if not record.has_ballots:
                    self.without.append(record.head["day"])
            elif record is None:
                missing.append(f"15: the record of article {self.number} version {version} is missing")
                if version > len(self.listed):
                    break
            before = record
        if seen or latest or len(missing) < len(self.listed):
            self.findings += missing
            if latest is None and self.listed:
                self.findings.append(f"15: the latest record of article {self.number} is missing")
        if latest and latest.head["version"] < len(self.listed):
            self.findings.append(
                f"15: {latest.name} is version {latest.head['version']}, not the last, {len(self.listed)}"
            )
        elif latest and record and record.file != latest.file:
            self.findings.append(f"15: {latest.name} is not the file of its version")

    def check_version(self, record: Record, version: int, before: Any) -> Iterator[str]:
        head, days = record.head, self.chain.days
        if (head["article"], head["version"]) != (self.number, version):
            yield f"8: {record.name} is of article {head['article']} version {head['version']}"
        if version <= len(self.listed):
            place, digest = self.listed[version - 1]
            if head["day"] != days[place]:
                yield f"8: {record.name} is of {head['day']}, but {days[place]} lists it"
            if record.digest != digest:
                yield f"8: the digest of {record.name} is not the one that {days[place]} lists"
        else:
            yield from self.check_pending(record, before)
        if version == 1:
            former = NONE
        elif version - 2 < len(self.listed):
            former = self.listed[version - 2][1]
        else:
            former = before.digest if before else head["former"]
        if head["former"] != former:
            yield f"9: former in {record.name} is not the digest of the version before"
        for name in ("unnamed_votes", "unnamed_opposes"):
            if before and head[name] != before.head[name]:
                yield f"12: {name} in {record.name} is not that of the version before"

    def check_pending(self, record: Record, before: Any) -> Iterator[str]:
        """Check the day of a version that no day lists."""
        day = record.head["day"]
        if day <= max(self.chain.days, default="") or (before and day < before.head["day"]):
            yield f"15: {record.name} is of {day}, and no day lists it"
        if abs(date.fromisoformat(day) - self.today) > timedelta(1):
            yield f"15: {record.name} is of {day}, and not in the chain on {self.today}"

    def check_now(self, latest: Record, says: Any) -> None:
        """Compare the latest version with what the site says now: checks 16 and 17."""
        head = latest.head
        if says is None:
            self.findings.append(f"16: /api/articles/{self.number} is missing, though the record can be seen")
        elif says and says != (self.number, head["votes"], head["opposes"], says[3]):
            self.findings.append(
                f"16: /api/articles/{self.number} does not have the number and the counts of {latest.name}"
            )
        for origin, (votes, opposes) in latest.came.items():
            other = self.attempt(partial(read_api, self.read, origin))
            if other and (other[0], other[3]) != (origin, self.number):
                self.findings.append(
                    f"17: {latest.name} has ballots from article {origin}, which is not merged into it"
                )
            record = self.attempt(partial(read_record, self.read, origin))
            if record and (votes > record.cast[0] or opposes > record.cast[1]):
                self.findings.append(
                    f"17: {latest.name} has more ballots from article {origin} than were cast there"
                )


class Seen:
    """What was checked, for the summary and check 20."""

    def __init__(self) -> None:
        self.days = self.records = self.hidden = self.without = self.pending = 0
        self.without_newest = self.latest = ""
        self.sums: dict[str, list[int]] = {}  # month: VOTES of what could be seen

    def add(self, article: Article) -> list[str]:
        if not article.visible:
            self.hidden += 1
            return []
        self.records += len(article.heads)
        self.pending += article.pending
        self.without += len(article.without)
        self.without_newest = max([self.without_newest, *article.without])
        first = article.heads.get(1)
        if first and article.listed:
            sums = self.sums.setdefault(first["day"][:7], [0] * len(VOTES))
            for place, count in enumerate((1, *(first[name] for name in VOTES[1:]))):
                sums[place] += count
        return article.findings

    def __str__(self) -> str:
        text = f"{self.days} days, {self.records} records checked, {self.hidden} articles cannot be seen"
        if self.pending:
            text += f", {self.pending} records wait for the end of their day"
        if self.without:
            text += f", {self.without} records without ballots, the newest of {self.without_newest}"
        return f"{text}. Latest hash: {self.latest or 'none'}"


def given(number: int) -> int | str:
    return number if number == 0 or number >= 5 else "<5"


def check_report(read: Read, chain: Chain, seen: Seen, month: str) -> Generator[str, None, bytes]:
    """Check the report of a month: checks 18 and 20. Return its lines in months.csv."""
    text = fetch(read, f"/integrity/{month}.json", 1)
    if text is None:
        raise Refused(f"18: /integrity/{month}.json is missing")
    if sha256(text.data) != chain.reports[month]:
        yield f"18: the digest of {text.name} is not the one in the chain"
    text.take('{"figures":')
    figures: dict[str, Any] = {}
    last = ""
    for row in text.rows(FIGURE, "{}"):
        if row["name"] <= last:
            raise Refused(f"1: {text.name} has figures that are not sorted, or twice")
        last = row["name"]
        figures[last] = row["number"]
    end = text.end(",%s}" % members(format="2", kind='"month"', month=MONTH))
    if end["month"] != month:
        yield f"18: {text.name} is of {end['month']}"
    if 0 < len(figures.keys() & set(VOTES)) < len(VOTES):
        yield f"1: {text.name} has some of the figures of votes, and not all"
    closed, sums = chain.closed.get(month, 0), seen.sums.get(month, [0] * len(VOTES))
    if figures.get(VOTES[0], 0) != given(closed):
        yield f"20: articles_closed in {text.name} is not the number of records, {closed}"
    for name, total in list(zip(VOTES, sums))[1:]:
        figure = figures.get(name, 0)
        if figure != given(total) if sums[0] == closed else (4 if figure == "<5" else figure) < total:
            yield f"20: {name} in {text.name} is not what the records that can be seen add up to, {total}"
    return b"".join(f"{month},{name},{number}\r\n".encode() for name, number in figures.items())


def check_reports(read: Read, chain: Chain, seen: Seen) -> Iterator[str]:
    """Check the reports of months: checks 18, 20 and 21."""
    csv = fetch(read, "/integrity/months.csv", 16) or Text("", b"")
    exact = csv.data.startswith(CSV_HEAD) or not chain.reports
    csv.at = len(CSV_HEAD)
    for month in chain.reports:
        try:
            lines = yield from check_report(read, chain, seen, month)
        except Refused as wrong:
            yield str(wrong)
            return
        exact &= csv.data.startswith(lines, csv.at)
        csv.at += len(lines)
    last = chain.last_month, "~"
    try:
        while exact and csv.at < len(csv.data):
            row = csv.take(CSV_LINE)
            exact = (row["month"], row["name"]) > last
            last = row["month"], row["name"]
    except Refused:
        exact = False
    if not exact:
        yield "21: /integrity/months.csv does not have the figures of the reports, each once and sorted"


def refusals(found: Iterator[str]) -> Iterator[str]:
    """Yield the file that cannot be read on as the last finding."""
    try:
        yield from found
    except Refused as wrong:
        yield str(wrong)


def check_articles(
    read: Read, chain: Chain, numbers: list[int], waits: Iterable[float], today: date, seen: Seen
) -> Iterator[str]:
    """Check records, and again those that a merge may have changed just now."""
    pauses = [0.0, *waits]
    for turn, pause in enumerate(pauses, 1):
        time.sleep(pause if numbers else 0)
        again = []
        for number in numbers:
            article = Article(read, chain, number, today)
            if turn < len(pauses) and any(finding[:3] in {"15:", "16:", "17:"} for finding in article.findings):
                again.append(number)
            else:
                yield from seen.add(article)
        numbers = again


def check_site(
    read: Read, known: Iterable[str] = (), since: str = "", article: int = 0, also: Iterable[int] = (),
    waits: Iterable[float] = WAITS, today: date | None = None, seen: Seen | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield what is wrong with the chain and all records, those that days after `since` list, or one article's.

    `also` are articles that no day may list yet.
    """
    today, seen, chain = today or datetime.now(timezone.utc).date(), seen or Seen(), Chain()
    yield from refusals(chain.check(read, [*known, *filter(None, [since])], today))
    seen.days, seen.latest = len(chain.days), "".join(chain.hashes[-1:])
    first = chain.hashes.index(since) + 1 if since in chain.hashes else 0
    numbers = [number for number in chain.versions if chain.newest(number) >= first]
    numbers = [article] if article else sorted({*numbers, *also})
    yield from check_articles(read, chain, numbers, waits, today, seen)
    if not article:
        yield from refusals(check_reports(read, chain, seen))


def climb(leaf: str, index: int, size: int, path: list[str]) -> str:
    """Return the root to which a path leads from a leaf; nothing if path or index do not fit the size."""
    node, rest = hashlib.sha256(f"\0{leaf}".encode()).digest(), iter(path)
    if index >= size:
        return ""
    while size > 1:
        if index % 2 or index + 1 < size:
            sibling = bytes.fromhex(next(rest, ""))
            node = hashlib.sha256(b"\1" + (sibling + node if index % 2 else node + sibling)).digest()
        index, size = index // 2, (size + 1) // 2
    return node.hex() if next(rest, None) is None else ""


def check_proof(
    read: Read, proof: bytes, known: Iterable[str] = (),
    waits: Iterable[float] = WAITS, today: date | None = None, seen: Seen | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield what is wrong with a proof, with the chain, and with the record if it can be seen."""
    today, seen, chain = today or datetime.now(timezone.utc).date(), seen or Seen(), Chain()
    text = Text("the proof", proof)
    text.take('{"ballot":')
    start = text.at
    ballot = text.take(BALLOT)
    words = proof[start + 1 : text.at - 1].decode()
    text.take(',"format":2,"head":')
    start = text.at
    head = text.take(HEAD)
    digest, article, version = sha256(proof[start : text.at]), head["article"], head["version"]
    rest = text.take(",%s," % members(index=NUMBER, kind='"proof"', member=FROM_1, opening=HASH))
    text.take('"path":')
    path = [row["hash"] for row in text.rows(f"(?P<hash>{HASH})")]
    text.end("}")
    if sha256(f"{article} {rest['member']} {rest['opening']}".encode()) != ballot["commitment"]:
        yield "22: the commitment of the ballot is not that of article, member and opening"
    if climb(f"{article} {words}", rest["index"], head["ballots"], path) != head["root"]:
        yield "23: index and path do not lead from the ballot to the root"
    if ballot["origin"] == article:
        yield "14: the ballot of the proof came from the article itself"
    yield from check_sums(head, text.name)
    yield from refusals(chain.check(read, known, today))
    seen.days, seen.latest = len(chain.days), "".join(chain.hashes[-1:])
    yield from check_articles(read, chain, [article], waits, today, seen)
    listed = chain.listed(article)[version - 1 : version]
    if [(chain.days[place], listed_digest) for place, listed_digest in listed] == [(head["day"], digest)]:
        return
    record = None if listed else read_record(read, article, version)
    if listed or head["day"] <= max(chain.days, default="") or (record and record.digest != digest):
        yield f"24: the chain does not have this record of article {article} version {version} on {head['day']}"
    elif abs(date.fromisoformat(head["day"]) - today) > timedelta(1):
        yield f"24: the record of {head['day']} is not in the chain on {today}"
    else:
        raise Unreadable(
            f"{head['day']} is not in the chain yet: check this proof again after the day has ended (UTC)"
        )


class Site:
    """Files of a site, over HTTP: bounded in bytes and time, and from no other host."""

    def __init__(self, address: str, seconds: float = 600, tries: int = 5) -> None:
        parts = urlsplit(address)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.query
            or parts.fragment
            or "@" in parts.netloc
        ):
            raise Unreadable("the address of a site looks like https://news.example.org")
        https = parts.scheme == "https"
        connection = http.client.HTTPSConnection if https else http.client.HTTPConnection
        self.connection = connection(parts.hostname, parts.port, timeout=60)
        self.prefix, self.seconds, self.tries = parts.path.rstrip("/"), seconds, tries

    def read(self, path: str, most_bytes: int) -> bytes | None:
        """Return a file, None if it is missing; try again while the site asks to wait."""
        problem, pause = "", 0.0
        for turn in range(self.tries):
            time.sleep(pause)
            pause = float(turn)
            try:
                answer, data = self.ask(path, most_bytes)
            except (OSError, http.client.HTTPException) as error:  # also of a connection that was closed meanwhile
                problem = getattr(error, "strerror", None) or type(error).__name__
                continue
            if answer.status == 200:
                return data
            if answer.status == 404:
                return None
            if 300 <= answer.status < 400:
                raise Refused(f"1: {path} redirects")
            problem = f"status {answer.status}"
            if answer.status not in {429, 503}:
                break
            after = answer.headers.get("Retry-After", "")
            pause = min(float(after), 120) if re.fullmatch("[0-9]{1,9}", after) else 10.0
        raise Unreadable(f"{path} cannot be read: {problem}")

    def ask(self, path: str, most_bytes: int) -> tuple[http.client.HTTPResponse, bytes]:
        """Send one request; hang up if the answer takes too long as a whole."""
        if self.connection.sock is None:
            self.connection.connect()
        is_late = threading.Event()
        timer = threading.Timer(self.seconds, hang_up, [self.connection.sock, is_late])
        timer.daemon = True
        timer.start()
        answer, data, is_whole = None, bytearray(), False
        try:
            self.connection.request("GET", self.prefix + path, headers={"Accept-Encoding": "identity"})
            answer = self.connection.getresponse()
            if answer.status != 200:
                return answer, b""
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise Refused(f"1: {path} is compressed, though the request did not accept that")
            while chunk := answer.read1(1 << 16):
                data += chunk
                if len(data) > most_bytes:
                    raise Refused(f"1: {path} is larger than {most_bytes} bytes")
            if answer.length or is_late.is_set():
                raise http.client.IncompleteRead(b"")
            is_whole = True
            return answer, bytes(data)
        finally:
            timer.cancel()
            if answer:
                answer.close()
            if not is_whole:
                self.connection.close()


def hang_up(connection: socket.socket, is_late: threading.Event) -> None:
    is_late.set()  # before the connection ends, whose end would else be that of the answer
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check the ballot records of a voting site without trusting it.")
    parser.add_argument("site", help="address of the site, such as https://news.example.org")
    parser.add_argument("known", nargs="*", metavar="hash", help="hash of a day that you know from earlier")
    parser.add_argument(
        "--since", metavar="HASH", default="", help="check only records of days after the one with this hash"
    )
    parser.add_argument("--article", type=int, default=0, help="check only the record of this article")
    parser.add_argument("--proof", metavar="FILE", help="check a member's proof")
    options = parser.parse_args(arguments)
    for known in filter(None, [*options.known, options.since]):
        if not re.fullmatch("[0-9a-f]{64}", known):
            parser.error("a hash has 64 lower-case hex digits")
    seen, wrong, closing = Seen(), 0, contextlib.ExitStack()
    try:
        site = Site(options.site)
        closing.callback(site.connection.close)
        read = site.read
        if options.proof:
            with open(options.proof, "rb") as file:
                proof = file.read(MIB + 1)
            found = check_proof(read, proof, options.known, seen=seen)
        else:
            found = check_site(read, options.known, options.since, options.article, seen=seen)
        for finding in refusals(found):
            wrong += 1
            print(finding, flush=True)
        if options.article and seen.hidden:
            raise Unreadable(f"article {options.article} has no record that can be seen")
    except (Unreadable, OSError) as problem:
        print(f"Could not check everything: {problem}", file=sys.stderr)
        return 1 if wrong else 2
    finally:
        closing.close()
    print(f"{seen}")
    print(f"{wrong} problems" if wrong else "Nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

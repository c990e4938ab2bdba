"""The files of a small site whose records are right, and an operator who changes them and their hashes."""

import json
import re
from datetime import date

from articles.domain.articles import Choice
from articles.domain.ballots import (
    FIRST,
    Ballot,
    Record,
    canonical,
    commitment_of,
    digest_of,
    opening_of,
    sorted_ballots,
)
from extras.integrity.texts import chain_text, day_text, month_text

TODAY = date(2026, 12, 2)
KEYS = {member: bytes([member]) * 32 for member in range(1, 20)}


def ballot(article, member, choice=Choice.VOTE, *facts):
    return Ballot(commitment_of(article, member, opening_of(KEYS[member], article)), choice, *facts)


def records():
    """41 is merged into 42, 44 into 43 today; votes are excluded, unnamed or dropped; one article is hidden."""
    votes = [ballot(43, member) for member in range(1, 6)]
    opposes = [ballot(43, member, Choice.OPPOSE, "moderators") for member in range(6, 9)]
    own = [ballot(42, 7), ballot(42, 8, Choice.OPPOSE, "probation")]
    many = Record(43, 1, "2026-10-30", (0, 0), "a" * 32, sorted_ballots([*votes, *opposes]))
    first = Record(42, 1, "2026-11-27", (3, 1), "b" * 32, sorted_ballots(own))
    both = sorted_ballots([*own, ballot(42, 9, Choice.VOTE, "", 41), ballot(42, 10, Choice.OPPOSE, "", 41)])
    brought = sorted_ballots([*many.ballots, ballot(43, 11, Choice.VOTE, "", 44)])
    return [
        many,
        Record(
            41, 1, "2026-11-27", (0, 0), "c" * 32, sorted_ballots([ballot(41, 9), ballot(41, 10, Choice.OPPOSE)])
        ),
        first,
        Record(44, 1, "2026-11-27", (0, 0), "d" * 32, (ballot(44, 11),)),
        Record(45, 1, "2026-11-27", (2, 0), "e" * 32, ()),
        Record(46, 1, "2026-11-27", (0, 0), "f" * 32, (ballot(46, 12),)),
        Record(47, 1, "2026-12-01", (0, 0), "0" * 32, (ballot(47, 13),)),
        Record(42, 2, "2026-12-01", (3, 1), "1" * 32, both, first.digest),
        Record(43, 2, "2026-12-02", (0, 0), "2" * 32, brought, many.digest),
    ]


def files():
    """Return each file by its address."""
    made = records()
    found = dict[str, str]()
    for one in made:
        text = f'{{"head":{canonical(one.head)}}}' if one.article == 47 else one.text
        if one.article != 46:
            found[f"/articles/{one.article}/ballots.json?version={one.version}"] = text
            found[f"/articles/{one.article}/ballots.json"] = text
            merged = {41: 42, 44: 43}.get(one.article)
            says = {"id": one.article, "merged_into": merged, "opposes": one.opposes, "votes": one.votes}
            found[f"/api/articles/{one.article}"] = json.dumps(says)
    names = ("articles_closed", "opposes", "opposes_left_out", "votes", "votes_left_out")
    reports = {
        "2026-10": dict(zip(names, ("<5", "<5", "<5", 5, 0), strict=True)) | {"bans": 0},
        "2026-11": dict(zip(names, (5, "<5", "<5", 9, 0), strict=True)) | {"bans": 12},
    }
    table, previous, chain = ["month,figure,number"], FIRST, []
    for month, figures in reports.items():
        found[f"/integrity/{month}.json"] = month_text(month, dict(sorted(figures.items())))
        table += (f"{month},{name},{number}" for name, number in sorted(figures.items()))
    found["/integrity/months.csv"] = "".join(f"{line}\r\n" for line in table)
    for day, listed in {"2026-10-30": [], "2026-11-27": ["2026-10"], "2026-12-01": ["2026-11"]}.items():
        rows = [(one.article, one.version, one.digest) for one in made if one.day == day]
        months = [(month, digest_of(found[f"/integrity/{month}.json"])) for month in listed]
        found[f"/integrity/{day}.json"] = day_text(previous, day, rows, months)
        previous = digest_of(found[f"/integrity/{day}.json"])
        chain.append((day, previous))
    found["/integrity/chain.json"] = chain_text(chain)
    return found


def proof():
    """Return the proof of member 7 on article 42."""
    (record,) = (one for one in records() if (one.article, one.version) == (42, 2))
    own = ballot(42, 7)
    place = record.find(own.commitment)
    facts = {"ballot": own.line, "format": 2, "head": record.head, "index": place, "kind": "proof", "member": 7}
    return facts | {"opening": opening_of(KEYS[7], 42).hex(), "path": record.path(place)}


class Operator:
    """One who can change every file, and makes all hashes anew."""

    def __init__(self):
        self.texts = files()
        self.files = {name: json.loads(text) for name, text in self.texts.items() if ".json" in name}
        self.former = True
        self.says = {name: json.loads(text) for name, text in self.texts.items() if name.startswith("/api/")}

    def record(self, article, version=1):
        return self.files[f"/articles/{article}/ballots.json?version={version}"]

    def day(self, day):
        return self.files[f"/integrity/{day}.json"]

    def recount(self, article, version=1):
        """Make the head fit the ballots."""
        record = self.record(article, version)
        head = record["head"]
        ballots = sorted_ballots([Ballot.of(line) for line in record["ballots"]])
        unnamed = head["unnamed_votes"], head["unnamed_opposes"]
        made = Record(article, version, head["day"], unnamed, head["nonce"], ballots, head["former"])
        record["ballots"] = [one.line for one in ballots]
        record["head"] = dict(made.head)
        if f"/api/articles/{article}" in self.says:
            self.says[f"/api/articles/{article}"] |= {"votes": made.votes, "opposes": made.opposes}

    def seal(self):
        """Return all files, with digests, days and chain recomputed."""
        listed = {}
        for name in sorted(self.files):
            if (match := re.fullmatch(r"/articles/(\d+)/ballots\.json\?version=(\d+)", name)) and self.files[name]:
                record, key = self.files[name], (int(match[1]), int(match[2]))
                before = listed.get((key[0], key[1] - 1))
                if before and self.former:
                    record["head"]["former"] = before
                listed[key] = digest_of(canonical(record["head"]))
                latest = f"/articles/{key[0]}/ballots.json"
                self.files[latest] = self.files[latest] and record
        previous = FIRST
        for row in self.files["/integrity/chain.json"]["days"]:
            day = self.day(row[0])
            for entry in day["records"]:
                if entry[2] != "5" * 64:
                    entry[2] = listed.get((entry[0], entry[1]), entry[2])
            for entry in day["reports"]:
                if self.files[f"/integrity/{entry[0]}.json"]:
                    entry[1] = digest_of(canonical(self.files[f"/integrity/{entry[0]}.json"]))
            day["previous"] = previous
            row[1] = previous = digest_of(canonical(day))
        changed = (self.files | self.says).items()
        return self.texts | {name: value and canonical(value) for name, value in changed}

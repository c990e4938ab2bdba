#!/usr/bin/env python3
"""Recount closed articles: verify_ballots.py SITE [KNOWN-HASH]. Check one vote: verify_ballots.py --proof FILE.

Needs Python 3.9 and nothing of the site. docs/integrity.md specifies what it checks.
"""

import hashlib
import json
import sys
import time
import urllib.error
import urllib.request


def sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).digest()


def root_of(nodes):
    while len(nodes) > 1:
        pairs = [nodes[at : at + 2] for at in range(0, len(nodes), 2)]
        nodes = [sha256(b"\1" + b"".join(pair)) if len(pair) == 2 else pair[0] for pair in pairs]
    return nodes[0] if nodes else sha256("")


def check(is_true, problem):
    if not is_true:
        sys.exit(f"WRONG: {problem}")


def read(site, path):
    while True:
        try:
            with urllib.request.urlopen(site.rstrip("/") + path, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            check(error.code == 429, f"{path} answers {error.code}")
            time.sleep(int(error.headers.get("Retry-After", 10)))


def check_day(day, previous):
    check(day["previous"] == previous, f"{day['day']} does not follow the day before")
    text = " ".join([day["previous"], day["day"], *sorted(day["digests"])])
    check(sha256(text).hex() == day["hash"], f"hash of {day['day']}")


def check_record(record, digest):
    article, lines, name = record["article"], record["ballots"], f"record of article {record['article']}"
    commitments = [line[:64] for line in lines]
    check(commitments == sorted(set(commitments)), f"{name}: a ballot twice, or not sorted")
    cast = [line.split(" ") for line in lines]
    votes, opposes = ([one for one in cast if one[1] == choice] for choice in ("vote", "oppose"))
    unnamed = record["unnamed_votes"], record["unnamed_opposes"]
    counts = len(votes) + unnamed[0], len(opposes) + unnamed[1]
    left_out = (sum(one[2] != "-" for one in choice) for choice in (votes, opposes))
    root = root_of([sha256(b"\0" + f"{article} {line}".encode()) for line in lines])
    facts = article, record["version"], *counts, *left_out, *unnamed, root.hex(), record["nonce"]
    check(sha256(" ".join(map(str, facts))).hex() == digest, f"{name} is not the one of its day")
    return counts


def check_site(site, known):
    previous, latest, hidden = "0" * 64, {}, 0
    days = read(site, "/integrity/chain.json")["days"]
    for listed in days:
        day = read(site, f"/integrity/{listed['day']}.json")
        check_day(day, previous)
        check(day["hash"] == listed["hash"], f"two hashes of {day['day']}")
        check({one["digest"] for one in day["records"]} <= {*day["digests"]}, f"a record is not in {day['day']}")
        hidden += len(day["digests"]) - len(day["records"]) - len(day["reports"])
        for one in day["reports"]:
            text = json.dumps(read(site, f"/integrity/{one['month']}.json"), sort_keys=True, separators=(",", ":"))
            check(sha256(text).hex() == one["digest"] in day["digests"], f"report of {one['month']}")
        previous = day["hash"]
        for one in day["records"]:
            record = read(site, f"/articles/{one['article']}/ballots.json?version={one['version']}")
            if record is None:
                hidden += 1
                continue
            own = {line for line in record["ballots"] if line.endswith(" -")}
            counts = check_record(record, one["digest"])
            check(own == latest.get(one["article"], (own,))[0], f"ballots of article {one['article']} changed")
            latest[one["article"]] = own, counts
    check(not known or known in {day["hash"] for day in days}, "the known hash is not in the chain")
    for article, (_own, counts) in latest.items():
        shown = read(site, f"/api/articles/{article}")
        check(shown is None or (shown["votes"], shown["opposes"]) == counts, f"counts of article {article}")
    print(
        f"{len(days)} days, {len(latest)} articles recounted, {hidden} records not public. Latest hash: {previous}"
    )


def check_proof(proof):
    commitment = sha256(f"{proof['article']} {proof['member']} {proof['opening']}").hex()
    check(proof["line"].split(" ")[0] == commitment, "the ballot is not this member's")
    node = sha256(b"\0" + f"{proof['article']} {proof['line']}".encode())
    place, size = proof["number"], proof["of"]
    path = [bytes.fromhex(step) for step in proof["path"]]
    while size > 1:
        if place % 2 or place + 1 < size:
            check(path, "the path is too short")
            other = path.pop(0)
            node = sha256(b"\1" + (other + node if place % 2 else node + other))
        place, size = place // 2, (size + 1) // 2
    check(not path and node.hex() == proof["head"].split(" ")[8], "the path does not lead to the root")
    check(proof["head"].split(" ")[0] == str(proof["article"]), "the record is of another article")
    check(sha256(proof["head"]).hex() == proof["digest"], "the digest is not the record's")
    if "hash" in proof:
        check(proof["digest"] in proof["digests"], "the record is not in its day")
        check_day(proof, proof["previous"])
    print(f"Article {proof['article']}: member {proof['member']} has the ballot “{proof['line']}”.")
    print(f"It is in the day {proof['day']}, hash {proof['hash']}." if "hash" in proof else "Its day goes on.")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--proof":
        with open(sys.argv[2], encoding="utf-8") as file:
            check_proof(json.load(file))
    elif len(sys.argv) in (2, 3):
        check_site(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "")
    else:
        sys.exit(__doc__)

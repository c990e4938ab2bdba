"""verify_ballots.py notices every change of a site's files, even if all hashes are recomputed."""

import gzip
import json
import re
import socketserver
import threading
from contextlib import contextmanager

import pytest

from articles.domain.articles import Choice
from articles.domain.ballots import canonical, digest_of, opening_of
from extras.integrity import verify_ballots
from extras.integrity.tests.small_site import KEYS, TODAY, Operator, ballot, files, proof, records
from extras.integrity.verify_ballots import (
    Refused,
    Seen,
    Site,
    Unreadable,
    check_proof,
    check_site,
    main,
    refusals,
)

pytestmark = pytest.mark.deep

TEXTS = files()
HEAD = json.loads(TEXTS["/integrity/chain.json"])["days"][-1][1]


def reader(texts):
    def read(path, most_bytes):
        text = texts.get(path)
        return text.encode() if isinstance(text, str) else text

    return read


def found(texts, known=(), **options):
    """Return what a verifier says of a site: findings, or that it could not check."""
    try:
        return list(check_site(reader(texts), known, waits=(), today=TODAY, **options))
    except Unreadable as problem:
        return [f"unreadable: {problem}"]


def found_in_proof(text, texts=TEXTS):
    try:
        checking = check_proof(
            reader(texts), text if isinstance(text, bytes) else text.encode(), waits=(), today=TODAY
        )
        return list(refusals(checking))
    except Unreadable as problem:
        return [f"unreadable: {problem}"]


def numbers(findings):
    return {finding.partition(":")[0] for finding in findings}


def test_nothing_is_wrong_with_a_true_site_and_proof():
    seen = Seen()
    assert list(check_site(reader(TEXTS), [HEAD], waits=(), today=TODAY, seen=seen)) == []
    assert str(seen) == (
        "3 days, 8 records checked, 1 articles cannot be seen, 1 records wait for the end of their day, "
        f"1 records without ballots, the newest of 2026-12-01. Latest hash: {HEAD}"
    )
    assert found_in_proof(canonical(proof())) == []
    assert Operator().seal().keys() == TEXTS.keys()
    assert found(Operator().seal()) == []


OTHERS = (
    0, 1, -1, 1.5, True, False, None, "", "0", "1", " ", "-", "<5", "vote", "\N{ARABIC-INDIC DIGIT ONE}", 2**53,
    10**40,
    "0" * 64, "a" * 64, "2026-11-27", "2026-02-30", "2026-11", [], {}, [[]], [0], {"a": 1},
)  # fmt: skip


def changed_values(value):
    """Yield what may stand for a value instead, one change each."""
    yield from (other for other in OTHERS if (type(other), other) != (type(value), value))
    if type(value) is int:
        yield from (value + 1, value - 1, float(value), str(value), value * 10, -value - 1)
    elif isinstance(value, str) and value:
        yield from (f" {value}", f"{value} ", f"{value}\n", f"\ufeff{value}", value[:-1], value[1:], f"{value}0")
        yield from (
            one
            for one in (value.upper(), value.swapcase(), value.replace(" ", "\N{NO-BREAK SPACE}"))
            if one != value
        )
        if value[0] in "0123456789abcdef":
            yield ("1" if value[0] == "0" else "0") + value[1:]
            yield chr(ord("\N{FULLWIDTH DIGIT ZERO}") + int(value[0], 16) % 10) + value[1:]
    elif isinstance(value, list):
        yield from (value[1:], value[:-1], [*value, *value[:1]], [*value[:1], *value], [*value, 0], [value])
        yield from (one for one in (value[::-1], value[1:] + value[:1]) if one != value)
    elif isinstance(value, dict):
        for name in value:
            yield {other: one for other, one in value.items() if other != name}
            yield value | {f"{name} ": value[name]}
            yield {f"{other}_" if other == name else other: one for other, one in value.items()}
        yield value | {"more": 1}


def changes(value):
    """Yield a JSON value with each of its parts changed in each way."""
    yield from (other for other in changed_values(value) if other != value or type(other) is not type(value))
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in parts:
        for other in changes(part):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[place] = other
            yield copy


def spelt_otherwise(text):
    """Yield other spellings of the same JSON, and JSON with something twice."""
    value = json.loads(text)
    yield from (
        f" {text}", f"{text} ", f"{text}\n", f"\ufeff{text}", f"{text}{text}", f"{text},", f"{text}\0",
        text[:-1],
    )  # fmt: skip
    yield from (
        json.dumps(value, indent=1),
        json.dumps(value),
        json.dumps(value, sort_keys=True, separators=(",", " :")),
    )
    yield canonical(dict(reversed(value.items())))
    for match in re.finditer(r"\d+(?=[,}\]])", text):
        before, number, after = text[: match.start()], match[0], text[match.end() :]
        for other in (
            f"{number}.0", f"{number}e0", f"0{number}", f"+{number}", f"-{number}",
            f"{number} ", f'"{number}"',
        ):  # fmt: skip
            yield before + other + after
        if text[match.start() - 1] in ":[,":
            yield f"{before}true{after}"
    for match in re.finditer(r'"[a-z_]+":', text):
        yield text[: match.start()] + match[0] + "0," + text[match.start() :]
        yield (
            text[: match.start()]
            + match[0].replace("a", "\\u0061").replace("e", "\\u0065")
            + " "
            + text[match.end() :]
        )
    for match in list(re.finditer(r'"[^"]+"(?=[,\]}])', text))[:20]:
        character = f"\\u{ord(match[0][1]):04x}"
        yield text[: match.start() + 1] + character + text[match.start() + 2 :]


def is_harmless(name, text):
    """Tell whether a change leaves what a verifier needs as it was.

    The API is not of the format: it has other fields, spellings are free, and `merged_into` matters only where
    ballots came from. A chain without its last day is that of yesterday, one without days that of a site
    without records: who knows a hash notices both. Old ballots are dropped; the summary says how many.
    """
    if name == "/integrity/chain.json":
        days = json.loads(TEXTS[name])["days"]
        return text in [canonical(json.loads(TEXTS[name]) | {"days": some}) for some in (days[:-1], [])]
    if name.endswith("version=1"):
        return text == canonical({"head": json.loads(TEXTS[name])["head"]})
    if not name.startswith("/api/"):
        return False
    try:
        pairs = json.loads(text, object_pairs_hook=list)
        says = dict(pairs)
    except (RecursionError, TypeError, ValueError):
        return False
    kept = json.loads(TEXTS[name])
    fields = ("id", "votes", "opposes") if kept["merged_into"] is None else tuple(kept)
    whole = len(says) == len(pairs) and all(
        (type(says.get(f)), says.get(f)) == (type(kept[f]), kept[f]) for f in fields
    )
    return whole and "merged_into" in says and type(says["merged_into"]) in (int, type(None))


def all_changes():
    """Yield each change of one file: its address and new text."""
    for name, text in TEXTS.items():
        if name.endswith(".csv"):
            lines = text.splitlines(keepends=True)
            for at in range(len(lines)):
                for other in (
                    "",
                    lines[at] * 2,
                    lines[at].replace("\r", ""),
                    lines[at].replace(",", ", "),
                    f'"{lines[at]}',
                ):
                    yield name, "".join((*lines[:at], other, *lines[at + 1 :]))
            yield from ((name, text.replace("<5", "1")), (name, text + text), (name, text + "2026-12,bans,3\r\n"))
            continue
        value = json.loads(text)
        spell = json.dumps if name.startswith("/api/") else canonical
        yield from ((name, spell(other)) for other in changes(value))
        yield from ((name, other) for other in spelt_otherwise(text))
        yield from ((name, other) for other in TEXTS.values() if other != text)
        yield name, None
        yield name, "[" * 200_000
        yield name, '{"a":' * 200_000
        yield name, re.sub(r"\d+", "9" * 5000, text, count=1)


def unnoticed(every, offset=0):
    """Return how many changes were tried, and those that no check notices."""
    tried, missed = 0, []
    for number, (name, text) in enumerate(all_changes()):
        if number % every != offset or text == TEXTS[name]:
            continue
        tried += 1
        if not found(TEXTS | {name: text}) and not is_harmless(name, text):
            missed.append((name, text))
    return tried, missed


def test_changes_of_files_are_noticed():
    """A sample; test_every_change_of_every_file_is_noticed tries all."""
    tried, missed = unnoticed(every=23)
    assert missed == []
    assert tried > 300


@pytest.mark.long
@pytest.mark.fuzz
def test_every_change_of_every_file_is_noticed():
    assert unnoticed(every=1)[1] == []


def proof_changes():
    text = canonical(proof())
    yield from (canonical(other) for other in changes(proof()))
    yield from spelt_otherwise(text)


def test_changes_of_a_proof_are_noticed():
    tried = [text for text in proof_changes() if text != canonical(proof())]
    assert [text for text in tried[::7] if not found_in_proof(text)] == []


@pytest.mark.long
@pytest.mark.fuzz
def test_every_change_of_a_proof_is_noticed():
    assert [text for text in proof_changes() if text != canonical(proof()) and not found_in_proof(text)] == []


def rewritten(known):
    """An operator who changes the nonce of an old record, and makes all hashes anew."""
    operator = Operator()
    operator.record(44)["head"]["nonce"] = "9" * 32
    return found(operator.seal(), known)


def test_history_that_is_rewritten_is_noticed_by_those_who_know_a_hash():
    assert rewritten([]) == [], "without a known hash it is the chain of another site"
    assert numbers(rewritten([HEAD])) == {"7"}


def test_a_chain_that_goes_back_is_noticed_by_those_who_know_its_end():
    operator = Operator()
    operator.files["/integrity/chain.json"]["days"].pop()
    assert "7" in numbers(found(operator.seal(), [HEAD]))


ATTACKS = []


def attack(*expected):
    """Register a change by an operator who then makes all hashes anew, with the checks that notice it."""

    def registered(change):
        ATTACKS.append(pytest.param(change, set(expected), id=change.__name__))
        return change

    return registered


@attack("8")
def the_record_of_41_is_shown_as_43s(site):
    site.files["/articles/43/ballots.json?version=1"] = site.record(41)


@attack("12")
def a_version_has_500_unnamed_votes(site):
    site.record(42, 2)["head"]["unnamed_votes"] = 500
    site.recount(42, 2)


@attack("5", "8")
def two_records_have_one_digest(site):
    site.record(44)["head"] = site.record(41)["head"]


@attack("5")
def a_version_is_listed_twice_in_a_day(site):
    site.day("2026-11-27")["records"].insert(1, [41, 1, "5" * 64])


@attack("6", "15")
def a_version_is_listed_and_the_one_before_is_not(site):
    site.day("2026-11-27")["records"].pop(1)


@attack("4")
def records_are_not_sorted(site):
    site.day("2026-11-27")["records"].reverse()


@attack("4")
def a_day_has_nothing(site):
    site.files["/integrity/2026-11-28.json"] = site.day("2026-11-27") | {
        "day": "2026-11-28",
        "records": [],
        "reports": [],
    }
    site.files["/integrity/chain.json"]["days"].insert(2, ["2026-11-28", ""])


@attack("2")
def days_are_not_in_order(site):
    site.files["/integrity/chain.json"]["days"].reverse()


@attack("2")
def a_day_has_not_ended(site):
    site.files["/integrity/2027-01-01.json"] = site.day("2026-12-01") | {"day": "2027-01-01"}
    site.files["/integrity/chain.json"]["days"].append(["2027-01-01", ""])


@attack("3")
def a_file_is_of_another_day(site):
    site.day("2026-11-27")["day"] = "2026-11-26"


@attack("10", "11")
def a_ballot_is_there_twice(site):
    record = site.record(43)
    record["ballots"].insert(0, record["ballots"][0])
    record["head"] |= {"ballots": 9, "votes": 6}


@attack("11")
def a_ballot_is_changed(site):
    site.record(44)["ballots"] = [ballot(44, 11).line.replace("vote", "oppose")]


@attack("11")
def counts_are_changed(site):
    site.record(44)["head"]["votes"] = 2


@attack("11")
def counts_without_ballots_do_not_fit(site):
    site.record(47)["head"]["votes"] = 7


@attack("11")
def the_root_is_of_a_tree_whose_last_node_is_doubled(site):
    site.record(43)["head"]["root"] = "5" * 64


@attack("13")
def a_version_changes_a_ballot_cast_on_the_article(site):
    record = site.record(42, 2)
    record["ballots"] = [line.replace("oppose probation -", "vote probation -") for line in record["ballots"]]
    site.recount(42, 2)


@attack("14")
def a_ballot_came_from_the_article_itself(site):
    site.record(42, 2)["ballots"] = [line.replace("- 41", "- 42") for line in site.record(42, 2)["ballots"]]
    site.recount(42, 2)


@attack("9")
def a_version_follows_another_record(site):
    site.record(42, 2)["head"]["former"] = "5" * 64
    site.former = False


@attack("15")
def a_listed_version_is_withheld(site):
    site.files["/articles/42/ballots.json?version=1"] = None


@attack("15")
def all_versions_are_withheld_of_an_article_that_can_be_seen(site):
    for name in ("?version=1", ""):
        site.files[f"/articles/44/ballots.json{name}"] = None


@attack("15")
def a_version_waits_although_its_day_ended_long_ago(site):
    site.record(43, 2)["head"]["day"] = "2026-11-30"


@attack("16")
def the_site_shows_other_counts(site):
    site.says["/api/articles/44"]["votes"] = 2


@attack("17")
def more_ballots_came_than_were_cast(site):
    site.record(42, 2)["ballots"] += [ballot(42, 12, Choice.VOTE, "", 41).line]
    site.recount(42, 2)


@attack("17")
def ballots_came_from_an_article_that_was_never_merged(site):
    site.says["/api/articles/41"]["merged_into"] = None


@attack("18", "21")
def a_report_is_withheld(site):
    site.files["/integrity/2026-10.json"] = None


@attack("19")
def a_report_is_not_listed(site):
    site.day("2026-12-01")["reports"] = []


@attack("19")
def a_month_is_reported_that_goes_on(site):
    site.files["/integrity/2026-12.json"] = site.files["/integrity/2026-11.json"] | {"month": "2026-12"}
    site.day("2026-12-01")["reports"].append(["2026-12", ""])


@attack("18")
def a_report_is_of_another_month(site):
    site.files["/integrity/2026-10.json"]["month"] = "2026-09"


@attack("20")
def a_report_has_fewer_votes_than_can_be_seen(site):
    site.files["/integrity/2026-11.json"]["figures"]["votes"] = 7


@attack("20")
def a_report_has_no_figures_of_votes(site):
    figures = site.files["/integrity/2026-11.json"]["figures"]
    for name in ("articles_closed", "votes", "opposes", "votes_left_out", "opposes_left_out"):
        del figures[name]


@attack("1")
def a_report_has_some_figures_of_votes(site):
    del site.files["/integrity/2026-11.json"]["figures"]["opposes"]


@attack("21")
def the_table_has_other_figures(site):
    site.files["/integrity/2026-11.json"]["figures"]["bans"] = 13


@pytest.mark.parametrize(("change", "expected"), ATTACKS)
def test_an_operator_who_makes_all_hashes_anew_is_noticed(change, expected):
    site = Operator()
    change(site)
    texts = site.seal()
    assert expected & numbers(found(texts)), found(texts)


def altered(**facts):
    return canonical(proof() | facts)


def head_of(**facts):
    return proof()["head"] | facts


def made_up():
    """Return a proof that leads from a ballot to a root, which no chain has."""
    own = ballot(42, 7)
    leaf = digest_of(f"\0{42} {own.line}")
    return altered(
        head=head_of(
            ballots=1, root=leaf, votes=1, opposes=0, opposes_left_out=0, unnamed_votes=0, unnamed_opposes=0
        ),
        index=0,
        path=[],
    )


PROOFS = {
    "made up": (made_up(), "24"),
    "of a version that is not listed": (altered(head=head_of(version=3)), "24"),
    "of a day that has not ended and never will": (altered(head=head_of(version=3, day="9999-01-01")), "24"),
    "of another article": (altered(head=head_of(article=43)), "22"),
    "of another ballot": (altered(ballot=ballot(42, 8, Choice.OPPOSE, "probation").line), "22"),
    "shown to another member": (altered(member=8), "22"),
    "of a ballot copied to another article": (altered(head=head_of(article=44, ballots=1)), "22"),
    "with an index beyond the ballots": (altered(index=4), "23"),
    "with high bits in the index": (altered(index=proof()["index"] + 2**20), "23"),
    "with left and right exchanged": (altered(index=proof()["index"] ^ 1), "23"),
    "with a path that is too short": (altered(path=proof()["path"][1:]), "23"),
    "with a path that is too long": (altered(path=[*proof()["path"], "0" * 64]), "23"),
    "with the size of another tree": (altered(head=head_of(ballots=3)), "23"),
    "with a huge tree": (altered(head=head_of(ballots=2**53 - 1)), "23"),
    "too deep": ("[" * 100_000, "1"),
    "not UTF-8": (b"\xff\xfe{", "1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PROOFS)
def test_a_proof_is_refused(kind):
    text, expected = PROOFS[kind]
    assert expected in numbers(found_in_proof(text)), found_in_proof(text)


def test_a_proof_of_today_cannot_be_checked_yet():
    head = json.loads(TEXTS["/articles/43/ballots.json"])["head"]
    own = Operator()
    lines = own.record(43, 2)["ballots"]
    place = lines.index(ballot(43, 11, Choice.VOTE, "", 44).line)
    (record,) = (one for one in records() if (one.article, one.version) == (43, 2))
    text = altered(
        ballot=lines[place],
        head=head,
        index=place,
        member=11,
        opening=opening_of(KEYS[11], 43).hex(),
        path=record.path(place),
    )
    assert numbers(found_in_proof(text)) == {"unreadable"}
    assert found_in_proof(text.replace("2" * 32, "3" * 32)) == [
        "24: the chain does not have this record of article 43 version 2 on 2026-12-02"
    ]


def test_a_merge_that_the_record_does_not_have_yet_is_read_again():
    texts = dict(TEXTS)
    texts["/api/articles/44"] = texts["/api/articles/44"].replace('"votes": 1', '"votes": 2')
    asked = []

    def read(path, most_bytes):
        asked.append(path)
        return (TEXTS if asked.count("/api/articles/44") > 2 else texts)[path].encode() if path in TEXTS else None

    assert list(check_site(read, waits=(0, 0), today=TODAY)) == []
    assert list(check_site(reader(texts), waits=(0, 0), today=TODAY)) != []


def test_only_later_days_or_one_article_are_read_if_one_asks_for_that():
    first = json.loads(TEXTS["/integrity/chain.json"])["days"][1][1]
    texts = TEXTS | {"/articles/41/ballots.json?version=1": "{}"}
    assert found(texts)
    assert found(texts, article=43) == []
    assert found(texts, article=41)
    since = json.loads(TEXTS["/integrity/chain.json"])["days"][2][1]
    assert found(TEXTS, since=first) == []
    assert found(TEXTS | {"/articles/45/ballots.json?version=1": "{}"}, since=since) == []
    assert numbers(found(TEXTS, since="5" * 64)) == {"7"}


ANSWERS = {
    "redirects": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n",
    "is too large by its length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + b"x" * 99999,
    "never ends": b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 99999,
    "is compressed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"0" * 10**6),
    "is cut": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx",
    "is not HTTP": b"\x1b[31mred\r\n\r\n",
    "has a huge head": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 999,
    "is an error": b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
    "asks to wait": b"HTTP/1.1 503 Wait\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
    "drips": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
    "never comes": b"HTTP/1.0 200 OK\r\n\r\n",
}
REFUSED = ("redirects", "is too large by its length", "never ends", "is compressed")


@contextmanager
def serving(*answers):
    """Yield the address of a server that gives these answers, one a connection, and the last one again."""
    left, done = list(answers), threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            answer = left.pop(0) if len(left) > 1 else left[0]
            self.request.sendall(answer)
            if answer in (ANSWERS["drips"], ANSWERS["never comes"]):
                done.wait(20)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            done.set()
            server.shutdown()


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_that_no_site_gives_is_refused(kind):
    with serving(ANSWERS[kind]) as address, pytest.raises(Refused if kind in REFUSED else Unreadable) as refusal:
        Site(address, seconds=0.2, tries=1).read("/x", 1000)
    assert str(refusal.value).isascii()
    assert str(refusal.value).isprintable()


def test_what_came_before_the_verifier_hangs_up_is_never_taken_for_whole(monkeypatch):
    hang_up, done = verify_ballots.hang_up, threading.Event()

    def slowly(*arguments):
        hang_up(*arguments)
        done.wait(20)

    monkeypatch.setattr(verify_ballots, "hang_up", slowly)
    with serving(ANSWERS["never comes"]) as address, pytest.raises(Unreadable):
        Site(address, seconds=0.2, tries=1).read("/x", 1000)
    done.set()


def test_a_site_that_asks_to_wait_is_asked_again():
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with serving(ANSWERS["asks to wait"], answer) as address:
        site = Site(address)
        assert site.read("/x", 1000) == b"{}"
        site.connection.close()


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://127.0.0.1/", "example.org", "http://u:p@127.0.0.1/", ""]
)
def test_other_addresses_are_refused(address, capsys):
    assert main([address]) == 2
    assert capsys.readouterr().err.startswith("Could not check everything: the address")


def test_the_script_says_what_is_wrong_by_its_status(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("extras.integrity.verify_ballots.time.sleep", lambda _: None)
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]") as address:
        assert main([address]) == 1
        file = tmp_path / "proof.json"
        file.write_text(canonical(proof()))
        assert main(["--proof", str(file), address]) == 1
    assert main(["--proof", str(tmp_path / "none"), address]) == 2
    assert "1: /integrity/chain.json is not in the format at byte 0" in capsys.readouterr().out

"""`manage.py replay_views`, and the views of a real log compared with exact counts."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.core.management import call_command
from django.core.management.base import CommandError

from articles.domain.errors import StoreUnavailable
from articles.domain.readership import Suspicion
from articles.management.base import progress
from articles.management.commands.replay_views import Replay
from articles.management.importing import open_articles
from articles.management.view_log import BadLog, LoggedView, PathCount, Truth, read_log, read_truth
from articles.readership.visitors import suspicion_of
from tests.store_state import key_names

HEADER = "ts\tvisitor\tpath\tmethod\tstatus\tua"
LOG, TRUTH = Path("data/views_apache_2015.tsv.gz"), Path("data/views_apache_2015_truth.json")
READER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def row(ts, visitor="v1", path="/", agent=READER):
    return f"{ts}\t{visitor}\t{path}\tGET\t200\t{agent}"


@pytest.fixture
def log(tmp_path):
    """A function that writes a log and returns its path."""

    def write(*rows, header=HEADER, name="views.tsv"):
        path = tmp_path / name
        content = "\n".join([header, *rows, ""]).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def replayed(*command):
    """Return the exit status and the output."""
    out = StringIO()
    try:
        call_command("replay_views", *map(str, command), stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def logged(path):
    with open_articles(str(path)) as source:
        return read_log(source)


def exact(views, limit=600):
    """Count page views, with the limit, and visitors of each path in plain Python."""
    last, pv, visitors = {}, defaultdict(int), defaultdict(set)
    for view in views:
        if view.at - last.get((view.path, view.visitor), -limit) >= limit:
            last[view.path, view.visitor] = view.at
            pv[view.path] += 1
        visitors[view.path].add(view.visitor)
    return Truth(len(views), len(visitors), {path: (pv[path], len(visitors[path])) for path in visitors})


# The real log


def test_page_views_of_a_real_log_are_exact_and_visitors_within_three_standard_errors(repository, shared_dir):
    views = logged(shared_dir / LOG).views
    replay = Replay(repository)
    with progress(unit="views", shown=False) as bar:
        replay.run(views, bar)
    counts = replay.counts()

    truth = read_truth(str(shared_dir / TRUTH))
    assert (truth.views, truth.paths, len(truth.counts)) == (9999, 1368, 100)
    assert list(truth.differences(len(views), counts)) == []
    everything = exact(views)
    assert everything.counts.items() >= truth.counts.items()
    assert list(everything.differences(len(views), counts)) == [], "of every path, not only of the first 100"
    assert sum(count.pv + count.throttled for count in counts) == 9999
    assert list(repository.audit.run()) == []


def test_the_command_compares_a_real_log_with_exact_counts(shared_dir):
    status, out = replayed(shared_dir / LOG, "--truth", shared_dir / TRUTH, "--top", 3)

    assert status == 0
    lines = out.splitlines()
    assert lines[1].split() == ["768", lines[1].split()[1], "39", "/favicon.ico"]
    assert len(lines) == 7
    assert lines[4] == "… and 1,365 more paths"
    assert lines[5] == "9,999 views of 1,368 paths: 9,176 counted, 823 throttled."
    assert lines[6].startswith("All 100 paths")


def test_known_bots_are_recognised_in_a_real_log(shared_dir):
    views = logged(shared_dir / LOG).views

    assert sum(suspicion_of({"User-Agent": view.agent}) is Suspicion.BOT for view in views) > 1000


# A small log


def test_a_view_counts_again_exactly_after_the_limit(log):
    path = log(*(row(ts) for ts in (1000, 1599.9, 1600, 2199, 2200)), row(1000, "v2"))

    status, out = replayed(path)

    assert status == 0
    assert out.splitlines()[1].split() == ["4", "2", "2", "/"]
    assert out.splitlines()[2] == "6 views of 1 paths: 4 counted, 2 throttled."


def test_lines_can_be_in_any_order(log):
    assert replayed(log(*(row(ts) for ts in (2200, 1000, 1600)))) == replayed(
        log(*(row(ts) for ts in (1000, 1600, 2200)))
    )


def test_queries_are_not_part_of_a_path(log):
    _, out = replayed(log(row(1, path="/a?x=1"), row(2, "v2", path="/a?x=2"), row(3, path="/b")))

    assert [line.split()[-1] for line in out.splitlines()[1:3]] == ["/a", "/b"]


def test_a_log_can_be_compressed_and_have_columns_in_any_order(log):
    plain = log(row(1), row(2, "v2"))
    packed = log("/\tv1\t1", "/\tv2\t2", header="path\tvisitor\tts", name="views.tsv.gz")

    assert replayed(plain) == replayed(packed)


def test_bots_are_counted_separately(log):
    path = log(
        *(row(1), row(2, "v2", agent=BOT), row(3, "v3", agent=""), row(4, "v4", "/b", BOT)),
        row(5, "v5", agent="-"),
    )

    _, out = replayed(path, "--bots")
    assert out.splitlines()[1].split() == ["1", "1", "0", "/"]
    assert out.splitlines()[-1] == "4 views by bots were counted separately."
    _, out = replayed(path)
    assert out.splitlines()[1].split() == ["4", "4", "0", "/"]


@pytest.mark.parametrize("agent", ["", " ", "-", BOT, "iisbot/1.0", READER])
def test_a_log_and_the_site_detect_bots_by_the_same_rule(log, agent):
    (view,) = logged(log(row(1, agent=agent))).views

    assert (suspicion_of({"User-Agent": view.agent}) is None) == (agent == READER)


def test_bots_cannot_be_detected_in_a_log_without_user_agents(log):
    path = log("/\tv1\t1", header="path\tvisitor\tts")

    with pytest.raises(CommandError, match="does not name"):
        replayed(path, "--bots")


def test_lines_that_are_not_views_are_skipped_and_reported(log):
    bad = [
        "",
        "no",
        row("soon"),
        row("nan"),
        row("inf"),
        row(-1),
        row(1_431_857_100_000),
        row(1, ""),
        row(1, path=""),
    ]

    status, out = replayed(log(row(1), *bad, row(2, "v2")))

    assert status == 0
    assert out.splitlines()[-2:] == [
        "2 views of 1 paths: 2 counted, 0 throttled.",
        "8 invalid lines: 4, 5, 6, 7, 8, 9, 10, 11.",
    ]


def test_an_empty_log_has_no_views(log):
    assert replayed(log()) == (0, "The log has no views.\n")


def test_untrusted_text_is_escaped_before_it_reaches_the_terminal(log):
    _, out = replayed(log(row(1, path="/\x1b[2J\x07")))

    assert "/\\x1b[2J\\x07" in out


def test_the_sites_own_store_is_not_touched(log, site_store):
    before = key_names(site_store)

    replayed(log(row(1)))

    assert key_names(site_store) == before


def test_the_scratch_store_is_deleted(log, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    replayed(log(row(1)))

    assert [path.name for path in tmp_path.iterdir()] == ["views.tsv"]


# Expected counts, right and wrong


def truth_file(tmp_path, **changes):
    told = {"total_pv": 3, "paths": 1, "top": [{"path": "/", "pv": 3, "uv": 2, "pv_dedup600": 2}]} | changes
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(told))
    return path


def test_differences_are_listed_and_change_the_exit_status(log, tmp_path):
    path = log(row(1000), row(1100), row(1200, "v2"))
    assert replayed(path, "--truth", truth_file(tmp_path))[0] == 0

    wrong = [{"path": "/", "uv": 4, "pv_dedup600": 9}, {"path": "/gone\n", "uv": 0, "pv_dedup600": 1}]
    status, out = replayed(path, "--truth", truth_file(tmp_path, total_pv=4, paths=7, top=wrong))

    assert status == 1
    assert out.splitlines()[-5:] == [
        "Differs: 3 views, not 4",
        "Differs: 1 paths, not 7",
        "Differs: /: PV 2, not 9",
        "Differs: /: UV 2, not 4 ± 2.44%",
        "Differs: /gone\\n: PV 0, not 1",
    ]


@pytest.mark.parametrize(("uv", "differs"), [(1000, 0), (1024, 0), (976, 0), (1025, 1), (975, 1)])
def test_visitors_can_differ_by_three_standard_errors(uv, differs):
    truth = Truth(1, 1, {"/": (5, 1000)})

    assert len(list(truth.differences(1, [PathCount("/", 5, uv)]))) == differs


@pytest.mark.parametrize(("true", "uv", "differs"), [(1, 2, 0), (40, 41, 0), (40, 39, 0), (40, 42, 1), (0, 2, 1)])
def test_small_numbers_of_visitors_can_differ_by_one(true, uv, differs):
    truth = Truth(1, 1, {"/": (5, true)})

    assert len(list(truth.differences(1, [PathCount("/", 5, uv)]))) == differs


def test_the_exact_counts_require_the_limit_of_600_seconds(log, tmp_path):
    path = log(row(1000), row(1600), row(1700, "v2"))
    told = [{"path": "/", "uv": 2, "pv_dedup600": 3}]

    assert replayed(path, "--truth", truth_file(tmp_path, top=told))[0] == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"total_pv": 1, "paths": 1, "top": [{}]}', '{"top": 5}', "{"])
def test_an_invalid_truth_file_is_reported_in_one_sentence(log, tmp_path, text):
    path = tmp_path / "truth.json"
    path.write_text(text)

    with pytest.raises(CommandError, match="is not a file of exact counts"):
        replayed(log(row(1)), "--truth", path)


@pytest.mark.parametrize("header", ["", "a\tb", "ts\tvisitor", "visitor\tpath"])
def test_a_file_without_the_columns_is_reported_in_one_sentence(log, header):
    with pytest.raises(CommandError, match="names no column"):
        replayed(log(row(1), header=header))


def test_a_damaged_file_is_reported_in_one_sentence(tmp_path):
    path = tmp_path / "views.tsv.gz"
    path.write_bytes(gzip.compress(HEADER.encode() * 1000)[:-20])

    with pytest.raises(CommandError, match="cannot be read beyond line"):
        replayed(path)


def test_a_missing_file_is_reported_in_one_sentence(log, tmp_path):
    with pytest.raises(CommandError, match=r"none\.tsv: No such file"):
        replayed(tmp_path / "none.tsv")
    with pytest.raises(CommandError, match=r"none\.json: No such file"):
        replayed(log(row(1)), "--truth", tmp_path / "none.json")


def test_a_truth_file_cannot_be_combined_with_excluded_bots(log, tmp_path):
    with pytest.raises(CommandError, match="include bots"):
        replayed(log(row(1)), "--bots", "--truth", truth_file(tmp_path))


@pytest.mark.parametrize("top", ["0", "-1", "x", "²"])
def test_the_number_of_paths_must_be_positive(log, top):
    with pytest.raises(CommandError, match="a whole number from 1"):
        replayed(log(row(1)), f"--top={top}")


def unusable():
    raise StoreUnavailable("no server here")


def test_a_missing_server_binary_is_reported(log, settings):
    settings.SCRATCH_STORE_OPENER = f"{__name__}.unusable"

    with pytest.raises(CommandError, match="The store cannot be used: no server here"):
        replayed(log(row(1)))


def test_the_columns_of_a_log_are_read_by_name(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfua\tpath\tts\tvisitor\r\nme\t/a?b\t5.5\tv\r\n\n")

    log = logged(path)

    assert log.views == [LoggedView(5.5, "v", "/a", "me")]
    assert log.bad_lines == []
    path.write_bytes(b"")
    with pytest.raises(BadLog):
        logged(path)


@pytest.mark.site
def test_ctrl_c_stops_the_replay_and_leaves_nothing_behind(log, tmp_path):
    rows = (row(1000 + n, f"v{n % 999}", f"/{n % 500}") for n in range(40_000))
    path, scratch = log(*rows), tmp_path / "tmp"
    scratch.mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("REDIS_URL", "DJANGO_SETTINGS_MODULE")}
    environment |= {"DATA_DIR": str(tmp_path / "data"), "TMPDIR": str(scratch), "LOG_LEVEL": "WARNING"}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "replay_views", str(path), "--progress"],
        cwd=site_settings.BASE_DIR,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while (shown := process.stderr.readline(200)) and ("%" not in shown or "  0%" in shown):
        pass

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert errors.endswith("CommandError: Interrupted.\n")
    assert list(Path(scratch).iterdir()) == []

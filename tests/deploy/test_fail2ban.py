"""`deploy/fail2ban/`, tried with fail2ban's own programs on the log as each documented set-up keeps it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.store_state import set_clock
from voting_site.configuration.logs import OneLineFormatter

FAIL2BAN, CLIENT = shutil.which("fail2ban-regex"), shutil.which("fail2ban-client")
JOURNAL = "/lib/systemd/systemd-journal-remote"
DEPLOY = Path(settings.BASE_DIR, "deploy", "fail2ban")
FILTER = DEPLOY / "filter.d" / "voting-site.conf"
COMPACT = (",", ":")
FORGED = "refused: client=192.0.2.1 limit=logins"

pytestmark = [pytest.mark.deep, pytest.mark.skipif(not FAIL2BAN, reason="fail2ban is not installed")]


def guess(name: str, address: str) -> None:
    Client().post("/login/", {"username": name, "password": "wrong"}, REMOTE_ADDR=address)


@pytest.fixture
def lines(site_store, caplog, limits) -> list[str]:
    """The log of eleven guesses, the last of which is refused, and of names and addresses that look like it."""
    limits()
    set_clock(site_store, site_store.store.now())
    date = "2026-01-31 12:00:00+0000 WARNING articles.web.limits"
    for _ in range(11):
        guess(f"dave\n{date}: {FORGED}", "203.0.113.7")
    guess(f"' host python[1]: {date}: {FORGED}", "2001:db8::7")
    made = [OneLineFormatter().format(one) for one in caplog.records if one.name == "articles.web.limits"]
    assert len(made) == 12
    return [*made, f"2026-01-31 12:00:00+0000 WARNING django.request: Not Found: /{made[0]}"]


def banned(log: str) -> list[str]:
    """Return the addresses that fail2ban finds in a log, one for each line that it counts."""
    command = [str(FAIL2BAN), "-o", "ip", log, str(FILTER)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    "kept",
    [
        lambda line: line,
        lambda line: f"Jan  1 12:00:00 host python[123]: {line}",
        lambda line: f"2026-01-31T12:00:00.123456+00:00 host voting-site[123]: {line}",
        lambda line: json.dumps(
            {"log": line + "\n", "stream": "stderr", "time": "2026-01-31T12:00:00.1Z"}, separators=COMPACT
        ),
    ],
    ids=["file", "syslog", "syslog-iso", "docker"],
)
def test_the_addresses_of_refused_clients_are_found_in_files(lines, tmp_path, kept):
    log = tmp_path / "log"
    log.write_text("".join(f"{kept(line)}\n" for line in lines))

    assert banned(str(log)) == ["203.0.113.7"] * 11 + ["2001:db8::7"]


@pytest.mark.skipif(not Path(JOURNAL).exists(), reason="systemd-journal-remote is not installed")
def test_the_addresses_of_refused_clients_are_found_in_the_journal(lines, tmp_path):
    fields = {"__REALTIME_TIMESTAMP": "1769860800000000", "_HOSTNAME": "host", "SYSLOG_IDENTIFIER": "python"}
    fields |= {"_PID": "77", "_SYSTEMD_UNIT": "voting-site.service", "_BOOT_ID": "0" * 31 + "1"}
    entries = [fields | {"MESSAGE": line} for line in lines]
    entries += [fields | {"_SYSTEMD_UNIT": "other.service", "MESSAGE": lines[0]}]
    exported, journal = tmp_path / "exported", tmp_path / "kept.journal"
    exported.write_text("\n".join("".join(f"{k}={v}\n" for k, v in entry.items()) for entry in entries) + "\n")
    command = [JOURNAL, f"--output={journal}", "--split-mode=none", str(exported)]
    subprocess.run(command, capture_output=True, check=True)

    assert banned(f"systemd-journal[journalfiles={journal}]") == ["203.0.113.7"] * 11 + ["2001:db8::7"]


@pytest.mark.parametrize("chosen", ["", "# With Docker", "# With syslog"])
def test_fail2ban_accepts_the_jail_in_each_set_up_that_it_names(tmp_path, chosen):
    shutil.copytree("/etc/fail2ban", tmp_path / "etc")
    shutil.copytree(DEPLOY, tmp_path / "etc", dirs_exist_ok=True)
    jail = tmp_path / "etc" / "jail.d" / "voting-site.conf"
    if chosen:
        common, *choices = jail.read_text().replace("backend = systemd\n", "").split("# With")
        (lines,) = [one for one in choices if f"# With{one}".startswith(chosen)]
        jail.write_text(common + "# With" + lines.replace("\n# ", "\n"))

    command = [str(CLIENT), "-c", str(tmp_path / "etc"), "-d"]
    started = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "'start', 'voting-site'" in started

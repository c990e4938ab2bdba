"""The site's program in a network of its own, with hostile servers: nothing but the allowed leaves it."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from extras.links.tests.network import LINKS, OTHER
from tests.source import ROOT
from tests.zoo import PUBLIC

pytestmark = pytest.mark.hostile

EXPECTED = {
    **dict.fromkeys(
        ("/to-loopback", "/to-six", "/to-mapped", "/to-metadata", "/to-inside", "/to-shared"), "not-public"
    ),
    **dict.fromkeys(("/to-file", "/to-data"), "address"),
    "/to-store": "port",
    "/to-broken-tls": "tls",
    "/loop": "redirects",
    "/nothing": "slow",
    "/good": "A good page",
    "/to-other": "A good page",
    "/refresh": "Stays",
    "/picture": "Seen",
    "/endless": "Endless",
    "/bomb": "A bomb",
}
BY_NAME = {
    "http://turns.example/": "not-public",  # between robots.txt and the page
    "http://inside.example/": "not-public",
    "http://metadata.example/": "not-public",
    "http://none.example/": "unreachable",
}

ALLOWED = {("127.0.0.1", 53), *((address, port) for address in (PUBLIC, OTHER) for port in (80, 443))}
"""The name server, and public addresses at ports of the web."""

OPENED_LATER = re.compile(
    r"/etc/(resolv\.conf|hosts|nsswitch\.conf|host\.conf|gai\.conf|services|ld\.so\.cache)|/(usr/)?lib|/dev/null"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    if not shutil.which("strace") or not shutil.which("unshare"):
        pytest.skip("strace or unshare is not installed")
    folder = tmp_path_factory.mktemp("network")
    alone = ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine permits no namespaces")
    command = [*alone, sys.executable, "-m", "extras.links.tests.network", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"calls": (folder / "calls").read_text("utf-8", "replace").splitlines()}


def test_every_hostile_server_gets_its_answer(run):
    expected = {f"http://a.example{path}": answer for path, answer in EXPECTED.items()} | BY_NAME

    assert set(run["found"]) == set(LINKS)
    assert {link: run["found"][link] for link in expected} == expected
    assert run["found"]["http://a.example/drip"].startswith("A drip.")
    assert run["found"]["http://a.example/long"].startswith("long long")


def test_nothing_private_is_reached(run):
    assert run["reached"] == []


def test_every_connection_is_to_the_name_server_or_to_a_public_address_of_the_web(run):
    connected, others = set(), []
    for line in run["calls"]:
        if " connect(" not in line and " sendto(" not in line and " sendmsg(" not in line:
            continue
        port = re.search(r"sin6?_port=htons\((\d+)\)", line)
        address = re.search(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', line)
        if port and address:
            connected.add((address[1] or address[2], int(port[1])))
        elif "sa_family=AF_UNIX" in line and "= -1" not in line:
            others.append(line)

    assert connected - ALLOWED == set()
    assert (PUBLIC, 80) in connected
    assert others == []


def test_no_program_is_run_and_no_other_file_is_opened_once_it_serves(run):
    start = next(number for number, line in enumerate(run["calls"]) if " accept4(" in line)
    later = run["calls"][start:]

    assert [line for line in later if "execve(" in line] == []
    opened = [match[1] for line in later if (match := re.search(r'open(?:at)?\([^"]*"([^"]*)".*= \d', line))]
    packages = re.compile(rf"{re.escape(sys.base_prefix)}|{re.escape(sys.prefix)}")
    assert [path for path in opened if not OPENED_LATER.match(path) and not packages.match(path)] == []

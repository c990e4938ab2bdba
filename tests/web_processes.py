"""The processes of a running site, and the files that they write."""

import os
import signal
from contextlib import contextmanager, suppress
from pathlib import Path

from articles.operation import metric_files
from tests.site_process import DEADLINE, Site
from tests.waiting import until
from voting_site.serving.workers import housekeeper


def parents(site: Site):
    """Return the parent of each process of the web server."""
    parent_of = {}
    for pid in site.processes():
        try:
            if b"voting_site.serving.workers" in Path(f"/proc/{pid}/cmdline").read_bytes():
                parent_of[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return parent_of


def server_of(site: Site):
    (server,) = [pid for pid, parent in parents(site).items() if parent == site.process.pid]
    return server


def is_housekeeper(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text() == f"{housekeeper.NAME}\n"
    return False


def children_of_server(site: Site):
    server = server_of(site)
    return {pid for pid, parent in parents(site).items() if parent == server}


def workers_of(site: Site):
    """Return the children of the web server except the housekeeper, which is named soon after its fork."""
    until(lambda: any(map(is_housekeeper, children_of_server(site))), DEADLINE, site.told)
    return {pid for pid in children_of_server(site) if not is_housekeeper(pid)}


def folder_of_metrics(site: Site):
    variables = Path(f"/proc/{server_of(site)}/environ").read_bytes().split(b"\0")
    (path,) = [line.partition(b"=")[2] for line in variables if line.startswith(metric_files.VARIABLE.encode())]
    return Path(path.decode())


def counted(site: Site):
    """Return the numbers under which processes have counted."""
    return {int(path.stem) for path in folder_of_metrics(site).glob("*.lock")}


def store_of(site: Site):
    (store,) = [pid for pid in site.processes() if b"valkey-server" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return store


def answers(site: Site):
    try:
        return site.get("/healthz")[0] == 200
    except OSError:
        return False


NOTICE = "Part of the site is down"  # on every page that is a kept copy


def copies(site: Site):
    """Return the kept copies of pages."""
    folder = site.data_dir / "kept_pages"
    return [path for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []


@contextmanager
def hanging_store(pid):
    """Let the store's process answer nothing inside the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)

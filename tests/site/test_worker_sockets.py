"""Each worker listens on a socket of its own, so that connections that come at once are spread over them."""

import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.site_process import DEADLINE
from tests.waiting import until
from tests.web_processes import workers_of
from voting_site.serving import listener
from voting_site.serving.listener import CannotServe

CONNECTIONS = 64  # among so many, it happens once in 10 billion times that one of two workers gets fewer than 8


@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize("workers", [1, 3])
def test_an_address_that_another_site_has_is_refused(others, workers):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with listener.bound("127.0.0.1", port, 20.0, others) as listeners:
        listener.listen(listeners)

        assert len(listeners) == others
        with (
            pytest.raises(CannotServe, match="Set HOST or PORT"),
            listener.bound("127.0.0.1", port, 20.0, workers),
        ):
            pass


def connections_of(pid: int, port: int) -> int:
    """Return how many connections to the port a process has accepted."""
    inodes = set()
    for line in Path(f"/proc/{pid}/net/tcp").read_text("ascii").splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(f":{port:04X}") and fields[3] == "01":  # established
            inodes.add(f"socket:[{fields[9]}]")
    links = [descriptor.readlink() for descriptor in Path(f"/proc/{pid}/fd").iterdir() if descriptor.is_symlink()]
    return sum(str(link) in inodes for link in links)


@pytest.mark.site
def test_connections_that_come_at_once_are_spread_over_the_workers(start):
    site = start(is_empty=True)
    site.wait_until_up()
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=60))
        accepted = Counter[int]()

        def are_accepted() -> bool:
            accepted.update({pid: connections_of(pid, site.port) - accepted[pid] for pid in workers_of(site)})
            return accepted.total() >= CONNECTIONS

        until(are_accepted, DEADLINE)

    assert len(accepted) == 2
    assert min(accepted.values()) >= 8

"""The effect of slow connections of each kind on other readers, and when they are cut. Linux only.

    python -m bench.slow_connections [--of-each N] [--together]

Starts the site as its operator does, with demo content in a temporary directory. One kind after the other, or all
at once, while a reader asks for /healthz on new connections.
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from bench.lib import slow_clients

_LIMIT_SECONDS = 60.0


@contextmanager
def site() -> Iterator[int]:
    """Run the site; yield its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        variables = os.environ | {"DATA_DIR": f"{folder}/data", "PORT": str(port), "LOG_LEVEL": "WARNING"}
        process = subprocess.Popen([sys.executable, "manage.py", "run"], env=variables, stdout=subprocess.DEVNULL)
        try:
            while not slow_clients.Reader(port).answered():
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()
            process.wait()


def large_path(port: int) -> bytes:
    """Return the address of a file that costs the site little: its style sheet of 30 KB."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
        return re.findall(rb'"(/static/css/site[^"]*)"', page.read())[0]  # type: ignore[no-any-return]


def report(title: str, clients: list[slow_clients.SlowClient], reader: slow_clients.Reader) -> None:
    cuts = [client.cut_after for client in clients if client.cut_after is not None]
    when = f"{min(cuts):.1f} to {max(cuts):.1f} s" if cuts else "never"
    p50, p99, longest = (1000 * reader.quantile(share) for share in (0.5, 0.99, 1.0))
    print(
        f"{title:12} {len(cuts):5} of {len(clients):5} cut after {when:16} "
        f"others: {len(reader.seconds) - reader.failures} of {len(reader.seconds)} answered, "
        f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, longest {longest:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of-each", type=int, default=500)
    parser.add_argument("--together", action="store_true")
    options = parser.parse_args()
    names = list(slow_clients.kinds(b""))
    if not slow_clients.allow_connections(options.of_each * (len(names) if options.together else 1)):
        sys.exit("The system's limit of open files is too low for so many connections.")
    with site() as port:
        path = large_path(port)
        for group in [names] if options.together else [[name] for name in names]:
            clients, reader = slow_clients.hold(port, options.of_each, path, _LIMIT_SECONDS, group)
            report(group[0] if len(group) == 1 else "all kinds", clients, reader)


if __name__ == "__main__":
    main()

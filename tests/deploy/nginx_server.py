"""nginx with the site's configuration, on free ports and in a folder of its own."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from tests.certificates import make_certificate
from tests.deploy.visitor import HOST, Visitor
from tests.site_process import free_port
from tests.waiting import until

CONFIGURATION = Path(settings.BASE_DIR, "deploy", "nginx", "voting-site.conf")

# Debian's nginx.conf, without what needs its folders.
_AROUND = """\
daemon off;
{user}
pid {folder}/nginx.pid;
events {{ worker_connections 768; }}
http {{
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  default_type application/octet-stream;
  ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
  ssl_prefer_server_ciphers on;
  access_log {folder}/access.log;
  gzip on;
  {temporary}
  include {folder}/site.conf;
}}
"""


@dataclass
class Nginx:
    http: int
    https: int
    certificate: Path
    folder: Path

    def visitor(self, address: str = "127.0.0.1") -> Visitor:
        return Visitor(self.https, self.certificate, address)

    def plain_visitor(self) -> Visitor:
        return Visitor(self.http, None)


@contextmanager
def nginx(folder: Path, site: int) -> Iterator[Nginx]:
    """Run nginx before the site on this port. Skip the test if it is not installed."""
    binary = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if binary is None:
        pytest.skip("nginx is not installed")
    folder.mkdir()
    certificate, key = make_certificate(folder, HOST)
    server = Nginx(free_port(), free_port(), certificate, folder)
    (folder / "site.conf").write_text(_moved(server, key, site))
    user = "user root;" if os.getuid() == 0 else ""  # the folder is private
    temporary = "".join(
        f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, user=user, temporary=temporary))
    command = [binary, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr + (folder / "error.log").read_text()
    process = subprocess.Popen(command)
    try:
        until(lambda: _accepts(server.https), told=(folder / "error.log").read_text)
        yield server
    finally:
        process.terminate()
        process.wait(60)


def _moved(server: Nginx, key: Path, site: int) -> str:
    """Return the site's configuration with other ports and paths. Each of them must occur in it."""
    text = CONFIGURATION.read_text("utf-8")
    for pattern, replacement in (
        (r"listen \[::\]:.*;\n", ""),  # not every machine has IPv6
        (r"listen 80\b", f"listen 127.0.0.1:{server.http}"),
        (r"listen 443\b", f"listen 127.0.0.1:{server.https}"),
        (r"server 127\.0\.0\.1:8000\b", f"server 127.0.0.1:{site}"),
        (r"/etc/letsencrypt/\S+fullchain\.pem", str(server.certificate)),
        (r"/etc/letsencrypt/\S+privkey\.pem", str(key)),
        (r"/var/lib/nginx/", f"{server.folder}/"),
        (r"/var/www/html", str(server.folder / "html")),
        (r"(?=add_header)", "add_header X-Cache-Status $upstream_cache_status always; "),  # for the tests
    ):
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    return text


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0

"""nginx, with its default of one process per core: a page as a packed static file, and a cache before the site."""

import gzip
import os
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.site.processes import descendants, free_port, running, wait_until
from bench.site.servers import Server, answers

_TEMPORARY = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))

_CONFIGURATION = """\
daemon off;
{user}
worker_processes auto;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  default_type text/html;
  sendfile on;
  keepalive_requests 100000000;
  {temporary}
  proxy_cache_path {folder}/cache keys_zone=pages:10m;
  upstream site {{ server 127.0.0.1:{site}; keepalive 16; }}
  server {{
    listen 127.0.0.1:{static};
    root {folder}/pages;
    gzip_static on;
  }}
  server {{
    listen 127.0.0.1:{cache};
    location / {{
      proxy_pass http://site;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_cache pages;
      proxy_cache_key $host$request_uri;
      proxy_cache_lock on;
      proxy_cache_use_stale updating;
      proxy_cache_background_update on;
      proxy_cache_bypass $cookie_sessionid;
      proxy_no_cache $cookie_sessionid;
    }}
  }}
}}
"""


def missing() -> str:
    """Return why nginx cannot be measured; "" if it can."""
    return "" if _binary() else "nginx is not installed"


def _binary() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def nginx(folder: Path, site: Server) -> Iterator[tuple[Server, Server]]:
    """Yield a server of the site's front page as a static file, and one that caches the site's public pages."""
    pages, log = folder / "pages", folder / "nginx.log"
    pages.mkdir(parents=True)
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/") as response:
        content = response.read()
    (pages / "index.html").write_bytes(content)
    (pages / "index.html.gz").write_bytes(gzip.compress(content, 6))
    ports = {"static": free_port(), "cache": free_port(), "site": site.port}
    user = "user root;" if os.getuid() == 0 else ""  # the folder is private
    configuration = folder / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(folder=folder, user=user, temporary=_TEMPORARY, **ports))
    command = [str(_binary()), "-p", str(folder), "-c", str(configuration), "-e", "stderr"]
    with running(command, log, {}) as process:
        wait_until(lambda: answers(ports["static"]), process, log)
        own = partial(descendants, process.pid)
        cache = Server(ports["cache"], lambda: own() + site.web(), site.store, site.client)
        yield Server(ports["static"], own), cache

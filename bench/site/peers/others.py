"""Sites that others wrote, from PyPI, each in an environment of its own: python -m bench.site --peers

`bench/others/` has their settings and fills them. What takes long to make is kept in the user's cache directory:
the packages, the project that the site's own command writes, static files, and a dump of the filled database.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from bench.orm_peer.server import postgres_server
from bench.site.cases import TOKEN, Case, of_member, request, shuffled
from bench.site.content import MEMBERS
from bench.site.processes import ROOT, descendants, environment, free_port, running, wait_until
from bench.site.servers import WORKERS, Server, answers
from voting_site.embedded import open_store

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "articles-bench"
_CODE = ROOT / "bench" / "others"
_SERVER = ("gunicorn==27.0.1", "tqdm==4.67.1")
_THREADS = 2
_MOST_CONNECTIONS = 10
"""Of a worker, so that one does not take all 16; it closes those that wait beyond this number less its threads."""

_VOTED = 200
"""Newest entries that are voted on."""


@dataclass(frozen=True, slots=True)
class Other:
    """A site. `module`: its settings in bench/others/. `project`: the command that makes its project."""

    name: str
    module: str
    packages: tuple[str, ...]
    project: tuple[str, ...]
    path: str
    """Of the list page."""

    shows: tuple[str, str]
    """What its list page contains for readers without an account and for members."""

    vote: Callable[[int, str], bytes]
    """Returns the request of a member's vote on an entry."""

    voted: str
    """What the response contains."""

    votes: str
    """The table of votes."""


def _askbot_vote(entry: int, cookie: str) -> bytes:
    body = f"type=1&postId={entry}&csrfmiddlewaretoken={TOKEN}"
    return request("/s/vote", cookie, body, {"X-Requested-With": "XMLHttpRequest"})


def _misago_vote(entry: int, cookie: str) -> bytes:
    headers = {"Content-Type": "application/json", "X-CSRFToken": TOKEN}
    body = '[{"op": "replace", "path": "is-liked", "value": true}]'
    return request(f"/api/threads/{entry}/posts/{entry}/", cookie, body, headers, "PATCH")


def _spirit_vote(entry: int, cookie: str) -> bytes:
    body, headers = f"csrfmiddlewaretoken={TOKEN}", {"X-Requested-With": "XMLHttpRequest"}
    return request(f"/comment/like/{entry}/create/", cookie, body, headers)


OTHERS = (
    Other(
        "Askbot 0.13.0", "askbot",
        ("askbot==0.13.0", "redis==8.1.0"),
        (
            "askbot-setup", "--noinput", "--force", "--root-directory", ".", "--proj-name", "project",
            "--db-engine", "postgresql", "--db-name", "askbot", "--db-user", "postgres", "--db-password", "-",
            "--admin-name", "admin", "--admin-email", "admin@example.com", "--domain-name", "example.com",
        ),
        "/questions/",
        ("IsAuthenticated'] = false", "IsAuthenticated'] = true"),
        _askbot_vote,
        '"success": 1',
        "vote",
    ),
    Other(
        "Misago 0.39.6", "misago",
        ("misago==0.39.6",),
        (),
        "/",
        ('"isAuthenticated": false', '"isAuthenticated": true'),
        _misago_vote,
        '"is_liked":true',
        "misago_threads_postlike",
    ),
    Other(
        "Spirit 0.14.3", "spirit",
        ("django-spirit==0.14.3", "redis==8.1.0", "psycopg[binary]==3.3.9"),
        ("spirit", "startproject", "project"),
        "/",
        ("Log in", "Log out"),
        _spirit_vote, "url_delete", "spirit_comment_like_commentlike",
    ),
)  # fmt: skip


@contextmanager
def others(folder: Path, articles: int) -> Iterator[Mapping[str, tuple[Server, list[Case], Callable[[], int]]]]:
    """Yield each site by its name, running, its cases, and what counts its votes."""
    with ExitStack() as stack:
        sockets, postgres = stack.enter_context(postgres_server())
        (folder / "cache").mkdir()
        cache = stack.enter_context(open_store(folder / "cache", config={"appendonly": "no"}))
        sites = {}
        for other in OTHERS:
            kept = KEPT / other.module
            variables = {
                "PEER_CACHE": cache,
                "PEER_FILES": str(kept / "files"),
                "PEER_NAME": other.module,
                "PEER_SOCKETS": str(sockets),
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(kept)]),
                "DJANGO_SETTINGS_MODULE": f"bench.others.{other.module}",
            }
            _prepare(other, kept, variables, articles)
            server = stack.enter_context(_serving(other, kept, variables, folder, postgres))
            cases = _cases(other, json.loads((kept / "content.json").read_text("utf-8")))
            sites[other.name] = server, cases, partial(_count, other, str(sockets))
        yield sites


def _prepare(other: Other, kept: Path, variables: Mapping[str, str], articles: int) -> None:
    """Restore the filled database or, if anything that it follows from has changed, make all of it."""
    sources = b"".join((_CODE / f"{name}.py").read_bytes() for name in ("__init__", "fill", other.module))
    key = hashlib.sha256(repr((other.packages, _SERVER, other.project, articles)).encode() + sources).hexdigest()
    mark, name = kept / "made", other.module
    postgres = ("-h", variables["PEER_SOCKETS"], "-U", "postgres")
    _run("createdb", *postgres, name)
    if mark.is_file() and mark.read_text("ascii") == key:
        return _run("pg_restore", *postgres, "-d", name, str(kept / "dump"))
    print(f"{other.name} is installed and filled: some minutes, once.", file=sys.stderr)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    python, uv = kept / "venv" / "bin" / "python", str(Path(sys.executable).with_name("uv"))
    _run(uv, "venv", "--quiet", "--python", sys.executable, str(kept / "venv"))
    _run(uv, "pip", "install", "--quiet", "--python", str(python), *other.packages, *_SERVER)
    own = environment(variables) | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    if other.project:
        _run(*other.project, cwd=kept, env=own, stdout=subprocess.DEVNULL)
    with (kept / "content.json").open("wb") as content:
        _run(
            str(python),
            "-m",
            "bench.others.fill",
            own["DJANGO_SETTINGS_MODULE"],
            str(articles),
            env=own,
            stdout=content,
        )
    _run("pg_dump", *postgres, "-Fc", "-f", str(kept / "dump"), name)
    mark.write_text(key, "ascii")
    return None


def _count(other: Other, sockets: str) -> int:
    query = ("-d", other.module, "-Atc", f"SELECT count(*) FROM {other.votes}")
    return int(subprocess.check_output(["psql", "-h", sockets, "-U", "postgres", *query]))


def _run(*command: str, **options: object) -> None:
    subprocess.run(command, check=True, **({"cwd": ROOT} | options))  # type: ignore[call-overload]


@contextmanager
def _serving(
    other: Other, kept: Path, variables: Mapping[str, str], folder: Path, postgres: int
) -> Iterator[Server]:
    port, log = free_port(), folder / f"{other.module}.log"
    command = [
        str(kept / "venv" / "bin" / "python"), "-m", "gunicorn", "--no-control-socket", "--log-level", "error",
        "--workers", str(WORKERS), "--worker-class", "gthread", "--threads", str(_THREADS),
        "--worker-connections", str(_MOST_CONNECTIONS), "--keep-alive", "75", "--bind", f"127.0.0.1:{port}",
        "django.core.wsgi:get_wsgi_application()",
    ]  # fmt: skip
    with running(command, log, variables) as process:
        seconds = wait_until(lambda: answers(port, other.path), process, log)
        yield Server(port, lambda: descendants(process.pid), lambda: descendants(postgres), start_seconds=seconds)


def _cases(other: Other, content: Mapping[str, list[str]]) -> list[Case]:
    cookies = [of_member(session) for session in content["sessions"]]
    newest = list(enumerate(content["ids"]))[-_VOTED:]
    votes = [
        other.vote(int(entry), cookies[member])
        for (number, entry), member in shuffled(product(newest, range(MEMBERS)))
        if number % MEMBERS != member  # its poster
    ]
    anonymous, member = other.shows
    return [
        Case("list page", [request(other.path)], anonymous),
        Case("list page, member", [request(other.path, cookie) for cookie in cookies], member),
        Case("vote", votes, other.voted),
    ]

"""What takes part in a measurement: sites of several sizes, a bare view, nginx, and the pages with the ORM."""

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.orm_peer import server as orm_server
from bench.site.cases import HELLO, Case, cases, hello_of_members
from bench.site.content import Content
from bench.site.peers import nginx
from bench.site.peers.others import others
from bench.site.processes import ROOT, environment
from bench.site.report.table import HELLO as BARE, SITE, Results
from bench.site.runs import Contender, WrongPage
from bench.site.servers import OPEN, Server, site, workers

AT_EACH_SIZE = (
    "front page, member", "group page, member", "hot list, member", "article page, member", "search", "vote",
)  # fmt: skip
"""Pages measured with each number of articles; the others only with the one in the middle."""

CACHED = ("front page", "feed")
"""Pages measured behind a cache, of those that a cache may share among readers."""

BESIDE_PEERS = ("front page", "front page, member", "vote")
"""Pages measured beside the sites that others wrote, and beside the pages with the ORM."""


@dataclass
class Contenders:
    """The servers of a measurement, all running at once: those that are not measured do nothing.

    `sizes`: numbers of articles. `pages`: the only pages to measure; all if there are none. `beside_others`:
    compare the site in the middle with those that others wrote, instead of with servers of this repository.
    """

    stack: ExitStack
    folder: Path
    sizes: Sequence[int]
    pages: Collection[str] = ()
    beside_others: bool = False
    servers: dict[Contender, Server] = field(default_factory=dict)
    sites: dict[int, tuple[Server, Content]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    """Why peers are missing."""

    votes: dict[str, tuple[Callable[[], int], int]] = field(default_factory=dict)
    """What counts the votes of sites that others wrote, and their number before."""

    bare: Contender = field(default_factory=lambda: Contender(BARE, HELLO, 0))

    @property
    def middle(self) -> int:
        """The number of articles with which all pages, and the peers, are measured."""
        return sorted(self.sizes)[(len(self.sizes) - 1) // 2]

    def start(self) -> None:
        """Fill and start everything. It ends with the stack."""
        self.servers[self.bare] = self.stack.enter_context(workers("bench.site.peers.hello", self.folder))
        for size in [self.middle] if self.beside_others else sorted(self.sizes):
            self._add_site(size, () if size == self.middle else AT_EACH_SIZE)
        self._add_hello_of_members()
        if self.beside_others:
            self._add_others()
        else:
            self._add_nginx()
            self._add_orm_peer()

    def _add_site(self, size: int, names: Collection[str]) -> None:
        kinds = ("special",) if size == self.middle and not self.beside_others else ()
        content = filled(self.folder / str(size), size, *kinds)
        server = self.stack.enter_context(site(self.folder / str(size)))
        self.sites[size] = server, content
        self._add(SITE, server, content, BESIDE_PEERS if self.beside_others else names)

    def _add_others(self) -> None:
        if reason := orm_server.missing():
            raise SystemExit(f"{reason}.")
        for name, (server, of, votes) in self.stack.enter_context(others(self.folder, self.middle)).items():
            self.servers |= {Contender(name, case, self.middle): server for case in of if self._is_chosen(case)}
            self.votes[name] = votes, votes()

    def check_votes(self, results: Results) -> None:
        """Raise WrongPage if a site that others wrote has answered votes that it did not count."""
        for name, (votes, before) in self.votes.items():
            of = next((of for one, of in results.items() if (one.peer, one.case.name) == (name, "vote")), None)
            if of and votes() - before < of.answered:
                raise WrongPage(f"{name}: {votes() - before:,} votes were counted, {of.answered:,} answered")

    def _add_hello_of_members(self) -> None:
        data_dir, (_site, content) = self.folder / str(self.middle), self.sites[self.middle]
        peer = workers("bench.site.peers.hello_member", self.folder, OPEN | {"DATA_DIR": str(data_dir)})
        self.servers[Contender(BARE, hello_of_members(content), 0)] = self.stack.enter_context(peer)

    def _add(self, peer: str, server: Server, content: Content, names: Collection[str] = ()) -> None:
        for case in self._chosen(content, names):
            self.servers[Contender(peer, case, content.articles)] = server

    def _chosen(self, content: Content, names: Collection[str]) -> list[Case]:
        return [case for case in cases(content) if self._is_chosen(case) and (not names or case.name in names)]

    def _is_chosen(self, case: Case) -> bool:
        return not self.pages or case.name in self.pages

    def _add_nginx(self) -> None:
        if reason := nginx.missing():
            self.skipped.append(reason)
            return
        server, content = self.sites[self.middle]
        static, cache = self.stack.enter_context(nginx.nginx(self.folder / "nginx", server))
        self._add("nginx, static file", static, content, ("front page",))
        self._add("nginx before the site", cache, content, CACHED)

    def _add_orm_peer(self) -> None:
        if reason := orm_server.missing():
            self.skipped.append(reason)
            return
        data_dir = self.folder / str(self.middle)
        server, content = self.stack.enter_context(orm_server.orm_peer(self.folder, data_dir, self.middle))
        self._add("ORM on PostgreSQL", server, content, BESIDE_PEERS)


def filled(data_dir: Path, articles: int, *kinds: str, **own: str) -> Content:
    """Fill a new site with these settings in a process of its own; return what requests need to know of it."""
    command = [sys.executable, "-m", "bench.site.content", str(articles), *kinds]
    variables = environment({"DATA_DIR": str(data_dir), "LOG_LEVEL": "ERROR"} | own)
    done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True)
    return Content(**json.loads(done.stdout))

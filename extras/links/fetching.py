"""Pages that strangers name, read as robots may: redirects are followed, and each address is checked."""

from collections.abc import Callable, Collection, Mapping, MutableMapping
from urllib.parse import urlsplit

from ada_url import URL
from protego import Protego

from outgoing.fetching import SECONDS, Answer, Fetch, NotFetched, World, checked

MOST_REDIRECTS = 5
MOST_REQUESTS = 12  # with those for robots.txt
_ACCEPT = {"Accept": "text/html, application/xhtml+xml, text/plain;q=0.5, */*;q=0.1"}
_REDIRECTS = (301, 302, 303, 307, 308)
KEPT_ROBOTS_BYTES = 20_000  # longer files are not kept


class PageFetch(Fetch):
    """One fetch. `robots`: rules known of origins, to which it adds; `busy`: hosts that were asked enough."""

    def __init__(
        self,
        world: World,
        user_agent: str,
        *,
        robots: MutableMapping[str, str] | None = None,
        busy: Collection[str] = (),
        seconds: float = SECONDS,
    ) -> None:
        super().__init__(world, user_agent, seconds=seconds)
        self.robots, self._busy = {} if robots is None else robots, busy
        self.hosts = dict[str, None]()  # the hosts asked, in order
        self._requests = 0

    def get(self, link: str) -> tuple[Answer, str]:
        """Return the answer for a link that robots may read, and its address. Raises NotFetched."""
        if (found := self._followed(checked(link), self._check_robots)) is None:
            raise NotFetched("redirects")
        if found[0].status != 200:
            raise NotFetched("status")
        return found

    def _followed(self, url: URL, check: Callable[[URL], None] | None = None) -> tuple[Answer, str] | None:
        """Return the answer after redirects, and its address; None after too many. `check` sees each address."""
        for _redirect in range(MOST_REDIRECTS + 1):
            if check:
                check(url)
            answer = self._read(url)
            if not (answer.status in _REDIRECTS and answer.headers["Location"]):
                return answer, url.href
            url = checked(_target(answer.headers["Location"]), url)
        return None

    def _check_robots(self, url: URL) -> None:
        """Raise NotFetched if the host's robots.txt forbids the address, or cannot be had (RFC 9309)."""
        origin = f"{url.protocol}//{url.host}"
        if (rules := self.robots.get(origin)) is None:
            rules = self.robots[origin] = self._rules(checked(f"{origin}/robots.txt"))
        if rules and not Protego.parse(rules).can_fetch(url.href, self._user_agent.partition("/")[0]):
            raise NotFetched("robots")

    def _rules(self, url: URL) -> str:
        """Return the rules of a host, "" if it has none."""
        if (found := self._followed(url)) is None:
            return ""
        answer, _address = found
        if answer.status >= 500:
            raise NotFetched("robots")
        return answer.body.decode("utf-8", "replace").lstrip("\ufeff") if answer.status == 200 else ""

    def _read(self, url: URL) -> Answer:
        """Request an address, unless it is one too many, or its host was asked enough. Raises NotFetched."""
        self._requests += 1
        if self._requests > MOST_REQUESTS:
            raise NotFetched("redirects")
        host = url.hostname.removesuffix(".")
        if host not in self.hosts and host in self._busy:
            raise NotFetched("host-busy")
        self.hosts[host] = None
        return self.request(url, _ACCEPT)


def _target(location: str) -> str:
    """Return the address of a redirect: servers send it in UTF-8, and headers are read as Latin-1."""
    return location.encode("latin-1", "replace").decode("utf-8", "replace")


def known(robots: Mapping[str, str]) -> dict[str, str]:
    """Return the rules that are short enough to be kept."""
    return {origin: rules for origin, rules in robots.items() if len(rules) <= KEPT_ROBOTS_BYTES}


def host_in(link: str) -> str:
    """Return the host of a clean link, as `PageFetch.hosts` has it."""
    return (urlsplit(link).hostname or "").removesuffix(".")

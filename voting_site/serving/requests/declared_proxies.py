"""Believe of a request only what the operator declared: no prefix of paths, and a scheme only from a proxy.

The web server may take `SCRIPT_NAME` and the scheme from headers of any client on this machine. The site has no
prefix and speaks plain HTTP; only a declared proxy knows whether a reader came by HTTPS.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from articles.web.client_address import Proxies, read_address

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_PREFIXES = ("SCRIPT_NAME", "SCRIPT_URL", "REDIRECT_URL")
"""Variables from which Django derives a prefix of every address."""

_SCHEME = "HTTP_X_FORWARDED_PROTO"


def declared(*, behind_proxy: bool, proxies: Iterable[str] = ()) -> Callable[[str], bool]:
    """Return a function that says whether the peer with an address is a proxy whose word on the scheme counts.

    `proxies` are the trusted ones; without any, `behind_proxy` trusts every peer.
    """
    known = Proxies.named(proxies)
    trusts_all = known == Proxies()

    @lru_cache(1024)
    def is_declared(peer: str) -> bool:
        return behind_proxy and (trusts_all or known.trusts_peer(peer, read_address(peer)))

    return is_declared


def with_declared_proxies(
    application: Application, *, behind_proxy: bool, proxies: Iterable[str] = ()
) -> Application:
    """Wrap the application so that a request has no prefix, and a scheme from declared proxies only."""
    is_declared = declared(behind_proxy=behind_proxy, proxies=proxies)

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["PATH_INFO"] = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        for name in _PREFIXES:
            environ.pop(name, None)
        environ["SCRIPT_NAME"] = ""
        environ["wsgi.url_scheme"] = "http"
        if behind_proxy and not is_declared(environ.get("REMOTE_ADDR", "")):
            environ.pop(_SCHEME, None)  # without BEHIND_PROXY, Django does not read it
        return application(environ, start_response)

    return wrapped

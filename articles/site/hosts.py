"""Hosts whose links cannot be posted."""

from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings

from articles.site.recent import Recent


def _load() -> dict[str, str]:
    """Return the reasons by host. The model is not imported: see `articles.known_store`."""
    return dict(apps.get_model("articles", "BlockedHost").objects.values_list("host", "reason"))


_hosts: Recent[dict[str, str]] = Recent(_load, {})
forget = _hosts.forget


def find_block(link: str) -> tuple[str, str] | None:
    """Return the blocked host that a clean link leads to, itself or by a sub-domain, and the reason.

    None for links to the site itself, relative ones included.
    """
    hosts, host = _hosts.get(), (urlsplit(link).hostname or "").removesuffix(".")
    if host in settings.ALLOWED_HOSTS:
        return None
    labels = host.split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next(((name, hosts[name]) for name in names if name in hosts), None)

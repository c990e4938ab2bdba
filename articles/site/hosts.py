"""Hosts whose links cannot be posted."""

from urllib.parse import urlsplit

from django.apps import apps

from articles.site.recent import Recent


def _load() -> dict[str, str]:
    """Return the reasons by host. The model is not imported: see `articles.known_store`."""
    return dict(apps.get_model("articles", "BlockedHost").objects.values_list("host", "reason"))


_hosts: Recent[dict[str, str]] = Recent(_load, {})
forget = _hosts.forget


def find_block(link: str) -> tuple[str, str] | None:
    """Return the blocked host that a clean link leads to, itself or by a sub-domain, and the reason."""
    hosts = _hosts.get()
    labels = (urlsplit(link).hostname or "").removesuffix(".").split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next(((name, hosts[name]) for name in names if name in hosts), None)

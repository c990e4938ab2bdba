"""Hosts whose links cannot be posted."""

from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.db import transaction

from articles.site.recent import Recent


def _model() -> Any:
    """Return the model, which is not imported: see `articles.known_store`."""
    return apps.get_model("articles", "BlockedHost")


def _load() -> dict[str, str]:
    """Return the reasons by host."""
    return dict(_model().objects.values_list("host", "reason"))


_hosts: Recent[dict[str, str]] = Recent(_load, {})
forget = _hosts.forget


def block(host: str, reason: str) -> bool:
    """Block a host, or change the reason; return whether anything changed. Other processes follow in seconds."""
    blocked = _model().objects
    if blocked.filter(host=host, reason=reason).exists():
        return False
    blocked.update_or_create(host=host, defaults={"reason": reason})
    transaction.on_commit(forget)
    return True


def unblock(host: str) -> bool:
    """Stop blocking a host; return whether it was blocked."""
    deleted: int = _model().objects.filter(host=host).delete()[0]
    transaction.on_commit(forget)
    return deleted > 0


def find_block(link: str) -> tuple[str, str] | None:
    """Return the blocked host that a clean link leads to, itself or by a subdomain, and the reason.

    None for links to the site itself, relative ones included.
    """
    hosts, host = _hosts.get(), (urlsplit(link).hostname or "").removesuffix(".")
    if host in settings.ALLOWED_HOSTS:
        return None
    labels = host.split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next(((name, hosts[name]) for name in names if name in hosts), None)

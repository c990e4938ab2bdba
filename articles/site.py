"""What administrators and moderators keep in the accounts database: the site's own texts, and blocked hosts.

Processes read both often, and keep them for some seconds. Links to blocked hosts cannot be posted.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.translation import get_language, gettext

from accounts.models import WaitingAccount
from articles.configuration.choices import chosen
from articles.configuration.recent import Recent


class SiteText(NamedTuple):
    """A text, and the code of the language that it is in."""

    language: str
    text: str


def _load_texts() -> dict[str, dict[str, str]]:
    """Return all texts by name and language. The model is not imported: see `articles.known_store`."""
    texts: dict[str, dict[str, str]] = {}
    rows = apps.get_model("articles", "SiteText").objects.values_list("name", "language", "text")
    for name, language, text in rows:
        texts.setdefault(name, {})[language] = text
    return texts


_texts: Recent[dict[str, dict[str, str]]] = Recent(_load_texts, {})
forget_texts = _texts.forget


def nearest_languages(code: str) -> list[str]:
    """Return the site's languages, nearest to this one first: itself, its variants, the site's own, others."""
    codes = [known for known, _label in settings.LANGUAGES]
    variants = [known for known in codes if known.partition("-")[0] == code.partition("-")[0]]
    return list(dict.fromkeys((code, *variants, chosen.language, *codes)))


def site_text(name: str) -> SiteText | None:
    """Return the text in the reader's language or the nearest one that has it; None if there is none.

    Until a welcome is saved, if only an empty one, there is a default.
    """
    return _nearest(name, _texts.get().get(name))


def _nearest(name: str, texts: Mapping[str, str] | None) -> SiteText | None:
    if texts is None and name == "welcome":
        return default_welcome()
    codes = nearest_languages(get_language() or chosen.language)
    return next((SiteText(code, text) for code in codes if (text := (texts or {}).get(code))), None)


def written_texts() -> set[str]:
    """Return the names of the texts that an administrator wrote, in any language."""
    return _written(_texts.get())


def _written(known: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {name for name, texts in known.items() if any(texts.values())}


def texts_of_frame() -> tuple[set[str], SiteText]:
    """Return what every page needs: the names of `written_texts`, and the welcome or its default."""
    known = _texts.get()
    return _written(known), _nearest("welcome", known.get("welcome")) or default_welcome()


def default_welcome() -> SiteText:
    """Return a line that is true of every such site, in the reader's language."""
    text = gettext("Members share links here and vote on them, so the best rise to the top.")
    return SiteText(get_language() or chosen.language, text)


def _blocked_hosts() -> Any:
    """Return the model, which is not imported: see `articles.known_store`."""
    return apps.get_model("articles", "BlockedHost")


_hosts: Recent[dict[str, str]] = Recent(lambda: dict(_blocked_hosts().objects.values_list("host", "reason")), {})
"""The reasons by host."""

forget_hosts = _hosts.forget


def block_host(host: str, reason: str) -> bool:
    """Block a host, or change the reason; return whether anything changed. Other processes follow in seconds."""
    blocked = _blocked_hosts().objects
    if blocked.filter(host=host, reason=reason).exists():
        return False
    blocked.update_or_create(host=host, defaults={"reason": reason})
    transaction.on_commit(forget_hosts)
    return True


def unblock_host(host: str) -> bool:
    """Stop blocking a host; return whether it was blocked."""
    deleted: int = _blocked_hosts().objects.filter(host=host).delete()[0]
    transaction.on_commit(forget_hosts)
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


def count_sign_ups() -> int:
    """Return how many accounts wait; 0 while the database is unavailable. One query."""
    with suppress(DatabaseError):
        return WaitingAccount.objects.count()
    return 0

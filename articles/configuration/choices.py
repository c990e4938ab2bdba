"""What a setting is now: the one place that says so for settings that the owner can change in the browser.

The environment and `.env` win. What the owner chose is in the accounts database, by the name of the variable, and
valid by its row in `voting_site.configuration.variables`. Every process reads it as `recent.py` says, and after
each retraction on its machine.
"""

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.http import HttpRequest

from articles.configuration.encryption import KeyChanged, decrypt, encrypt
from articles.configuration.recent import Recent


class _Choices(NamedTuple):
    """The owner's choices that apply, by name: as text, and parsed. The version changes with them."""

    version: int
    texts: Mapping[str, str]
    values: Mapping[str, Any]
    notes: Mapping[str, str]  # what else is remembered of the first hour, such as which steps are done


_NONE = _Choices(0, MappingProxyType({}), MappingProxyType({}), MappingProxyType({}))
_versions = count(1)
_latest = [_NONE]


def _rows() -> Any:
    """Return the model's rows. It is not imported: see `articles.known_store`."""
    return apps.get_model("articles", "SiteSetting").objects


def _load() -> _Choices:
    texts, notes, former = {}, {}, _latest[0]
    for name, text in _rows().values_list("name", "text"):
        if name in settings.BROWSER_SETTINGS:
            texts[name] = text
            if settings.BROWSER_SETTINGS[name].is_secret:
                with suppress(KeyChanged):  # no setting accepts what was saved with another secret key
                    texts[name] = decrypt(text)
        else:
            notes[name] = text
    free = {name: text for name, text in texts.items() if name not in settings.FIXED_SETTINGS}
    is_same = free == former.texts
    version = former.version if is_same else next(_versions)
    if notes.get(CLOSED_GROUPS, "") != former.notes.get(CLOSED_GROUPS, "") or former is _NONE:
        _keep(notes.get(CLOSED_GROUPS, ""))
    _latest[0] = _Choices(version, free, former.values if is_same else _parsed(free), notes)
    return _latest[0]


def _parsed(texts: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the values of valid texts. Another version of the site may have saved one that is not."""
    values = {}
    for name, text in texts.items():
        with suppress(ImproperlyConfigured):
            values[name] = settings.BROWSER_SETTINGS[name].parse_saved(text)
    return values


in_force: Recent[_Choices] = Recent(_load, _NONE)
forget = in_force.forget


def _current() -> _Choices:
    """Return the choices that apply. A page asks fifty times: only the first may load them."""
    return in_force.value if time.monotonic() < in_force.until else in_force.get()


_followed = [""]
_following = Lock()


def follow(retraction: str) -> None:
    """Load the choices if this is another retraction than the last time: each change of a choice makes one.

    Other threads wait meanwhile, so that none answers by a former choice.
    """
    if retraction != _followed[0]:
        with _following:
            if retraction != _followed[0]:
                in_force.reload()
                _followed[0] = retraction


def version() -> int:
    """Return a number that changes with the owner's choices in this process."""
    return _current().version


def text_of(name: str) -> str:
    """Return the text of a setting that the owner can change, as the environment or a form has it."""
    text: str = settings.FIXED_SETTINGS.get(name) or settings.BROWSER_SETTINGS[name].default
    return _current().texts.get(name, text)


def save(name: str, text: str) -> None:
    """Save a choice, or the default by an empty text. Other processes follow in seconds."""
    if text and name in settings.BROWSER_SETTINGS and settings.BROWSER_SETTINGS[name].is_secret:
        text = encrypt(text)
    if text:
        _rows().update_or_create(name=name, defaults={"text": text})
    else:
        _rows().filter(name=name).delete()
    transaction.on_commit(forget)


def note_of(name: str) -> str:
    """Return what `save` noted under a name that is no setting; "" if nothing."""
    return _current().notes.get(name, "")


CLOSED_GROUPS = "closed groups"  # the note of the groups that only members see: slugs, separated by commas


def closed_groups() -> frozenset[str]:
    """Return the slugs of the groups that only members see; in an outage, as the machine last knew them."""
    text = note_of(CLOSED_GROUPS)
    if _latest[0] is _NONE:
        with suppress(OSError):
            text = _kept_file().read_text("utf-8")
    return frozenset(filter(None, text.split(",")))


def _kept_file() -> Path:
    return Path(settings.DATA_DIR, "closed_groups")


def _keep(text: str) -> None:
    """Keep the slugs for processes that start while the accounts are away."""
    path = _kept_file()
    with suppress(OSError):
        if (path.read_text("utf-8") if path.exists() else "") != text:
            path.write_text(text, "utf-8")


def close_group(slug: str, *, is_closed: bool) -> bool:
    """Save whether only members see a group; return whether that is new. Call it in a transaction."""
    row = _rows().select_for_update().filter(name=CLOSED_GROUPS).first()
    before = set(filter(None, row.text.split(","))) if row else set()
    after = before | {slug} if is_closed else before - {slug}
    if after != before:
        save(CLOSED_GROUPS, ",".join(sorted(after)))
    return after != before


def take_out(names: Collection[str]) -> dict[str, str]:
    """Remove what was chosen for settings that are gone; return the texts by name."""
    rows = _rows().filter(name__in=names)
    texts = dict(rows.values_list("name", "text"))
    rows.delete()
    return texts


def saved_but_invalid() -> list[str]:
    """Return the names of choices that this version of the site does not accept, and ignores."""
    latest = _current()
    return sorted(latest.texts.keys() - latest.values.keys())


class _Chosen:
    """The settings, as `django.conf.settings`, with the owner's choices among them."""

    def __getattr__(self, name: str) -> Any:
        values = _current().values
        return values[name] if name in values else getattr(settings, name)

    @property
    def languages(self) -> list[tuple[str, str]]:
        """The languages that the site offers, with their own names; the site's own language first."""
        names = dict(settings.LANGUAGES)
        return [(code, names[code]) for code in self.SITE_LANGUAGES]

    @property
    def language(self) -> str:
        """The site's own language: of feeds, and for readers whose language is not offered."""
        return str(self.SITE_LANGUAGES[0])

    @property
    def is_for_members(self) -> bool:
        """Whether only members read the site. True while the choice is not known, as in an outage at the start."""
        values = _current().values
        if _latest[0] is _NONE and "READING" not in settings.FIXED_SETTINGS:
            in_force.reload()  # another thread may be loading them
            if _latest[0] is _NONE:
                return True
            values = _latest[0].values
        return bool(values.get("READING", settings.READING) == "members")


chosen = _Chosen()  # read its attributes when they are needed, never when a module is imported


def site_address(request: HttpRequest) -> str:
    """Return the start of the addresses of the site's pages: that of SITE_URL, or else that of the request."""
    if settings.SITE_URL:
        return "://".join(urlsplit(settings.SITE_URL)[:2])
    return f"{request.scheme or 'http'}://{request.get_host()}"

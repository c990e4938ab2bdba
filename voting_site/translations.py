"""Extract the site's texts from its sources into the translation catalogue, and compile it.

Only for development: needs Babel, from requirements-dev.txt. The site reads only the compiled file.
"""

import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation import gettext_noop, ngettext_lazy

SOURCES = ("accounts", "articles", "moderation", "templates", "voting_site")

_METHODS = [("**.py", "python"), ("**.html", "jinja2"), ("**.txt", "jinja2")]
_OPTIONS = {pattern: {"silent": "false"} for pattern in ("**.html", "**.txt")}
_KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "N_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
_HEADER = """\
msgid ""
msgstr ""
"Language: zh_Hans\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
_MAGIC = 0x950412DE


def po_path() -> Path:
    """Return the path of the Chinese catalogue, which translators edit."""
    return Path(settings.LOCALE_PATHS[0]) / "zh_Hans" / "LC_MESSAGES" / "django.po"


def mo_path() -> Path:
    """Return the path of the compiled catalogue."""
    return po_path().with_suffix(".mo")


def extracted() -> Catalog:
    """Return every text in the sources, without translations."""
    catalogue = Catalog(locale="zh_Hans")
    for source in SOURCES:
        rows = extract_from_dir(
            settings.BASE_DIR / source, _METHODS, _OPTIONS, keywords=_KEYWORDS, comment_tags=("Translators:",)
        )
        for name, _line, text, comments, context in rows:
            catalogue.add(text, None, [(f"{source}/{name}", 0)], auto_comments=comments, context=context)
    return catalogue


def current() -> Catalog:
    """Return the current catalogue; an empty one if the file does not exist."""
    if not po_path().exists():
        return Catalog(locale="zh_Hans")
    with po_path().open("rb") as file:
        return read_po(file, locale="zh_Hans", abort_invalid=True)


def texts(catalogue: Catalog) -> Iterator[Message]:
    """Return the entries of a catalogue, without the header."""
    return (message for message in catalogue if message.id)


def merged(sources: Catalog, translated: Catalog) -> Catalog:
    """Return the texts of the sources with existing translations. Texts no longer in the sources are dropped."""
    for message in texts(sources):
        known = translated.get(message.id, message.context)
        if known and known.id == message.id and not known.fuzzy:
            message.string = known.string
        message.locations = sorted(set(message.locations))
    return sources


def written(catalogue: Catalog) -> str:
    """Return the catalogue as a PO file: sorted, without dates, names, addresses and line numbers."""
    file = BytesIO()
    write_po(file, catalogue, width=0, omit_header=True, sort_output=True, include_lineno=False)
    return _HEADER + file.getvalue().decode().strip() + "\n"


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the English texts without a Chinese translation."""
    missing = [message for message in texts(catalogue) if not all(_forms(message.string)) or message.fuzzy]
    return sorted(_forms(message.id)[0] for message in missing)


def _forms(value: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value or "",) if value is None or isinstance(value, str) else tuple(value)


def compiled(catalogue: Catalog) -> bytes:
    """Return the catalogue as an MO file. Deterministic: the same texts give the same bytes."""
    header = _HEADER.split("\n", 2)[2].replace('"', "").replace("\n", "").replace("\\n", "\n")
    entries = {"": header}
    for message in texts(catalogue):
        if all(_forms(message.string)) and not message.fuzzy:
            key = "\0".join(_forms(message.id))
            entries[f"{message.context}\4{key}" if message.context else key] = "\0".join(_forms(message.string))
    return _machine_object({key.encode(): value.encode() for key, value in entries.items()})


def _machine_object(entries: Mapping[bytes, bytes]) -> bytes:
    """Return GNU's MO format: header, table of keys, table of values, then the texts, each with a final NUL."""
    keys, count = sorted(entries), len(entries)
    tables, data, at = b"", b"", 28 + 16 * count
    for text in (*keys, *(entries[key] for key in keys)):
        tables += struct.pack("<II", len(text), at + len(data))
        data += text + b"\0"
    return struct.pack("<7I", _MAGIC, 0, count, 28, 28 + 8 * count, 0, 0) + tables + data


TEXTS = (
    gettext_noop("Email"),
    gettext_noop("Enter a valid email address."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)

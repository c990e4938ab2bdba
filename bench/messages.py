"""Extract the site's texts into the translation catalogues, and compile them: python -m bench.messages

An extra has catalogues of its own, with those of its texts that the core does not have. Keeps existing
translations into Simplified Chinese, and prints the texts without one. Traditional Chinese is derived from these.
The site reads only the compiled files.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from opencc import OpenCC

from articles.domain import extras
from tests.source import PRODUCT

ROOT = Path(__file__).parents[1]


class Place(NamedTuple):
    """A folder `locale`, and where its texts are: folders of the checkout."""

    folder: Path
    sources: tuple[str, ...]

    @property
    def po(self) -> Path:
        """The Chinese catalogue, which translators edit."""
        return self.folder / "zh_Hans" / "LC_MESSAGES" / "django.po"

    @property
    def mo(self) -> Path:
        return self.po.with_suffix(".mo")

    @property
    def derived(self) -> Path:
        """The Traditional Chinese catalogue. It has no PO file: it is derived each time."""
        return self.folder / "zh_Hant" / "LC_MESSAGES" / "django.mo"

    @property
    def words(self) -> Path:
        """The words of Taiwan that these texts need, if there are any."""
        return self.folder / "zh_Hant" / "words.txt"


CORE = Place(ROOT / "locale", tuple(sorted({*PRODUCT, "templates"} - {"extras"})))
PLACES = (CORE, *(Place(extras.FOLDER / name / "locale", (f"extras/{name}",)) for name in extras.names()))

_METHODS = [("tests/**", "ignore"), ("**.py", "python"), ("**.html", "jinja2"), ("**.txt", "jinja2")]
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
"Language: %s\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
_MAGIC = 0x950412DE

DJANGO_TEXTS: tuple[str | tuple[str, str], ...] = (
    "Email",
    "Enter a valid email address.",
    (
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
"""Texts of Django's that the site translates in its own words."""


_SIMPLIFIED, _TRADITIONAL = '"language": "zh-hans"', '"language": "zh-hant"'

_SIGNS = str.maketrans("“”‘’臺", "「」『』台")
_FIRST_PRIVATE = 0xE000


def extracted(place: Place) -> Catalog:
    """Return every text of a place, without translations; of an extra without those that the core has."""
    catalogue = Catalog(locale="zh_Hans")
    for text in DJANGO_TEXTS if place is CORE else ():
        catalogue.add(text, locations=[("django", 0)])
    for source in place.sources:
        rows = extract_from_dir(
            ROOT / source, _METHODS, _OPTIONS, keywords=_KEYWORDS, comment_tags=("Translators:",)
        )
        for name, _line, text, comments, context in rows:
            if place is CORE or not _of_core().get(text, context):
                catalogue.add(text, None, [(f"{source}/{name}", 0)], auto_comments=comments, context=context)
    return catalogue


@cache
def _of_core() -> Catalog:
    return extracted(CORE)


def current(place: Place) -> Catalog:
    """Return the current catalogue of a place; none is empty."""
    if not place.po.exists():
        return Catalog(locale="zh_Hans")
    with place.po.open("rb") as file:
        return read_po(file, locale="zh_Hans", abort_invalid=True)


def everything() -> Catalog:
    """Return all current catalogues as one, such as for a text that moves from one place to another."""
    together = Catalog(locale="zh_Hans")
    for place in PLACES:
        for message in texts(current(place)):
            together[message.id] = message
    return together


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
    write_po(file, catalogue, width=1_000_000, omit_header=True, sort_output=True, include_lineno=False)
    return _HEADER % catalogue.locale + file.getvalue().decode().strip() + "\n"


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the English texts without a Chinese translation."""
    missing = [message for message in texts(catalogue) if not all(_forms(message.string)) or message.fuzzy]
    return sorted(_forms(message.id)[0] for message in missing)


def _forms(value: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value or "",) if value is None or isinstance(value, str) else tuple(value)


def compiled(catalogue: Catalog) -> bytes:
    """Return the catalogue as an MO file. Deterministic: the same texts give the same bytes."""
    header = (_HEADER % catalogue.locale).split("\n", 2)[2].replace('"', "").replace("\n", "").replace("\\n", "\n")
    entries = {"": header}
    for message in texts(catalogue):
        if all(_forms(message.string)) and not message.fuzzy:
            key = "\0".join(_forms(message.id))
            entries[f"{message.context}\4{key}" if message.context else key] = "\0".join(_forms(message.string))
    return _machine_object({key.encode(): value.encode() for key, value in entries.items()})


def derived(simplified: Catalog) -> Catalog:
    """Return the catalogue in Traditional Chinese, with the words of Taiwan."""
    catalogue, convert = Catalog(locale="zh_Hant"), _converter()
    for message in texts(simplified):
        string = message.string or ""  # none while a text with plural forms has no Chinese
        translated = convert(string) if isinstance(string, str) else tuple(map(convert, string))
        catalogue.add(message.id, translated, message.locations, context=message.context)
    return catalogue


def words_paths() -> list[Path]:
    return [place.words for place in PLACES if place.words.exists()]


@cache
def _converter() -> Callable[[str], str]:
    """Return what converts a text. Words of a `words.txt` become private characters, which OpenCC leaves alone."""
    lines = [line for path in words_paths() for line in path.read_text("utf-8").splitlines()]
    words = dict(line.split("\t") for line in lines if line and not line.startswith("#"))
    whole = {text[1:]: words.pop(text) for text in list(words) if text.startswith("=")}
    signs = {word: chr(_FIRST_PRIVATE + place) for place, word in enumerate(words)}
    longest_first = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
    back = str.maketrans({sign: words[word] for word, sign in signs.items()})
    converter = OpenCC("s2twp")

    def convert(text: str) -> str:
        aside = longest_first.sub(lambda word: signs[word[0]], text)
        return whole.get(text) or converter.convert(aside).translate(_SIGNS).translate(back)

    return convert


def contents() -> list[Path]:
    """Return the files of extras with content in several languages, a text on a line."""
    return [path for path in extras.FOLDER.rglob("*.json") if _SIMPLIFIED in path.read_text("utf-8")]


def with_traditional(content: str) -> str:
    """Return the text of such a file with its Traditional texts, each a line above the Simplified one."""
    lines = []
    for line in content.splitlines(keepends=True):
        if _SIMPLIFIED in line:
            lines.append(_converter()(line.rstrip(",\n")).replace(_SIMPLIFIED, _TRADITIONAL) + ",\n")
        if _TRADITIONAL not in line:
            lines.append(line)
    return "".join(lines)


def _machine_object(entries: Mapping[bytes, bytes]) -> bytes:
    """Return GNU's MO format: header, table of keys, table of values, then the texts, each with a final NUL."""
    keys, count = sorted(entries), len(entries)
    tables, data, at = b"", b"", 28 + 16 * count
    for text in (*keys, *(entries[key] for key in keys)):
        tables += struct.pack("<II", len(text), at + len(data))
        data += text + b"\0"
    return struct.pack("<7I", _MAGIC, 0, count, 28, 28 + 8 * count, 0, 0) + tables + data


def main() -> None:
    known = everything()
    for place in PLACES:
        catalogue = merged(extracted(place), known)
        for path, text in (
            (place.po, written(catalogue).encode()),
            (place.mo, compiled(catalogue)),
            (place.derived, compiled(derived(catalogue))),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        missing = untranslated(catalogue)
        print(
            f"{place.po.relative_to(ROOT)}: {len(list(texts(catalogue)))} texts, {len(missing)} without Chinese."
        )
        print(*(f"  {text}" for text in missing), sep="\n", end="\n" if missing else "")
    for path in contents():
        path.write_text(with_traditional(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

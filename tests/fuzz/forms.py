"""The forms of a page, and the hostile bodies that are made from them."""

import random
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import quote_from_bytes

from tests.fuzz import hostile

_BOUNDARY = b"fuzz"


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its address, its method, and its fields with their values."""

    action: str
    method: str
    fields: tuple[tuple[str, str], ...]


@dataclass
class FormsOf(HTMLParser):
    """Collects the forms of a page at `address`.

    A form that only buttons elsewhere on the page send is one form for each address that they name.
    """

    address: str
    _forms: list[Form] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: tuple[str, str] | None = None
        self._fields: list[tuple[str, str]] = []
        self._id, self._is_hidden = "", False
        self._elsewhere: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._shared: dict[str, Form] = {}

    @property
    def forms(self) -> list[Form]:
        return self._forms + [
            Form(address, self._shared[name].method, (*self._shared[name].fields, *buttons))
            for (name, address), buttons in self._elsewhere.items()
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = values.get("action") or self.address, values.get("method", "get").lower()
            self._id, self._is_hidden, self._fields = values.get("id", ""), "hidden" in values, []
        elif "formaction" in values:
            buttons = self._elsewhere.setdefault((values["form"], values["formaction"]), [])
            buttons.append((values["name"], values["value"]))
        elif self._open and tag in ("input", "textarea", "select", "button") and values.get("name"):
            self._fields.append((values["name"], values.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._open:
            form = Form(*self._open, tuple(self._fields))
            self._shared[self._id] = form
            if not self._is_hidden:
                self._forms.append(form)
            self._open = None


Pairs = list[tuple[bytes, bytes]]


def mutated(form: Form, chance: random.Random) -> Pairs:
    """Return the form's fields with one to three of them missing, repeated, renamed or hostile."""
    pairs: Pairs = [(name.encode(), value.encode()) for name, value in form.fields]
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(pairs)) if pairs else 0
        match chance.randrange(8) if pairs else 7:
            case 0:
                del pairs[place]
            case 1:
                pairs.append((pairs[place][0], hostile.raw(chance)))
            case 2:
                pairs += [pairs[place]] * chance.choice((1, 50, 2000))
            case 7:
                pairs.append((chance.choice(hostile.NAMES).encode(), hostile.raw(chance)))
            case _:
                pairs[place] = (pairs[place][0], hostile.raw(chance))
    return pairs


def body_of(pairs: Pairs, chance: random.Random) -> tuple[bytes, str]:
    """Return a body and its content type, which is sometimes not the body's."""
    if chance.random() < 0.15:
        return _multipart(pairs, chance), f"multipart/form-data; boundary={_BOUNDARY.decode()}"
    quoted = (quote_from_bytes(name) + "=" + quote_from_bytes(value) for name, value in pairs)
    kinds = (
        "text/plain", "application/json", "",
        "multipart/form-data", "application/x-www-form-urlencoded; charset=x",
    )  # fmt: skip
    kind = chance.choice(kinds) if chance.random() < 0.05 else "application/x-www-form-urlencoded"
    return "&".join(quoted).encode(), kind


def _multipart(pairs: Pairs, chance: random.Random) -> bytes:
    def part(name: bytes, value: bytes) -> bytes:
        file = b'; filename="a"' if chance.random() < 0.05 else b""
        name = name.replace(b'"', b"%22").replace(b"\r", b"").replace(b"\n", b"")
        return b'Content-Disposition: form-data; name="%b"%b\r\n\r\n%b\r\n' % (name, file, value)

    parts = b"".join(b"--" + _BOUNDARY + b"\r\n" + part(*pair) for pair in pairs)
    return parts + (b"" if chance.random() < 0.1 else b"--" + _BOUNDARY + b"--\r\n")

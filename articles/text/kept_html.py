"""The HTML of members' texts as the store keeps it with each text, so that no reader waits for Markdown.

What is kept begins with a seal: a digest, keyed with the site's secret, of the rules, the text and the HTML.
Without the right seal, the HTML is made again. So it does no harm if an older version of the site edits a text and
leaves its former HTML, and HTML that was written by anything but this site is never shown.
"""

from hashlib import blake2b
from html import escape

from markupsafe import Markup

from articles.text.markdown import RULES_VERSION, FindMembers, render

_SEAL = 32  # hexadecimal digits of a seal
_IS_SIMPLE = "="
"""What is kept in place of the HTML of a text without marks, as most comments are: it would double their size."""


class KeptHtml:
    """Makes what is kept with a text, and reads it."""

    def __init__(self, secret: str, *, private_links: bool, find_members: FindMembers | None = None) -> None:
        """`private_links` and `find_members`: see `render`. A mention stays as it was when the HTML was made."""
        self._private_links, self._find_members = private_links, find_members
        key = blake2b(secret.encode(), person=b"articles.html").digest()
        rules = f"{RULES_VERSION} {private_links}".encode()
        self._sealing = blake2b(rules, key=key, digest_size=_SEAL // 2)

    def html_of(self, text: str) -> Markup:
        """Return the HTML of a text by the site's rules."""
        return render(text, private_links=self._private_links, find_members=self._find_members)

    def make(self, text: str) -> str:
        """Return what is kept with a text; "" without a text."""
        return self.sealed(text, self.html_of(text)) if text else ""

    def sealed(self, text: str, html: str) -> str:
        """Return what is kept with a text that has this HTML: a seal, and the HTML or a mark that it is simple."""
        html = str(html)
        return self._seal(text, html) + (_IS_SIMPLE if html == _simple(text) else html)

    def read(self, kept: str, text: str) -> Markup | None:
        """Return the HTML of a text from what is kept with it; None if it has to be made."""
        rest = kept[_SEAL:]
        html = _simple(text) if rest == _IS_SIMPLE else rest
        is_sealed = kept[:_SEAL] == self._seal(text, html)
        return Markup(html) if is_sealed else None  # nosec B704 # noqa: S704 - it passed the gate when it was made

    def _seal(self, text: str, html: str) -> str:
        sealing = self._sealing.copy()
        raw = text.encode("utf-8", "surrogatepass")
        sealing.update(b"%d " % len(raw) + raw + html.encode("utf-8", "surrogatepass"))
        return sealing.hexdigest()


def _simple(text: str) -> str:
    """Return the HTML that a text without any marks has: its paragraphs."""
    return "".join(f"<p>{escape(part, quote=False)}</p>\n" for part in text.split("\n\n"))

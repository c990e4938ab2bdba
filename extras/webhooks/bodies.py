"""What is sent to a webhook: by Standard Webhooks, with a signature, or as a chat program takes it.

Sources: github.com/standard-webhooks/standard-webhooks (spec 1.0.0); the manuals of Slack's, Mattermost's and
Discord's incoming webhooks, of the generic webhooks of matrix-hookshot, and of ntfy (2025).

Members write most of a line: titles, names, reasons, comments. Each form shows it as it is: none of it becomes a
link, a mention or other markup.
"""

import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

from django.utils.html import escape
from django.utils.translation import gettext_lazy

STANDARD, SLACK, DISCORD, MATRIX, NTFY = "standard", "slack", "discord", "matrix", "ntfy"

FORMS = {
    STANDARD: gettext_lazy("JSON, signed (Standard Webhooks)"),
    SLACK: "Slack, Mattermost",
    DISCORD: "Discord",
    MATRIX: "Matrix (hookshot)",
    NTFY: "ntfy",
}
"""The forms, as a member chooses from them."""

KEY_PREFIX = "whsec_"  # what Standard Webhooks writes before a key


class Happened(NamedTuple):
    """An event as it is kept until it is delivered. `line`: in one line; `address`: of its page."""

    type: str
    timestamp: str
    line: str
    address: str
    data: dict[str, Any]

    def to_text(self) -> str:
        return _json(self._asdict())

    @classmethod
    def from_text(cls, text: str) -> "Happened":
        return cls(**json.loads(text))


class Body(NamedTuple):
    """What is posted."""

    content: bytes
    headers: dict[str, str]


_JOINER = "\u2060"
"""Has no width, and separates what programs otherwise take for an address, a mention or a name of an emoji."""

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_MATTERMOST_MARKS = re.compile(r"[\\`*_~\[\]#]")
_BEGINS_NAME = re.compile(r"(?i)(www[0-9]{0,3}\.|[:@])(?=[\w/+-])")
_BEGINS_LIST = re.compile(r"^(?=[-+0-9=|])")


def _for_discord(line: str) -> str:
    """Return the line with each mark escaped: Discord shows any mark after a backslash as it is."""
    return _PUNCTUATION.sub(r"\\\g<0>", line)


def _for_mattermost(line: str) -> str:
    """Return the line for Mattermost, which reads Slack's `<address|text>` first and then Markdown."""
    text = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _BEGINS_NAME.sub(rf"\1{_JOINER}", _BEGINS_LIST.sub(_JOINER, text))
    return _MATTERMOST_MARKS.sub(r"\\\g<0>", text)


def _for_slack(line: str, address: str) -> dict[str, Any]:
    """Return the line and the address as Slack's blocks, and as the text that Mattermost shows instead of them."""
    shown = {"type": "plain_text", "text": line, "emoji": False}
    link = {"type": "mrkdwn", "text": f"<{address}>"}
    return {
        "text": f"{_for_mattermost(line)}\n{address}",
        "blocks": [{"type": "section", "text": text} for text in (shown, link)],
    }


def _as_link(address: str) -> str:
    """Return the address without signs that end a link in any form."""
    origin, path = re.match(r"(https?://[^/]*)?(.*)", address, re.DOTALL).groups("")  # type: ignore[union-attr]
    return origin + quote(path, safe="%/:?#&=+,;~@$-_.")


def body_for(form: str, happened: Happened) -> Body:
    """Return what a form has of an event, without a signature."""
    line, address = " ".join(happened.line.split()), _as_link(happened.address)
    if form == NTFY:
        return Body(line.encode(), {"Content-Type": "text/plain; charset=utf-8", "Click": address})
    if form == SLACK:
        content = _json(_for_slack(line, address))
    elif form == DISCORD:
        content = _json({"content": f"{_for_discord(line)}\n<{address}>", "allowed_mentions": {"parse": []}})
    elif form == MATRIX:
        quiet = re.sub(r"@(?=\w)", f"@{_JOINER}", line)  # `@room` calls everyone
        link = f'<a href="{escape(address)}">{escape(quiet)}</a>'
        content = _json({"text": f"{quiet} {address}", "html": link})
    else:
        content = happened.to_text()
    return Body(content.encode(), {"Content-Type": "application/json"})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def signatures(keys: Sequence[str], number: str, at: int, content: bytes) -> dict[str, str]:
    """Return the headers that prove who sends, by each of these keys in base64. `at`: in Unix seconds."""
    signed = b"%s.%d.%s" % (number.encode(), at, content)
    proofs = (b64encode(hmac.digest(b64decode(key), signed, sha256)).decode() for key in keys)
    return {
        "webhook-id": number,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{proof}" for proof in proofs),
    }

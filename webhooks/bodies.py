"""What is sent to a webhook: by Standard Webhooks, with a signature, or as a chat program takes it.

Sources: github.com/standard-webhooks/standard-webhooks (spec 1.0.0); the manuals of Slack's and Discord's incoming
webhooks, of the generic webhooks of matrix-hookshot, and of ntfy (2025).
"""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

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

KEY_PREFIX = "whsec_"
"""What Standard Webhooks writes before a key."""


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


def body_for(form: str, happened: Happened) -> Body:
    """Return what a form has of an event, without a signature."""
    line, address = happened.line, happened.address
    if form == NTFY:
        return Body(line.encode(), {"Content-Type": "text/plain; charset=utf-8", "Click": address})
    if form == SLACK:
        text = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "¦")
        content = _json({"text": f"<{address}|{text}>"})
    elif form == DISCORD:
        content = _json({"content": f"{line}\n<{address}>", "allowed_mentions": {"parse": []}})
    elif form == MATRIX:
        link = f'<a href="{escape(address)}">{escape(line)}</a>'
        content = _json({"text": f"{line} {address}", "html": link})
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

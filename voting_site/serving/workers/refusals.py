"""The web server's own answers, to requests that never reach the application: text, or JSON for the API."""

import json
from typing import Any

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation.trans_real import parse_accept_lang_header

from articles.domain.refusals import REFUSED_BY_SERVER, error_body
from voting_site.serving.workers.environ import Headers

API = "/api/"

_LONGEST_LANGUAGES = 500
"""Characters of Accept-Language that are read."""


def refuse(scope: Any, protocol: Any, status: int, sentence: str, *headers: tuple[str, str]) -> None:
    """Answer without the application, in the client's language, and close the connection."""
    with translation.override(_language(scope)):
        message = gettext(sentence)
    answer: Headers = [("Connection", "close"), *headers]
    if scope.path.startswith(API):
        text, kind = json.dumps(error_body(REFUSED_BY_SERVER[status], message)), "application/json"
    else:
        text, kind = f"{message}\n", "text/plain; charset=utf-8"
    protocol.response_str(status, [("Content-Type", kind), *answer], text)


def _language(scope: Any) -> str:
    """Return the first language of Accept-Language that the site speaks."""
    for code, _ in parse_accept_lang_header((scope.headers.get("accept-language") or "")[:_LONGEST_LANGUAGES]):
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return "en"

"""What web workers ask the fetching process. They never wait for a page: it answers at once, or is skipped."""

import json
import os
import re
import socket
from typing import NamedTuple

from django.http import HttpRequest
from django.utils.translation import get_language_info, gettext_lazy

from accounts.models import BanScope
from articles.text.lines import TITLE_LIMIT, InvalidInput, clean_lines, clean_title
from articles.text.links import clean_link, link_key
from articles.web import limits
from articles.web.forms.fields import clean_article_link
from articles.web.identity import check_ban
from extras.links.switch import SOCKET_VARIABLE, is_on
from outgoing.addresses import is_private

PATIENCE = 0.15  # seconds that a worker gives the fetching process: it answers in one, unless it is stopped

DESCRIPTION_LIMIT = 500
_MOST_BYTES = 65_536

PROBLEMS = {
    "text": gettext_lazy("This is a plain text file. Enter a title yourself."),
    "pdf": gettext_lazy("This is a PDF file, whose title the site cannot read. Enter a title yourself."),
    "other": gettext_lazy("This is not a web page. Enter a title yourself."),
    "untitled": gettext_lazy("This page has no title. Enter one yourself."),
    "status": gettext_lazy("The server says that this page does not exist or is not public."),
    "robots": gettext_lazy("The server does not allow programs to read this page (robots.txt)."),
    "slow": gettext_lazy("The server took too long to respond."),
    "unreachable": gettext_lazy("The server cannot be reached."),
    "tls": gettext_lazy("The server has no valid certificate, so the page was not read."),
    "redirects": gettext_lazy("The link redirects too often."),
    "address": gettext_lazy("The link redirects to something that is not a web page."),
    "port": gettext_lazy("Titles are only fetched from ports 80 and 443."),
    "not-public": gettext_lazy("Titles are not fetched from private or local addresses."),
    "broken": gettext_lazy("The server sent something that could not be read."),
    "host-busy": gettext_lazy(
        "Too many pages were fetched from this server in the last minute. "
        "Try again later, or enter a title yourself."
    ),
    "busy": gettext_lazy("Many titles are being fetched right now. Try again in a moment, or enter one yourself."),
    "off": gettext_lazy("This site does not fetch titles."),
    "away": gettext_lazy("Titles cannot be fetched right now. Enter one yourself."),
}
"""Why nothing is proposed, by the code that the fetching process and the API have."""

LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}")

FETCHING, FOUND, FAILED = "fetching", "found", "failed"


class LinkInfo(NamedTuple):
    """What a link brings along, as a proposal: nothing of it is stored."""

    state: str
    title: str = ""
    canonical: str = ""  # address that the page says is its own; empty if that is the same page as the link
    language: str = ""
    description: str = ""
    problem: str = ""

    @property
    def language_name(self) -> str:
        """Name of the page's language in the reader's, or its code."""
        try:
            return str(get_language_info(self.language.lower())["name_translated"])
        except KeyError:
            return self.language

    @property
    def sentence(self) -> str:
        """Why there is no title, in the reader's language."""
        return str(PROBLEMS[self.problem]) if self.problem else ""


def look_up(request: HttpRequest, raw: str) -> LinkInfo:
    """Return what is known of a link that a member types; begin to fetch it if it is unknown.

    Raises InvalidInput for a link that cannot be posted, Banned, LimitReached.
    """
    link = clean_article_link(raw)
    check_ban(request.user, BanScope.POSTING)
    if not is_on():
        return LinkInfo(FAILED, problem="off")
    if is_private(link):
        return LinkInfo(FAILED, problem="not-public")
    answer = _ask(link, starts=False)
    if answer.get("state") == "unknown":
        limits.take(request, "titles")
        answer = _ask(link, starts=True)
    return _info(link, answer)


def _ask(link: str, *, starts: bool) -> dict[str, str]:
    """Return the answer of the fetching process, at once; {} if it does not answer."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(os.environ[SOCKET_VARIABLE])
            client.sendall(json.dumps({"link": link, "starts": starts}).encode() + b"\n")
            answer = json.loads(client.makefile("rb").readline(_MOST_BYTES))
    except (OSError, ValueError, KeyError, RecursionError):
        return {}
    return {str(name): str(value) for name, value in answer.items()} if isinstance(answer, dict) else {}


def _info(link: str, answer: dict[str, str]) -> LinkInfo:
    """Return what an answer proposes, cleaned as if a member had typed it."""
    match answer.get("state"):
        case "fetching":
            return LinkInfo(FETCHING)
        case "found":
            title = _clean_title(answer.get("title", ""))
            kind = answer.get("kind", "")
            problem = "" if title else {"page": "untitled"}.get(kind, kind)
        case "failed":
            title, problem = "", answer.get("problem", "")
        case _:
            title, problem = "", "away"
    if problem:
        return LinkInfo(FAILED, problem=problem if problem in PROBLEMS else "broken")
    return LinkInfo(
        FOUND,
        title,
        canonical=_other_address(link, answer.get("canonical", "")),
        language=answer["language"] if LANGUAGE.fullmatch(answer.get("language", "")) else "",
        description=_clean_description(answer.get("description", "")),
    )


def _clean_title(raw: str) -> str:
    """Return the title as it can be posted, cut between words if it is too long; "" if it cannot."""
    try:
        return clean_title(raw)
    except InvalidInput as refused:
        if refused.code != "title-long":
            return ""
    words = raw[:TITLE_LIMIT].rsplit(" ", 1)[0].rstrip() if " " in raw[:TITLE_LIMIT] else raw[: TITLE_LIMIT - 1]
    try:
        return clean_title(f"{words[: TITLE_LIMIT - 1]}…")
    except InvalidInput:
        return ""


def _clean_description(raw: str) -> str:
    try:
        return clean_lines(raw, limit=DESCRIPTION_LIMIT, field="text")
    except InvalidInput:
        return ""


def _other_address(link: str, canonical: str) -> str:
    """Return the page's own address if it can be posted and is another than the link's."""
    try:
        other = clean_article_link(clean_link(canonical)) if canonical else ""
    except InvalidInput:
        return ""
    return other if other and not is_private(other) and link_key(other) != link_key(link) else ""

"""Members who change their minds and look at their own choices, several clients on each; part of the crowd.

Each client is a thread that writes its history, for `tests.chaos.histories`. All move on to other articles every
few seconds: an unknown write may take effect at any later time, and would explain whatever is read then.
"""

import json
import os
import random
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event as Flag
from typing import Protocol

from articles.domain.articles import ArticleId, Choice
from articles.domain.errors import StoreError
from articles.repository import Repository
from tests.chaos.histories.operations import FAIL, INFO, OK, READ, SET, Recorder, Register
from tests.chaos.links import CUT, Link

_PAUSE_SECONDS = 0.005
_PAUSE_AFTER_FAILURE_SECONDS = 0.2

_TOGETHER_SECONDS = 5.0
_TOGETHER_ARTICLES = 12

Member = Mapping[str, str]

OUTCOMES = {"200": OK, "503": INFO, CUT: INFO}
REFUSED = ("403", "404", "409", "429")  # statuses of answers; every other is a fault of the site


class Client(Protocol):
    """A way to the site, or to its store. Both methods return how the operation ended."""

    def set(self, member: Member, article: ArticleId, choice: Choice) -> str: ...

    def read(self, member: Member, article: ArticleId) -> tuple[str, Choice | None]: ...


class ApiClient:
    """Asks the site's API."""

    def __init__(self, port: int) -> None:
        self._link = Link(port)

    def set(self, member: Member, article: ArticleId, choice: Choice) -> str:
        body = json.dumps({"choice": choice.value})
        status, _, text = self._link.ask("PUT", f"/api/articles/{article}/vote", body, _headers(member))
        return FAIL if status in REFUSED else _outcome(status, text)

    def read(self, member: Member, article: ArticleId) -> tuple[str, Choice | None]:
        status, _, text = self._link.ask("GET", f"/api/articles/{article}", None, _headers(member))
        outcome = _outcome(status, text)
        return outcome, Choice(json.loads(text)["choice"]) if outcome == OK else None


def _outcome(status: str, text: str) -> str:
    if status not in OUTCOMES:
        raise ValueError(f"{status}: {text[:300]}")
    return OUTCOMES[status]


def _headers(member: Member) -> dict[str, str]:
    return {"Authorization": f"Bearer {member['token']}", "Content-Type": "application/json"}


class DirectClient:
    """Uses the store without the web server, which is slower."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def set(self, member: Member, article: ArticleId, choice: Choice) -> str:
        try:
            self._repository.votes.cast(article, int(member["id"]), choice)
        except StoreError:
            return INFO
        return OK

    def read(self, member: Member, article: ArticleId) -> tuple[str, Choice | None]:
        try:
            return OK, self._repository.articles.get(article, int(member["id"])).choice
        except StoreError:
            return INFO, None


def decide(
    history: Path, members: list[dict[str, str]], articles: int, client: Client, stopping: Flag, seed: str
) -> None:
    """Set and read random choices until `stopping`; some of what is unknown is sent again, as people do."""
    chance, recorder = random.Random(seed), Recorder(history, f"{os.getpid()}-{seed}")
    again: tuple[Member, ArticleId, Choice] | None = None
    while not stopping.wait(_PAUSE_SECONDS):
        member, article = chance.choice(members), _current(articles, chance)
        if again or chance.random() < 0.6:
            member, article, choice = again or (member, article, chance.choice(list(Choice)))
            recorder.invoke(_register(member, article), SET, choice)
            outcome = client.set(member, article, choice)
            recorder.complete(outcome)
            again = (member, article, choice) if outcome == INFO and chance.random() < 0.7 else None
        else:
            recorder.invoke(_register(member, article), READ)
            outcome, seen = client.read(member, article)
            recorder.complete(outcome, seen)
        if outcome == INFO:
            stopping.wait(_PAUSE_AFTER_FAILURE_SECONDS)


def _current(articles: int, chance: random.Random) -> ArticleId:
    """Return one of the articles that all clients use at the time."""
    first = int(time.monotonic() / _TOGETHER_SECONDS) * _TOGETHER_ARTICLES
    return 1 + (first + chance.randrange(_TOGETHER_ARTICLES)) % articles


def _register(member: Member, article: ArticleId) -> Register:
    return Register(int(member["id"]), article)

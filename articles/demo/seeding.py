"""Fills an empty site with demo content: members, groups, articles, their votes and views, and two logins.

It can be interrupted at any point. A file in the data directory says that it has begun, and when; articles are
placed relative to that moment and who votes for and views what is drawn from a fixed seed, so doing it again
finishes it.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from math import exp
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import Group

from accounts.models import User
from accounts.moderators import GROUP as MODERATORS
from articles.demo.readers import draw_views, record_missing
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.errors import ActionRefused, ArticleNotFound
from articles.domain.members import UserId
from articles.repository import ImportRunning, Repository
from articles.text.lines import clean_title
from articles.text.links import clean_link

MEMBER, MODERATOR = "demo", "demo-moderator"

_SEED = 20
_SPAN = 6 / 7  # of the voting window, so that all articles stay open to votes for a while
_NEWEST = 4 * 60  # seconds
_YEAR = 365 * 86400.0  # seconds
_DENSITY = 1.7  # the k-th newest of n articles is as old as (k/n)^1.7 of the span
_MATURING = 2.5 * 3600  # seconds until an article has 63 % (1 - 1/e) of its votes
_VOTING_THREADS = 8  # the store writes votes that arrive together to disk together


def _drawing() -> Random:
    """Always the same random numbers; no secret depends on them."""
    return Random(_SEED)  # noqa: S311


class Vote(NamedTuple):
    """A member's choice on the article with that link."""

    link: str
    member: str
    choice: Choice


@dataclass(frozen=True, slots=True)
class Begun:
    """What is remembered until the end: the moment, and which logins are ours to make."""

    at: float
    logins: tuple[str, ...]


def seed_if_empty(repository: Repository) -> str | None:
    """Fill an empty site unless an import runs; returns what to tell the operator, None if not empty."""
    try:
        return seed(repository)
    except ImportRunning:
        return "Articles are being imported right now, so no demo content was added."


def seed(repository: Repository) -> str | None:
    """Fill an empty site, or finish what was interrupted; returns what to tell the operator, None if not empty.

    Raises ImportRunning.
    """
    with repository.imports.lock():
        begun = _begun(repository)
        return None if begun is None else _fill(repository, begun)


def logins_file() -> Path:
    """Where the demo logins are kept, for the operator alone."""
    return Path(settings.DATA_DIR) / "demo-logins.txt"


def _fill(repository: Repository, begun: Begun) -> str:
    content = _content()
    members = User.objects.bulk_create_imported(content["members"])
    _let_join(members, begun.at - repository.rules.voting_window)
    repository.groups.ensure({group["slug"]: group["title"] for group in content["groups"]})
    times = _times(begun.at, repository.rules.voting_window)
    posters = _posters()
    rows = zip(_content()["articles"], times, posters, strict=True)
    articles = [_article(row, posted_at, name, members[name]) for row, posted_at, name in rows]
    repository.imports.add(articles[::-1])  # the oldest first: ids grow with time
    votes = list(_votes([begun.at - posted_at for posted_at in times], posters))
    _cast(repository, members, votes)
    views = _view(repository, begun.at, times)
    repository.fit_weight()
    logins = _make_logins(begun.logins)
    _marker().unlink(missing_ok=True)
    return _told(len(posters), len(votes) + len(posters), views, logins)


def _let_join(members: Mapping[str, UserId], until: float) -> None:
    """Let the members have joined one by one in the year before `until`; all articles are younger than that."""
    rng, users = _drawing(), User.objects.filter(imported=True).in_bulk(list(members.values()))
    for name in _content()["members"]:
        joined = datetime.fromtimestamp(until - rng.random() * _YEAR, UTC)
        if (user := users.get(members.get(name))) and user.date_joined > joined:
            user.date_joined = joined
    User.objects.bulk_update(users.values(), ["date_joined"])


def _told(articles: int, votes: int, views: int, logins: Mapping[str, str]) -> str:
    lines = [f"Demo content added: {articles} articles, {votes:,} votes, {views:,} views."]
    if logins:
        lines += [f"Logins, also kept in {logins_file()}:", *_login_lines(logins)]
    missing = [name for name in (MEMBER, MODERATOR) if name not in logins]
    lines += [f"There was an account {name} before; it was left as it is." for name in missing]
    return "\n".join(lines)


@cache
def _content() -> Any:
    """The demo content, with titles and links as the store has them."""
    content = json.loads((files("articles.demo") / "content.json").read_text("utf-8"))
    for row in content["articles"]:
        row["title"], row["link"] = clean_title(row["title"]), clean_link(row["link"])
    return content


def _times(at: float, window: float) -> list[float]:
    """Posting times of the articles, newest first: all in the window, the more recent the denser."""
    rng, count, span = _drawing(), len(_content()["articles"]), window * _SPAN
    newest = min(_NEWEST, span / count)
    shares = [((n + 0.8 * rng.random()) / count) ** _DENSITY for n in range(count)]
    return [round(at - newest - (span - newest) * share, 3) for share in shares]


def _posters() -> list[str]:
    """The member who posted each article; some post more than others."""
    members = _content()["members"]
    weights = [1 / (n + 3) for n in range(len(members))]
    return _drawing().choices(members, weights, k=len(_content()["articles"]))


def _votes(ages: Sequence[float], posters: Sequence[str]) -> Iterator[Vote]:
    """Who votes for or opposes what: by the article's appeal, its controversy and its age."""
    rng, content = _drawing(), _content()
    for row, age, poster in zip(content["articles"], ages, posters, strict=True):
        seen = 1 - exp(-age / _MATURING)
        for member in content["members"]:
            votes, opposes = rng.random() < seen * row["appeal"], rng.random() < row["controversy"]
            if votes and member != poster:
                yield Vote(row["link"], member, Choice.OPPOSE if opposes else Choice.VOTE)


def _article(row: Mapping[str, Any], posted_at: float, name: str, poster: UserId) -> ImportedArticle:
    return ImportedArticle(
        title=row["title"],
        link=row["link"],
        poster=poster,
        poster_name=name,
        posted_at=posted_at,
        votes=1,
        opposes=0,
        groups=tuple(row["groups"]),
    )


def _cast(repository: Repository, members: Mapping[str, UserId], votes: Sequence[Vote]) -> None:
    ids = {article.link: article.id for article in repository.imports.iterate()}

    def cast(vote: Vote) -> None:
        with suppress(ArticleNotFound, ActionRefused):  # closed or removed since this was interrupted
            repository.votes.cast(ids[vote.link], members[vote.member], vote.choice)

    with ThreadPoolExecutor(_VOTING_THREADS) as pool:
        list(pool.map(cast, votes))


def _view(repository: Repository, begun_at: float, times: Sequence[float]) -> int:
    """Let readers view the articles, until the moment this began; returns how many views counted."""
    rows = zip(_content()["articles"], times, strict=True)
    drawn = draw_views([(row["link"], row["appeal"], posted_at) for row, posted_at in rows], begun_at)
    return record_missing(repository, drawn)


def _marker() -> Path:
    return Path(settings.DATA_DIR) / "demo-begun.json"


def _begun(repository: Repository) -> Begun | None:
    """When this, or the run that was interrupted, began; None for a site that has articles of its own."""
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        kept = json.loads(_marker().read_text("utf-8"))
        begun = Begun(float(kept["at"]), tuple(kept["logins"]))
        if _holds_only_demo(repository, begun):
            return begun
    if repository.imports.count():
        return None
    free = [name for name in (MEMBER, MODERATOR) if not User.objects.is_taken(name)]
    begun = Begun(repository.store.now(), tuple(free))
    _write_private(_marker(), json.dumps(asdict(begun)))
    return begun


def _holds_only_demo(repository: Repository, begun: Begun) -> bool:
    """Whether every article in the store was entered by the run that began then."""
    rows = _content()["articles"]
    if repository.imports.count() > len(rows):
        return False
    times = _times(begun.at, repository.rules.voting_window)
    ours = {(row["link"], posted_at) for row, posted_at in zip(rows, times, strict=True)}
    return all((article.link, article.posted_at) in ours for article in repository.imports.iterate())


def _make_logins(names: Sequence[str]) -> dict[str, str]:
    """Make these accounts, or give them new passwords; returns the passwords by name."""
    passwords = {name: secrets.token_urlsafe(12) for name in names}
    if passwords:
        _write_private(logins_file(), "\n".join([*_login_lines(passwords), ""]))
    for name, password in passwords.items():
        user = User.objects.filter(username=name).first() or User(username=name)
        user.set_password(password)
        user.save()
        if name == MODERATOR:
            user.groups.set(Group.objects.filter(name=MODERATORS))
    return passwords


def _login_lines(passwords: Mapping[str, str]) -> list[str]:
    return [f"  {name:<{len(MODERATOR)}}  {password}" for name, password in passwords.items()]


def _write_private(path: Path, text: str) -> None:
    """Write a file only its owner can read, at once and whole."""
    part = path.with_name(f".{path.name}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)

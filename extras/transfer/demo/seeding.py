"""Fill an empty site with demo content, and remove it: members, groups, articles, their votes and views, logins.

Seeding can be interrupted at any point. A file in the data directory records when it began. Posting times are
relative to that moment, and votes and views are drawn from a fixed seed, so a second run completes the first.
"""

import json
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
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group

from accounts.account_deletion import delete_wholly
from accounts.models import User
from accounts.moderators import GROUP as MODERATORS
from articles import private_files
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.errors import ActionRefused, ArticleNotFound, GroupNotFound
from articles.domain.members import UserId
from articles.domain.moderation_log import OPERATOR
from articles.models import SiteText
from articles.repository import ImportRunning, Repository
from articles.text.lines import clean_group_description, clean_text, clean_title
from articles.text.links import clean_link
from extras.transfer.demo.readers import discuss, draw_views, record_missing

MEMBER, MODERATOR = "demo", "demo-moderator"
_SEED = 20
_SPAN = 6 / 7  # share of the voting window, so that all articles stay open to votes for a while
_NEWEST = 4 * 60  # seconds
_YEAR = 365 * 86400.0  # seconds
_DENSITY = 1.7  # the k-th newest of n articles is as old as (k/n)^1.7 of the span
_MATURING = 2.5 * 3600  # seconds until an article has 63 % (1 - 1/e) of its votes
_VOTING_THREADS = 8  # the store writes concurrent votes to disk together


def _random() -> Random:
    """Return a generator with a fixed seed. No secret depends on it."""
    return Random(_SEED)  # nosec B311 # noqa: S311 - no secret depends on it


_FOLLOWED = "databases,security,history"  # groups that the member follows


@dataclass(frozen=True, slots=True)
class SeedingRun:
    """State of an unfinished run: when it began, and the logins that it creates."""

    at: float
    logins: tuple[str, ...]


def seed_if_empty(repository: Repository) -> str | None:
    """Fill an empty site, or go on, unless an import is running; return a message, None if it is not empty."""
    if User.objects.exists() and not _run_file().exists():
        return None
    try:
        return seed(repository)
    except ImportRunning:
        return "An import is running, so no demo content was added."


def seed(repository: Repository) -> str | None:
    """Fill an empty site, or go on; return a message, None if it is not empty. Raises ImportRunning."""
    with repository.imports.lock():
        run = _load_or_begin(repository)
        return None if run is None else _fill(repository, run)


def content_articles() -> frozenset[str]:
    """Return the links of the demo's articles, or else their titles."""
    return frozenset(row["link"] or row["title"] for row in _content()["articles"])


def logins_file() -> Path:
    """Return the path of the file with the demo logins, which only the operator can read."""
    return Path(settings.DATA_DIR) / "demo-logins.txt"


def _fill(repository: Repository, run: SeedingRun) -> str:
    content = _content()
    members = User.objects.bulk_create_imported(content["members"])
    _backdate_joining(members, run.at - repository.rules.voting_window)
    repository.groups.ensure({group["slug"]: group["title"] for group in content["groups"]})
    _describe_groups(repository)
    for text in content["texts"]:
        named = {"name": text["name"], "language": text["language"]}
        SiteText.objects.get_or_create(**named, defaults={"text": text["text"]})
    times = _times(run.at, repository.rules.voting_window)
    posters = _posters()
    rows = zip(content["articles"], times, posters, strict=True)
    articles = [_article(row, posted_at, name, members[name]) for row, posted_at, name in rows]
    repository.imports.add(articles[::-1])  # oldest first: ids grow with time
    votes = list(_votes([run.at - posted_at for posted_at in times], posters))
    _cast(repository, members, votes)
    logins = _make_logins(run.logins)
    ids = dict(User.objects.filter(username__in=logins).values_list("username", "pk"))
    known = {article.link or article.title: article for article in repository.imports.iterate()}
    discuss(repository, members, ids, known, run.at)
    views = _view(repository, run.at, times)
    repository.fit_weight()
    _run_file().unlink(missing_ok=True)
    return _summary(len(posters), len(votes) + len(posters), views, logins)


def _describe_groups(repository: Repository) -> None:
    """Give groups their descriptions, except those that have one since an interrupted run."""
    described = repository.groups.get_descriptions()
    for group in _content()["groups"]:
        if group["description"] and group["slug"] not in described:
            with suppress(GroupNotFound):  # merged since an interrupted run
                repository.groups.describe(group["slug"], group["description"], OPERATOR)


def _backdate_joining(members: Mapping[str, UserId], until: float) -> None:
    """Spread the members' joining dates over the year before `until`; all articles are newer."""
    rng, users = _random(), User.objects.filter(imported=True).in_bulk(list(members.values()))
    for name in _content()["members"]:
        joined = datetime.fromtimestamp(until - rng.random() * _YEAR, UTC)
        if (user := users.get(members.get(name))) and user.date_joined > joined:
            user.date_joined = joined
    User.objects.bulk_update(users.values(), ["date_joined"])


def _summary(articles: int, votes: int, views: int, logins: Mapping[str, str]) -> str:
    lines = [f"Demo content added: {articles} articles, {votes:,} votes, {views:,} views."]
    if logins:
        lines += [f"Logins, also saved in {logins_file()}:", *_login_lines(logins)]
    existing = [name for name in (MEMBER, MODERATOR) if name not in logins]
    lines += [f"The account {name} already existed and was not changed." for name in existing]
    return "\n".join(lines)


@cache
def _content() -> Any:
    """Return the demo content, with titles, links, texts and descriptions cleaned as in the store."""
    content = json.loads((files(__package__) / "content.json").read_text("utf-8"))
    for group in content["groups"]:
        group["description"] = clean_group_description(group.get("description", ""))
    for row in content["articles"]:
        row["title"], row["text"] = clean_title(row["title"]), clean_text(row.get("text", ""))
        row["link"] = clean_link(row["link"]) if "link" in row else ""
    return content


def _times(at: float, window: float) -> list[float]:
    """Return posting times of the articles, newest first: all within the window, denser towards its end."""
    rng, count, span = _random(), len(_content()["articles"]), window * _SPAN
    newest = min(_NEWEST, span / count)
    shares = [((n + 0.8 * rng.random()) / count) ** _DENSITY for n in range(count)]
    return [round(at - newest - (span - newest) * share, 3) for share in shares]


def _posters() -> list[str]:
    """Return the poster of each article; some members post more than others."""
    members = _content()["members"]
    weights = [1 / (n + 3) for n in range(len(members))]
    return _random().choices(members, weights, k=len(_content()["articles"]))


def _votes(ages: Sequence[float], posters: Sequence[str]) -> Iterator[tuple[str, str, Choice]]:
    """Draw votes by each article's appeal, controversy and age: article, by link or else title; member; choice."""
    rng, content = _random(), _content()
    for row, age, poster in zip(content["articles"], ages, posters, strict=True):
        seen = 1 - exp(-age / _MATURING)
        for member in content["members"]:
            votes, opposes = rng.random() < seen * row["appeal"], rng.random() < row["controversy"]
            if votes and member != poster:
                yield row["link"] or row["title"], member, Choice.OPPOSE if opposes else Choice.VOTE


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
        text=row["text"],
    )


def _cast(repository: Repository, members: Mapping[str, UserId], votes: Sequence[tuple[str, str, Choice]]) -> None:
    ids = {article.link or article.title: article.id for article in repository.imports.iterate()}

    def cast(vote: tuple[str, str, Choice]) -> None:
        article, member, choice = vote
        with suppress(ArticleNotFound, ActionRefused):  # closed or removed since an interrupted run
            repository.votes.cast(ids[article], members[member], choice)

    with ThreadPoolExecutor(_VOTING_THREADS) as pool:
        list(pool.map(cast, votes))


def _view(repository: Repository, begun_at: float, times: Sequence[float]) -> int:
    """Record readers' views until the run began. Return how many views count."""
    rows = zip(_content()["articles"], times, strict=True)
    drawn = draw_views(
        [(row["link"] or row["title"], row["appeal"], posted_at) for row, posted_at in rows], begun_at
    )
    return record_missing(repository, drawn)


def _run_file() -> Path:
    return Path(settings.DATA_DIR) / "demo-begun.json"


def _load_or_begin(repository: Repository) -> SeedingRun | None:
    """Return the interrupted run, or begin a new one; None if the site has other articles."""
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        fields = json.loads(_run_file().read_text("utf-8"))
        run = SeedingRun(float(fields["at"]), tuple(fields["logins"]))
        if _holds_only_demo(repository, run):
            return run
    if repository.imports.count():
        return None
    free = [name for name in (MEMBER, MODERATOR) if not User.objects.is_taken(name)]
    run = SeedingRun(repository.store.now(), tuple(free))
    private_files.write(_run_file(), json.dumps(asdict(run)).encode())
    return run


def _holds_only_demo(repository: Repository, run: SeedingRun) -> bool:
    """Return whether all articles in the store are from this run."""
    rows = _content()["articles"]
    if repository.imports.count() > len(rows):
        return False
    times = _times(run.at, repository.rules.voting_window)
    expected = {(row["link"] or row["title"], posted_at) for row, posted_at in zip(rows, times, strict=True)}
    stored = repository.imports.iterate()
    return all((article.link or article.title, article.posted_at) in expected for article in stored)


def _make_logins(names: Sequence[str]) -> dict[str, str]:
    """Create these accounts, or give them new passwords. Return the passwords by name."""
    passwords = {name: secrets.token_urlsafe(12) for name in names}
    if passwords:
        private_files.write(logins_file(), "\n".join([*_login_lines(passwords), ""]).encode())
    for name, password in passwords.items():
        user = User.objects.filter(username=name).first() or User(username=name)
        user.set_password(password)
        user.followed_groups = _FOLLOWED if name == MEMBER else ""
        user.save()
        if name == MODERATOR:
            user.groups.set(Group.objects.filter(name=MODERATORS))
    return passwords


def _login_lines(passwords: Mapping[str, str]) -> list[str]:
    return [f"  {name:<{len(MODERATOR)}}  {password}" for name, password in passwords.items()]


# Removing


class DemoNotAlone(Exception):
    """The site has other articles than the demo's. The message says how many."""


def remove(repository: Repository) -> tuple[int, int]:
    """Delete the demo's articles, groups and accounts; return how many articles and accounts these were.

    Ids are not used again. Other accounts stay, without their votes on the demo's articles. Can be interrupted and
    repeated. Raises DemoNotAlone, before anything is changed, ImportRunning and StoreError.
    """
    with repository.imports.lock():
        known, articles, others = content_articles(), 0, 0
        for article in repository.imports.iterate():
            if (article.link or article.title) in known:
                articles += 1
            else:
                others += 1
        if others:
            raise DemoNotAlone(f"{others:,} articles are not the demo's.")
        repository.clear()
    for text in _content()["texts"]:  # what an administrator has written instead stays
        SiteText.objects.filter(**text).delete()
    accounts = _delete_accounts()
    logins_file().unlink(missing_ok=True)
    return articles, accounts


def _delete_accounts() -> int:
    """Delete the demo's accounts, and what refers to them: nothing else needs their names."""
    imported = User.objects.filter(username__in=_content()["members"], imported=True)
    accounts = imported | User.objects.filter(username__in=(MEMBER, MODERATOR))
    ids = list(accounts.values_list("pk", flat=True))
    delete_wholly(ids)
    return len(ids)

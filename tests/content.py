"""What sites under test are filled with: members, groups, articles with votes and views, discussions.

Runs in the environment of the site (`manage.py shell`). The ids of articles are 1 to `ARTICLES`, the newest last.
"""

from django.contrib.auth.models import Group

from accounts.models import User
from accounts.moderators import GROUP as MODERATORS
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import OPERATOR
from articles.domain.readership import Visit
from articles.models import SiteText
from articles.repository import Repository
from articles.web.wiring import patient_repository
from tests.cast import PASSWORD

MEMBER, MODERATOR = "demo", "demo-moderator"
ARTICLES = 130
DISCUSSED, TEXT, LOCKED = 120, 130, 40
"""Articles with comments: with a link, without one, closed to further ones."""

_NAMES = ("coldcache", "OffByOne", "yak-shaver", "rubber_duck", "nanshan-cha", "xiaomantou", "yedu_mao", "merkle")
_SUBJECTS = (
    "Redis", "Python", "PostgreSQL", "Valkey", "SQLite", "Django", "Lua", "HTTP", "Unicode", "Linux", "Git",
    "数据库", "浏览器",
)  # fmt: skip
_TITLES = (
    "{} in a hundred lines", "Why {} is so fast", "用 {} 写代码的十年，以及学到的东西", "A short history of {}",
    "What {} taught us about queues, and what it did not", "Measuring {} without fooling yourself",
    "{}: notes after ten years in production, with the graphs we wished to have had",
    "Ask: how do you test {}?", "The internals of {}", "Learning {} from its source",
)  # fmt: skip
_GROUPS = {
    slug: slug.capitalize()
    for slug in ("python", "redis", "web", "databases", "systems", "security", "programming", "history")
}
_TEXT = "What surprised me is the second half: *measure first*, and only then decide.\n\nThe rest holds."


def fill() -> None:
    """Fill the site, unless an extra has filled it."""
    if User.objects.exists():
        return
    repository, posters = patient_repository(), User.objects.bulk_create_imported(_NAMES)
    member, moderator = (User.objects.create_user(name, password=PASSWORD) for name in (MEMBER, MODERATOR))
    User.objects.filter(pk=member.pk).update(followed_groups="redis,history")
    moderator.groups.set(Group.objects.filter(name=MODERATORS))
    repository.groups.ensure(_GROUPS)
    repository.groups.describe("redis", "Stores in memory; see [databases](/groups/databases/).", OPERATOR)
    for name in ("welcome", "rules", "about"):
        SiteText.objects.create(name=name, language="en", text="Good reading: [how it works](/about/).")
    now = repository.store.now()
    repository.imports.add([_article(number, now, posters) for number in range(1, ARTICLES + 1)])
    for article in (DISCUSSED, TEXT, LOCKED, 119, 121, 128):
        _discuss(repository, article, [*posters.items()])
    repository.comments.post(DISCUSSED, member.pk, MEMBER, "I have tried it with Redis, and it is so.")
    repository.comments.lock(LOCKED, OPERATOR, "All has been said.")
    read = [(article, reader) for article in range(1, ARTICLES + 1) for reader in range(1 + article * 5 % 23)]
    repository.pageviews.record_many([(article, Visit(f"{reader:016x}"), now - 60) for article, reader in read])
    repository.hot.rescore()


def _article(number: int, now: float, posters: dict[str, int]) -> ImportedArticle:
    """Return an article from six days to minutes ago: the newer, the denser."""
    subject, name, groups = _SUBJECTS[number % len(_SUBJECTS)], _NAMES[number % len(_NAMES)], [*_GROUPS]
    host = "github.com" if number % 9 == 0 else f"host{number % 23}.example"
    return ImportedArticle(
        title=_TITLES[number % len(_TITLES)].format(subject),
        link="" if number == TEXT else f"https://{host}/{number}",
        text=_TEXT if number == TEXT else "",
        poster=posters[name],
        poster_name=name,
        posted_at=round(now - 240 - 6 * 86400 * (1 - number / ARTICLES) ** 1.7, 3),
        votes=1 + number * 7 % 19,
        opposes=number % 3,
        groups=tuple(dict.fromkeys((groups[number % 8], groups[number % 3]))),
    )


def _discuss(repository: Repository, article: int, members: list[tuple[str, int]]) -> None:
    """Let members comment, reply and vote; one flags the last comment."""
    first = None
    for place, (name, author) in enumerate(members[:4]):
        parent = first if place % 2 else None
        posted = repository.comments.post(article, author, name, f"{_TEXT} {place}", parent=parent)
        first = first or posted
        for _name, voter in members[4 : 7 - place % 3]:
            repository.comments.cast(posted, voter, Choice.VOTE)
    repository.flags.set(posted, members[-1][1], FlagReason.OFF_TOPIC)

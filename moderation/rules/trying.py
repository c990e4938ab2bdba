"""What a rule would have done in the last 30 days: a trial, which needs no write and has a bound.

It asks the same function as new posts. Account age, numbers of posts and repeated texts are as they were then;
points are those of today, and what was removed since is not looked at.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from django.utils import timezone
from django.utils.text import Truncator

from accounts.models import User
from accounts.moderators import REMOVE_ARTICLES
from articles.domain.articles import Article, ArticleId
from articles.domain.comments import is_root
from articles.domain.members import UserId
from articles.domain.notices import EXCERPT_CHARACTERS
from articles.web.identity import points_that_count
from articles.web.rights import have_any
from articles.web.rules.acting import links_of
from articles.web.rules.matching import MOST_DAYS, Definition, Facts, Rule, Rules, Subject
from articles.web.wiring import repository

MOST_TRIED = 2_000
"""Subjects of a trial: the newest articles, the comments on them, the newest accounts, or the heaviest flags."""

TRIAL_SECONDS = 2.0
MOST_EXAMPLES = 20
_PER_READ = 200
_DAY = 86400  # seconds


class Tried(NamedTuple):
    """Something that a trial looks at. `at`: when it was posted, in Unix seconds."""

    author: UserId
    at: float
    lines: Sequence[str]  # what was written, the text with Markdown last
    link: str = ""
    groups: Sequence[str] = ()
    article: ArticleId = 0
    comment: int = 0

    @property
    def words(self) -> str:
        """The beginning of what was written, on one line."""
        return Truncator(" ".join(filter(None, self.lines))).chars(EXCERPT_CHARACTERS)


class Trial(NamedTuple):
    """The result. `is_complete`: whether the time was enough for all that was read."""

    looked_at: int
    matching: int
    examples: list[Tried]
    is_complete: bool


class _Author(NamedTuple):
    joined_at: float
    is_exempt: bool


class PastFacts(Facts):
    """What rules can ask about something that was posted before."""

    def __init__(
        self, subject: Subject, tried: Tried, joined_at: float, texts: Mapping[str, Sequence[Tried]]
    ) -> None:
        """`texts`: what has the same text, by digest."""
        super().__init__(subject, "\n".join(tried.lines))
        self._tried, self._joined_at, self._texts = tried, joined_at, texts

    @cached_property
    def groups(self) -> Sequence[str]:
        return self._tried.groups

    @cached_property
    def links(self) -> Sequence[str]:
        return links_of(self._tried.link, self._tried.lines[-1])

    @cached_property
    def age_days(self) -> float:
        return (self._tried.at - self._joined_at) / _DAY

    @cached_property
    def points(self) -> int:
        author = User.objects.filter(pk=self._tried.author).first()
        return points_that_count(author) if author else 0

    def count_posts(self, hours: int) -> int:
        return self._count(self._tried.at - hours * 3600)[self.subject is Subject.COMMENT]

    def _count(self, since: float) -> tuple[int, int]:
        return repository().members.count_posted(self._tried.author, since, self._tried.at)

    def count_others(self, days: int) -> int:
        since, mine = self._tried.at - days * _DAY, self._tried
        same = self._texts.get(self.digest, ()) if self.digest else ()
        return len({one.author for one in same if since < one.at < mine.at} - {mine.author})


def attempt(definition: Definition) -> Trial:
    """Look at MOST_TRIED posts at most, for at most TRIAL_SECONDS. Two round trips for each `_PER_READ`."""
    deadline, rules, subject = time.monotonic() + TRIAL_SECONDS, Rules([Rule("", definition)]), definition.subject
    since = repository().store.now() - MOST_DAYS * _DAY
    found = list(islice((one for one in _read(subject, since, deadline) if one.at >= since), MOST_TRIED))
    authors = _authors({one.author for one in found})
    texts = _texts(subject, found) if definition.members else {}
    looked_at, matching = 0, list[Tried]()
    for one in found:
        if time.monotonic() >= deadline:
            break
        looked_at += 1
        author = authors.get(one.author)
        if author and not author.is_exempt and rules.matching(PastFacts(subject, one, author.joined_at, texts)):
            matching.append(one)
    is_complete = looked_at == len(found) and time.monotonic() < deadline
    return Trial(looked_at, len(matching), matching[:MOST_EXAMPLES], is_complete)


def _texts(subject: Subject, found: Sequence[Tried]) -> Mapping[str, Sequence[Tried]]:
    texts = defaultdict[str, list[Tried]](list)
    for one in found:
        texts[Facts(subject, "\n".join(one.lines)).digest].append(one)
    return texts


def _authors(ids: set[UserId]) -> dict[UserId, _Author]:
    """Return the members among these. Two queries."""
    exempt = {*User.objects.filter(have_any(REMOVE_ARTICLES), pk__in=ids).values_list("pk", flat=True)}
    rows = User.objects.filter(pk__in=ids, left_at=None).values_list("pk", "date_joined")
    return {pk: _Author(joined.timestamp(), pk in exempt) for pk, joined in rows}


def _read(subject: Subject, since: float, deadline: float) -> Iterator[Tried]:
    """Yield what there is to try, the newest first, as far as the time lasts."""
    if subject is Subject.NAME:
        joined = User.objects.filter(left_at=None, date_joined__gte=timezone.now() - timedelta(MOST_DAYS))
        for member in joined.order_by("-pk")[:MOST_TRIED]:
            yield Tried(member.pk, member.date_joined.timestamp(), [member.get_username()])
    elif subject is Subject.REPORT:
        for entry in repository().flags.list_flagged(since, repository().store.now(), MOST_TRIED):
            article, comment = entry.article, 0 if is_root(entry.subject) else entry.subject
            for flag in filter(attrgetter("member"), entry.flags):
                lines = [flag.reason, flag.words]
                yield Tried(flag.member, flag.at, lines, "", article.groups, article.id, comment)
    else:
        last = repository().changes.get_last_id()
        for end in range(last, max(0, last - MOST_TRIED), -_PER_READ):
            if time.monotonic() >= deadline:
                return
            articles = repository().changes.read_articles(range(end, max(0, end - _PER_READ), -1))
            yield from map(_article, articles) if subject is Subject.ARTICLE else _comments(articles, deadline)


def _article(article: Article) -> Tried:
    lines = article.title, article.link, article.text
    return Tried(article.poster, article.posted_at, lines, article.link, article.groups, article.id)


def _comments(articles: Sequence[Article], deadline: float) -> Iterator[Tried]:
    by_id, changes = {one.id: one for one in articles}, repository().changes
    ids = changes.list_comments_on(list(by_id))
    for at in range(0, len(ids), _PER_READ):
        if time.monotonic() >= deadline:
            return
        for one in changes.read_comments(ids[at : at + _PER_READ]):
            groups = by_id[one.article].groups
            yield Tried(one.author, one.posted_at, [one.text], "", groups, one.article, one.id)

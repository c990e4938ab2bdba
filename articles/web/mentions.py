"""Whom a text that a member writes mentions: who is notified of it, and whose notice is taken back."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.http import HttpRequest

from accounts import names
from accounts.models import Mute
from articles.domain.articles import ArticleId
from articles.domain.members import UserId
from articles.domain.notices import MOST_MENTIONED
from articles.text.mentions import mentioned_in
from articles.text.searching import Hiding
from articles.web import limits
from articles.web.identity import actor
from articles.web.wiring import html_of


class Topic(NamedTuple):
    """The facts by which a member's hiding applies to an article, posted already or being posted."""

    title: str
    link: str
    groups: Collection[str]
    article: ArticleId = 0
    poster: UserId = 0


class Audience(NamedTuple):
    """The members whom a text concerns."""

    mentioned: tuple[UserId, ...]  # those whom it mentions, and the text before did not, `MOST_MENTIONED` at most
    unmentioned: Mapping[UserId, float]
    """Those whom only the text before mentions, each with when the inbox was read, in Unix seconds."""

    spared: frozenset[UserId]  # those who want no notice of it


NO_AUDIENCE = Audience((), {}, frozenset())


def audience_of(
    request: HttpRequest,
    text: str,
    topic: Callable[[], Topic],
    article: ArticleId | None = None,
    *,
    before: str = "",
    replied_to: Collection[UserId] = (),
    is_limited: bool = True,
) -> Audience:
    """Return whom the member's text in Markdown concerns, and take a use of the limits for each one mentioned.

    `topic`: of the article that it is about; `article`: whose discussion it belongs to, if any; `before`: the text
    that it replaces; `replied_to`: the author whom it answers. One query, another if it answers anyone, and two if
    it mentions anyone. Raises LimitReached.
    """
    author = actor(request).id
    spared = Mute.objects.list_spared(author, article)
    now, then = _named_in(text), _named_in(before)
    inboxes = get_user_model().objects.inboxes_of({*now, *then}) if now or then else {}
    new = [inboxes[name][0] for name in now[:MOST_MENTIONED] if name in inboxes and name not in then]
    spared |= _list_hiding({*new, *replied_to} - spared, topic)
    mentioned = tuple(user for user in new if user != author and user not in spared)
    if is_limited:
        limits.take_mentions(request, len(mentioned))
    unmentioned = dict(inboxes[name] for name in then if name in inboxes and name not in now)
    return Audience(mentioned, unmentioned, spared)


def _named_in(text: str) -> tuple[str, ...]:
    """Return the canonical names that a text mentions."""
    return tuple(map(names.canonical, mentioned_in(html_of(text)))) if "@" in text else ()


def _list_hiding(members: Collection[UserId], topic: Callable[[], Topic]) -> frozenset[UserId]:
    """Return which of these members want no notice about an article, because they hide it; never its poster.

    Whom they block is left to `Mute.objects.list_spared`. One query; none without members. `topic` is only called
    if any of them hides anything.
    """
    rows = get_user_model().objects.filter(pk__in=members).exclude(hidden="", hidden_groups="") if members else ()
    hidings = {one.pk: Hiding.of(f"{one.hidden_groups},{one.hidden}") for one in rows}
    if not hidings:
        return frozenset()
    title, link, groups, article, poster = topic()
    return frozenset(
        member
        for member, own in hidings.items()
        if member != poster
        and (article in own.articles or not set(own.groups).isdisjoint(groups) or own.hides_text(title, link))
    )

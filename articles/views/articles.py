"""The page of an article: what it is made of, by the modules that draw its parts."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language, gettext as _
from django.views.decorators.http import require_safe

from articles.configuration.choices import closed_groups, site_address
from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.comments import Comment, Thread
from articles.domain.members import UserId
from articles.domain.rules import Rules
from articles.formatting.kept import piece
from articles.formatting.values import age, from_now, grouped, time_of
from articles.kept_pages import is_copying
from articles.kept_pages.sharing import COUNTED_APART, PAGE_STATE
from articles.text.links import copies_address, home_of
from articles.views.article_parts import history, links_html, merged, posted_before, ring
from articles.views.cards import LOCALES, card_holes
from articles.views.comments.discussion import DiscussionShape, comment_of, discussion_with, order_of, place_in
from articles.views.lists.rows import button_holes, groups_of, poster_of
from articles.web.abilities import Abilities, abilities
from articles.web.addresses import path_of
from articles.web.articles import MOST_POSTED_BEFORE
from articles.web.context import Frame, frame_holes, frame_of
from articles.web.forms.comments import CommentForm
from articles.web.groups import marked_titles
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.web.readership.record import Counted, counting, remember
from articles.web.wiring import finder, group_titles, repository
from outgoing.addresses import is_private


class Standing(NamedTuple):
    """The shape of an article's buttons."""

    choice: Choice
    may_vote: bool
    saved: bool
    is_removed: bool


class ArticleShape(NamedTuple):
    """Which parts an article's page has."""

    frame: Frame
    may: Abilities
    site: str  # address of the site
    locale: str
    is_open: bool
    is_removed: bool
    is_withdrawn: bool
    is_merged: bool
    is_locked: bool
    has_link: bool
    has_text: bool
    has_poster_page: bool
    archives: tuple[str, ...]  # names of those that may have copies of the link
    discussion: DiscussionShape | None

    @property
    def has_card(self) -> bool:
        """Whether other sites that show a link to the page find its title and a description."""
        return not (self.is_removed or self.frame.is_member)

    @property
    def comment_form(self) -> CommentForm:
        return CommentForm()


@require_safe
def detail(request: HttpRequest, article_id: int) -> HttpResponse:
    order, place, reader, repo = order_of(request), place_in(request), reader_id(request), repository()
    others, total = finder(catches_up=False).find_posted_before(article_id, MOST_POSTED_BEFORE)
    with _counting(request, article_id, reader) as counted:
        article, thread, request.META[PAGE_STATE], found = repo.comments.get_article(
            article_id, order, reader=reader, part=place.part, others=others
        )
    is_part = "start" in request.GET  # a later part of its comments has no other page
    if article.merged_into is not None and not is_part:
        return redirect(f"{path_of('articles:article', article.merged_into)}#merged-{article_id}")
    if thread and (elsewhere := _comment_elsewhere(request, article_id, thread)):
        return redirect("articles:comment", elsewhere.id)
    view, now = counted() if article.removed is None else None, repo.store.now()
    discussion, says = None, dict[str, object](merged="", before="", ring="", history="")
    if thread:
        address, visited_at = path_of("articles:article", article_id), view[1].visited_at if view else None
        discussion, comments = discussion_with(request, article, thread, address, now, visited_at=visited_at)
        says |= comments
        if article.merged and not thread.start:
            says["merged"] = merged(request, article, thread)
    if article.removed is None:
        says["before"] = posted_before(request, article, found, total) if found and article.link else ""
        says["ring"] = ring(request, article) if article.ring else ""
    if article.is_logged:
        says["history"] = history(request, article)
    if view:
        says |= {"pv": grouped(view[1].pv), "uv": grouped(view[1].uv)}
    response = HttpResponse(_drawn(request, article, discussion, repo.rules, now, says))
    if view:
        remember(request, response, view[0], view[1].reason)
    return response


def _counting(
    request: HttpRequest, article_id: ArticleId, reader: UserId | None
) -> AbstractContextManager[Callable[[], Counted]]:
    """Count a view of the page with the exchange that reads the article; the context is a function for the result.

    It returns None for no view, or if counting fails: the page is served anyway.
    """
    if request.method == "HEAD" or is_copying(request) or COUNTED_APART in request.META:
        return nullcontext(lambda: None)
    return counting(request, article_id, reader if preferences_of(request).remembers_read else None)


def _comment_elsewhere(request: HttpRequest, article_id: ArticleId, thread: Thread) -> Comment | None:
    """Return the comment of `?comment=` if the thread does not show it: its page shows a member what they wrote.

    At most one round trip, none for a comment of the thread.
    """
    raw = request.GET.get("comment") if request.user.is_authenticated else None
    if not raw or any(str(one.id) == raw for one in thread.comments):
        return None
    return comment_of(article_id, raw)


def _drawn(
    request: HttpRequest,
    article: Article,
    discussion: DiscussionShape | None,
    rules: Rules,
    now: float,
    says: Mapping[str, object],
) -> str:
    """Return the page of an article as this reader sees it. `says`: what newer numbers and other parts say."""
    frame, copies, is_removed = frame_of(request), _copies(article), article.removed is not None
    shape = ArticleShape(
        frame,
        abilities(request, article, rules, now),
        site_address(request),
        LOCALES.get(get_language() or "", "en_US"),
        is_open=article.is_open(now),
        is_removed=is_removed,
        is_withdrawn=article.is_withdrawn,
        is_merged=article.merged_into is not None,
        is_locked=article.locked is not None,
        has_link=bool(article.link),
        has_text=bool(article.html),
        has_poster_page=bool(article.poster_name),
        archives=tuple(copies),
        discussion=discussion,
    )
    holes = {f"copies_{n}": address for n, address in enumerate(copies.values())} | _holes_of(article, shape)
    holes |= {place: links_html(f"article.{place}", request, article) for place in ("foot", "menu")}
    return piece("articles/article.html", frame_holes(request) | holes | dict(says), frame=frame, shape=shape)


def _copies(article: Article) -> dict[str, str]:
    """Return where archives list copies of an article's link, by their names; {} for a private link."""
    if not article.link or article.removed is not None or is_private(article.link):
        return {}
    return {name: copies_address(pattern, article.link) for name, pattern in settings.ARCHIVES}


def _holes_of(article: Article, shape: ArticleShape) -> dict[str, object]:
    """Return what the page says of the article. Addresses of the card are absolute."""
    former, known = article.former if shape.may.see_subjects else None, group_titles()
    home = home_of(article.link) if article.link else ""
    titles = tuple(map(known.get, article.groups, article.groups))
    is_closed = not closed_groups().isdisjoint(article.groups)
    return {
        **_standing_of(article, may_vote=shape.is_open and shape.frame.may_vote, is_member=shape.frame.is_member),
        "id": article.id,
        "title": article.title,
        "link": article.link,
        "host": home,
        "host_address": path_of("articles:host", home) if home else "",
        "removed": article.removed,
        "merged_into": article.merged_into or "",
        "poster": poster_of(article.poster_name, is_deleted=article.by_deleted_member, former=former),
        "posted": time_of(article.posted_at, age(article.posted_at)),
        "groups": groups_of(article.groups, marked_titles(article.groups, titles) if is_closed else titles),
        "closes": time_of(article.closes_at, from_now(article.closes_at)),
        "pv": grouped(article.pv),
        "uv": grouped(article.uv),
        "text": article.html,
        "card_address": shape.site + path_of("articles:article", article.id),
        **(card_holes(article, titles, shape.site) if shape.has_card else {}),
    }


def _standing_of(article: Article, *, may_vote: bool, is_member: bool) -> dict[str, str]:
    """Return the parts of the page that change with votes, and with the reader's own choices."""
    standing = Standing(article.choice, may_vote, article.saved, article.removed is not None)
    holes = button_holes(article, is_open=may_vote)
    return {
        "buttons": piece("articles/buttons.html", holes, shape=standing),
        "saving": piece("articles/saving.html", holes, shape=standing, is_member=is_member),
        "votes": grouped(article.votes),
        "opposes": grouped(article.opposes),
        "choice": _told(article.choice),
    }


def _told(choice: Choice) -> str:
    """Return the reader's choice in words; "" for none."""
    return {Choice.VOTE: _("You voted for it."), Choice.OPPOSE: _("You opposed it.")}.get(choice, "")

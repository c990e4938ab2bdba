"""Parts of an article's page that few articles have: a voting ring, earlier articles, changes, merged articles."""

from collections.abc import Sequence

from django.http import HttpRequest
from markupsafe import Markup

from articles.domain.articles import Article
from articles.domain.comments import Thread
from articles.domain.errors import OwnMatter
from articles.formatting.kept import drawn
from articles.text.refusals import action_sentence
from articles.views.comments.discussion import discussion_with
from articles.views.lists.rows import poster_of
from articles.web import extras
from articles.web.abilities import may_merge
from articles.web.addresses import path_of
from articles.web.articles import PostedBefore
from articles.web.identity import reader_id
from articles.web.rights import ModeratorLinks
from articles.web.wiring import repository


def ring(request: HttpRequest, article: Article) -> str:
    """Return what moderators see of the article's voting ring; "" for other readers."""
    if not ModeratorLinks(request).shows_rings:
        return ""
    may_check, own_matter = article.poster != reader_id(request), action_sentence(OwnMatter())
    context = {"article": article, "may_check": may_check, "own_matter": own_matter}
    return drawn("voting_rings/notice.html", context, request)


def posted_before(request: HttpRequest, article: Article, found: Sequence[Article], total: int) -> str:
    """Return what the page shows of the `total` earlier articles of its link, of which some are `found`."""
    before = PostedBefore.of(article.link, found, total)
    if not before.articles:
        return ""
    merges = may_merge(request, article, before.articles[0]) and not article.merged
    context = {"before": before, "article": article, "may_merge": merges}
    return drawn("articles/before.html", context, request)


def history(request: HttpRequest, article: Article) -> Markup:
    """Return the article's changes. One round trip."""
    log = repository().moderation_log.get_for_article(article.id)
    buttons = extras.log_buttons(request, article, log.entries)
    return drawn("articles/history.html", {"log": log, "buttons": buttons}, request)


def links_html(place: str, request: HttpRequest, article: Article) -> Markup:
    """Return the links of extras at a place, in its list if it is one."""
    item = Markup('<a href="{}" rel="nofollow">{}</a>')
    if place == "article.menu":
        item = Markup("<li>") + item + Markup("</li>")
    return Markup("\n").join(item.format(one.path, one.label) for one in extras.links(place, request, article))


def merged(request: HttpRequest, article: Article, thread: Thread) -> Markup:
    """Return the comments of merged articles, below the first part of the article's own. Two round trips."""
    repo = repository()
    articles = repo.merges.list_merged(article, thread.order, reader_id(request))
    now = repo.store.now()
    discussions = [
        (
            one,
            poster_of(one.poster_name, is_deleted=one.by_deleted_member),
            *discussion_with(request, one, of_it, path_of("articles:article", one.id), now),
        )
        for one, of_it in articles
    ]
    may_undo = {one.id for one, _of_it in articles if may_merge(request, article, one)}
    return drawn("articles/merged.html", {"discussions": discussions, "may_undo": may_undo}, request)

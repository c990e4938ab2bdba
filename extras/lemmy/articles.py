"""Articles as Lemmy's posts: lists, reading, posting, editing, voting, saving, hiding, flagging."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from pydantic import Field

from accounts.models import POST, VOTE
from articles.api.groups import check_groups
from articles.api.lists import read_list
from articles.api.protocol.problems import Problem
from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.lists import GROUPS_PER_LIST, TOP_PERIODS, Order, Period
from articles.domain.readership import Suspicion, Visit
from articles.text.lines import clean_reason
from articles.text.searching import Kind
from articles.web import articles, extras, hiding, limits, votes
from articles.web.forms.articles import clean_content
from articles.web.identity import actor, reader_id
from articles.web.preferences import current_groups, preferences_of
from articles.web.readership.record import counting, logged_failure, visit_of
from articles.web.wiring import repository
from extras.lemmy.groups import community_response
from extras.lemmy.operations import MOST_LISTED, Json, Limit, Number, Page, beyond, operation
from extras.lemmy.shapes import WHOLE_SITE, Shapes, facts, slug_of, when
from moderation.flags import set_flag

SORTS: Mapping[str, tuple[Order, Period]] = {
    "Scaled": (Order.HOT, Period.ALL),
    "New": (Order.TIME, Period.ALL),
    **dict.fromkeys(("Active", "NewComments", "MostComments"), (Order.ACTIVE, Period.ALL)),
    **{f"Top{word.title()}": (Order.POINTS, period) for word, period in TOP_PERIODS.items()},
    **dict.fromkeys(("TopHour", "TopSixHour", "TopTwelveHour"), (Order.POINTS, Period.DAY)),
    **dict.fromkeys(("TopThreeMonths", "TopSixMonths", "TopNineMonths", "TopYear"), (Order.POINTS, Period.ALL)),
}
"""Lists of the site by Lemmy's sorts; others, as Hot, are the front page. A group's list has no period."""

CHOICES = {1: Choice.VOTE, 0: Choice.NONE, -1: Choice.OPPOSE}

Posts = Annotated[Sequence[Number], Field(max_length=MOST_LISTED)]
Listing = Literal["All", "Local", "Subscribed", "ModeratorView"]


def choice_of(score: int) -> Choice:
    """Return the choice that a score stands for. Raises Problem."""
    if score not in CHOICES:
        raise Problem(400, "invalid_vote_value", _("The score must be 1, 0 or −1."))
    return CHOICES[score]


@operation("GET", "post/list", word="couldnt_get_posts")
def list_posts(
    request: HttpRequest,
    type_: Listing = "All",
    sort: str = "Hot",
    page: Page = 1,
    limit: Limit = 10,
    community_id: Number | None = None,
    community_name: str | None = None,
    saved_only: bool = False,
    liked_only: bool = False,
    disliked_only: bool = False,
    show_hidden: bool = False,
    page_cursor: str | None = None,
) -> Json:
    number, reader, personal = 1 if page_cursor else page, reader_id(request), type_ == "Subscribed"
    if reader and (saved_only or liked_only or disliked_only):
        own = repository().members
        read = own.get_saved if saved_only else own.get_voted if liked_only else own.get_opposed
        return {"posts": Shapes(request).post_views(beyond(lambda: read(reader, page).articles, ()))}
    slugs: tuple[str, ...] = ()
    if community_id or community_name:
        slugs, personal = tuple({slug_of(community_id, community_name)} - {WHOLE_SITE}), False
    elif personal or type_ == "ModeratorView":
        slugs = current_groups(preferences_of(request).followed_groups) if personal else moderated_by(request)
        if not slugs:
            return {"posts": []}
    query: Any = QueryDict(mutable=True)  # of the site's own lists, by which a cursor is good for one of them
    query["list"] = f"{type_} {sort} {limit} {slugs}"
    query.update(facts(hidden="show" if show_hidden else None, after=page_cursor))
    request.GET = query
    order, period = SORTS.get(sort, (Order.SCORE, Period.ALL))
    span, size = Period.ALL if slugs else period, min(limit, MOST_LISTED)
    listed = partial(read_list, request, order, number, slugs, period=span, size=size, is_followed=personal)
    if (found := beyond(listed, None)) is None:
        return {"posts": []}
    shown, following = found
    is_known = number == 1 or (order is Order.TIME and not personal)  # what was before this page
    posts = Shapes(request).post_views(shown.articles, slugs)
    return {"posts": posts, **facts(next_page=following if is_known else None)}


def moderated_by(request: HttpRequest) -> tuple[str, ...]:
    """Return the slugs of the groups that the member moderates, as many as a list can have."""
    return tuple(sorted(getattr(request.user, "moderated", ())))[:GROUPS_PER_LIST]


@operation("GET", "post", word="couldnt_find_post")
def get_post(request: HttpRequest, id: Number | None = None, comment_id: Number | None = None) -> Json:
    """Read an article; that counts as opening its page."""
    if id is None and comment_id is None:
        raise Problem(400, "no_id_given", _("Send an id or a name."))
    article_id = id or repository().comments.get(comment_id or 0).article
    member = reader_id(request) if preferences_of(request).remembers_read else None
    with counting(request, article_id, member) as counted:
        article = repository().articles.get(article_id, reader_id(request), with_text=True)
    if article.removed is None:
        counted()
    shapes = Shapes(request)
    described = community_response(shapes, shapes.slug_for(article))
    others = articles.posted_before(article.link, reader=reader_id(request)).articles if article.link else ()
    return {
        "post_view": shapes.post_views([article])[0],
        "community_view": described["community_view"],
        "moderators": described["moderators"],
        "cross_posts": shapes.post_views([one for one in others if one.id != article_id]),
    }


def post_response(request: HttpRequest, article_id: ArticleId) -> Json:
    """Return an article after a change."""
    article = repository().articles.get(article_id, reader_id(request), with_text=True)
    return {"post_view": Shapes(request).post_views([article])[0]}


@operation("POST", "post", scope=POST, word="couldnt_create_post")
def create_post(
    request: HttpRequest, name: str, community_id: Number, url: str | None = None, body: str | None = None
) -> Json:
    slug = slug_of(community_id)
    groups = [] if slug == WHOLE_SITE else [slug]
    content = clean_content(SimpleNamespace(title=name, link=url or "", text=body or ""))
    check_groups(groups, repository().groups.get_titles())
    return post_response(request, articles.post(request, content, groups).id)


@operation("PUT", "post", scope=POST, word="couldnt_update_post")
def edit_post(
    request: HttpRequest, post_id: Number, name: str | None = None, url: str | None = None, body: str | None = None
) -> Json:
    before = repository().articles.get(post_id, reader_id(request), with_text=True)
    content = clean_content(SimpleNamespace(title=name, link=url, text=body), before)
    articles.edit(request, before, content, as_moderator=False)
    return post_response(request, post_id)


@operation("POST", "post/delete", scope=POST, word="couldnt_update_post")
def delete_post(request: HttpRequest, post_id: Number, deleted: bool) -> Json:
    if not deleted:
        raise Problem(409, "couldnt_update_post", _("Only moderators can restore a withdrawn article."))
    articles.withdraw(request, post_id)
    return post_response(request, post_id)


@operation("POST", "post/like", scope=VOTE, limited=("api",), word="couldnt_like_post")
def like_post(request: HttpRequest, post_id: Number, score: int) -> Json:
    votes.cast(request, request.user, post_id, choice_of(score))
    return post_response(request, post_id)


@operation("PUT", "post/save", scope=VOTE, word="couldnt_save_post")
def save_post(request: HttpRequest, post_id: Number, save: bool) -> Json:
    repository().members.save(actor(request).id, post_id, wanted=save)
    return post_response(request, post_id)


@operation("POST", "post/hide", scope=VOTE, word="couldnt_hide_post")
def hide_posts(request: HttpRequest, hide: bool, post_ids: Posts) -> Json:
    for number in post_ids:
        hiding.change(actor(request).id, Kind.ARTICLE, str(number), hidden=hide)
    return {"success": True}


@operation("POST", "post/mark_as_read", scope=VOTE, word="couldnt_mark_post_as_read")
def mark_posts_as_read(
    request: HttpRequest, read: bool, post_ids: Posts = (), post_id: Number | None = None
) -> Json:
    """Note that the member opened articles, if the site remembers that. It is no view: apps do it on scrolling."""
    if not read:
        raise Problem(409, "couldnt_mark_post_as_read", _("What you have opened cannot be marked as unread."))
    numbers = dict.fromkeys([*post_ids, *([post_id] if post_id else [])])
    if preferences_of(request).remembers_read:
        limits.take(request, *["views"] * len(numbers))
        repo = repository()
        known = visit_of(request, repo.store.now())
        visit = Visit(known.visitor, known.network, Suspicion.BOT)
        opened = dict.fromkeys(one.merged_into or one.id for one in repo.articles.get_many([*numbers]))
        for number in opened:
            with logged_failure(number):
                repo.pageviews.record(number, visit, reader_id(request), by_link=True)
    return {"success": True}


@operation("POST", "post/report", scope=POST, word="couldnt_create_report")
def report_post(request: HttpRequest, post_id: Number, reason: str) -> Json:
    article = repository().articles.get(post_id, reader_id(request), with_text=True)
    article.check_listed()
    original = facts(original_post_name=article.title, original_post_url=article.link or None, post_id=post_id)
    view = Shapes(request).post_views([article])[0]
    return {"post_report_view": report(request, root_of(post_id), reason, view, "post", original)}


def report(request: HttpRequest, subject: int, reason: str, view: Json, noun: str, original: Json) -> Json:
    """Flag an article or a comment for the moderators; return Lemmy's view of the report, from the noun's."""
    set_flag(request, subject, FlagReason.AGAINST_RULES, clean_reason(reason))
    me = actor(request).id
    made = {"id": subject, "creator_id": me, "reason": reason, "resolved": False, **original}
    made |= {"published": when(repository().store.now())}
    del view["banned_from_community"]
    own = {f"{noun}_report": made, f"{noun}_creator": view["creator"]}
    return view | own | {"creator": Shapes(request, [me]).person(me)}


@operation("GET", "post/site_metadata", scope=POST, limited=("api", "lookups"), word="invalid_url")
def get_metadata(request: HttpRequest, url: str) -> Json:
    """Propose a title, if the site has fetched the page by now: it never waits for another server."""
    known = extras.look_up(request, url)
    return {"metadata": facts(title=known.get("title") or None, description=known.get("description") or None)}


def shown_articles(ids: Any, reader: int | None) -> dict[int, Article]:
    """Return articles by id, without hidden ones. One round trip, none without ids."""
    found = repository().articles.get_many(sorted({*ids}), reader) if ids else []
    return {article.id: article for article in found if not article.is_withheld}

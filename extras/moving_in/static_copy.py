"""A copy of the site in plain files: when it closes, any web server answers with them at the same addresses.

Pages have templates of their own. Those of the site, stripped of their forms, took three times as long and as much
space, and led to what a copy does not have.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import cache, cached_property, lru_cache, partial
from itertools import count, repeat
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from django.conf import settings
from django.http import HttpRequest
from django.template import engines
from django.templatetags.static import static
from django.urls import resolve
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext as _, override, pgettext
from markupsafe import Markup

from accounts.models import User
from accounts.names import canonical
from articles.configuration import choices, colours
from articles.configuration.choices import chosen
from articles.domain.articles import Article, ArticleId
from articles.domain.comments import DEEPEST_SHOWN, Comment, CommentId, CommentOrder, article_of, lower_bound
from articles.domain.errors import PageNotFound
from articles.domain.lists import PAGES, PERIODS, Order, Period, without_groups
from articles.domain.members import DELETED_MEMBER
from articles.formatting.kept import piece
from articles.formatting.values import grouped, moment, time_of
from articles.repository import Repository
from articles.site import site_text, written_texts
from articles.text.links import home_of
from articles.views.crawlers import PART
from articles.views.lists.headings import Tab, Tabs, list_heading, order_tabs, page_title, period_tabs
from articles.views.lists.rows import comments_label, groups_of, poster_of, ranked_note
from articles.web.addresses import path_of
from articles.web.feeds import FORMATS
from articles.web.paging import Pager, numbered_pager
from articles.web.profiles import is_about_withheld
from articles.web.wiring import group_titles, html_of, html_of_site_text
from extras.moving_in.addresses import nginx_map
from extras.moving_in.models import Source

COMMENTS_PER_PAGE = 500
MONTH_PAGE = 250  # articles of a month on one page

_BATCH, _COMMENTS_READ = 250, 500  # articles, and comments, that are read together
_STYLES = ("css/site.css", "css/articles_and_forms.css", "css/other_pages.css")
_FILES = (*_STYLES, "favicon.svg", "touch-icon.png")
_GROUP_ORDERS = (Order.SCORE, Order.TIME)
_USUAL = {"/hot/": "all", "/top/": "day"}  # the periods of these addresses
_NOTHING = dict.fromkeys(("group", "member", "tabs", "text", "feed", "pager")) | {"frame": {"feeds": "public"}}
_OWN_LINK = re.compile(r'<a href="(/[^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_OLD = re.compile(r'  ".*" "(?:/comments/([0-9]+)[0-9]{6}/|(/.*))";')  # where an old address leads
_ROBOTS = "User-agent: *\nDisallow:\n\nSitemap: {}/sitemap.xml\n"
_SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}
</sitemapindex>
"""
_MAP = r"""# In http {{}}. In server {{}}: error_page 404 /404.html; if ($copied_to) {{ return 301 $copied_to; }}
map $request_uri $copied_to {{
  default "";
  {}
  "~^/comments/([1-9][0-9]*)([0-9]{{6}})/" "/articles/$1/#comment-$1$2";
  "~^(/groups/[^/?]+/)\?page=([0-9]{{2,}}|[2-9])&order=time" "$1time/page/$2/";
  "~^(/groups/[^/?]+/)\?order=time" "$1time/";
  "~^(/(?:hot|top)/)\?page=([0-9]{{2,}}|[2-9])&range=([a-z0-9]+)" "$1$3/page/$2/";
  "~^/hot/\?range=(24h|72h|7d)" "/hot/$1/";
  "~^/top/\?range=(week|month|all)" "/top/$1/";
  "~^(/(?:[^?]+/)?)\?page=([0-9]{{2,}}|[2-9])" "$1page/$2/";
}}
"""


class CannotCopy(Exception):
    """The message says why, for operators."""


class _Part(NamedTuple):
    """A page of articles, or of comments: of each its article, its address, and its HTML."""

    articles: Sequence[Article]
    comments: Sequence[tuple[Comment, Article, str, Markup]]
    has_next: bool


def write_static(
    folder: Path, repo: Repository, closed_on: date, language: str, reach: Callable[[int], object]
) -> int:
    """Fill an empty folder with the copy; return how many files it has. Raises CannotCopy, OSError.

    `reach` receives how many articles have their pages.
    """
    if not settings.SITE_URL:
        raise CannotCopy("Set SITE_URL to the address of the copy, which its feeds and its sitemap contain.")
    try:
        static(_STYLES[0])
    except ValueError:
        raise CannotCopy("Start the site once: this prepares its style sheets.") from None
    with override(language or chosen.language), without_groups(choices.closed_groups()):
        copy = StaticCopy(folder, repo, closed_on, reach)
        copy.write()
    return copy.files


class StaticCopy:
    """A copy that is being written into an empty folder, as readers without an account see the site."""

    def __init__(self, folder: Path, repo: Repository, closed_on: date, reach: Callable[[int], object]) -> None:
        self.files, self.closed_on = 0, date_format(closed_on, "DATE_FORMAT")
        self._folder, self._repo, self._reach, self._titles = folder, repo, reach, group_titles()
        members = User.objects.filter(left_at=None).order_by("pk").iterator(_BATCH)
        self._names = {
            one.canonical_name: one.username for one in members if any(repo.members.count_posted(one.pk))
        }
        """Those who wrote something, if only what was removed: they have pages."""
        self._poster_of = lru_cache(len(self._names) + 2)(poster_of)  # otherwise a process keeps few of them
        self._months = defaultdict[tuple[int, int], list[tuple[float, ArticleId]]](list)
        self._feeds = list[str]()
        self._moved = dict[str, str]()
        """Where articles and comments are whose addresses do not tell it: merged ones, and later pages."""

    def write(self) -> None:
        self._write_articles()
        self._write_lists()
        self._write_members()
        self._write_archive()
        self._write_texts()
        self._write_for_programs()

    # Files and what pages share

    def _put(self, address: str, content: bytes) -> None:
        """Write the file that answers at an address, in the folder. No two addresses have the same one."""
        parts = [unquote(part) for part in address.removeprefix("/").split("/")]
        parts[-1] = parts[-1] or "index.html"
        if any(part in ("", ".", "..") or not {"/", "\\", "\0"}.isdisjoint(part) for part in parts):
            raise CannotCopy(f"{address} cannot be the name of a file.")
        file = self._folder.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with file.open("xb") as written:
                written.write(content)
        except FileExistsError:
            raise CannotCopy(f"{address} has the file of another address, but for capitals.") from None
        self.files += 1

    def _draw(self, address: str, template: str, **values: Any) -> None:
        page = _template(template).render(_NOTHING | values, copy=self, here=address)
        self._put(address, page.encode())

    @cached_property
    def styles(self) -> list[str]:
        """The addresses of the style sheets."""
        accent = chosen.SITE_ACCENT
        own = [path_of("articles:accent", accent[1:])] if accent != colours.DEFAULT else []
        return [*map(static, _STYLES), *own]

    @cached_property
    def menu(self) -> list[tuple[str, str]]:
        orders = [order for order in PAGES if order is not Order.POINTS]
        groups = [(path_of("articles:groups"), _("Groups"))] if self._titles else []
        lists = [(path_of(f"articles:{PAGES[order]}"), list_heading(order)) for order in orders]
        return [*lists, *groups, ("/archive/", _("Archive"))]

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The footer's links, to what the operator wrote."""
        about, written = path_of("articles:about"), written_texts()
        found = [(about, _("About this site"))] if written & {"about", "privacy", "imprint", "contact"} else []
        found += [(path_of("articles:rules"), _("Rules"))] if "rules" in written else []
        found += [(f"{about}#imprint", _("Imprint"))] if "imprint" in written else []
        return found + ([(f"{about}#contact", _("Contact points"))] if "contact" in written else [])

    def _own(self, html: object) -> Markup:
        """Return safe HTML whose links to the site lead to what the copy has; others become text."""
        text = str(html)
        if '<a href="/' in text:
            text = _OWN_LINK.sub(self._link, text)
        return Markup(text)  # nosec B704 # noqa: S704 - the site's own HTML

    def _link(self, match: re.Match[str]) -> str:
        address, label = match[1].partition("#")[0], match[2]
        if address.startswith("/users/"):
            name = self._names.get(canonical(unquote(address.removeprefix("/users/").removesuffix("/"))), "")
            return match[0].replace(match[1], path_of("articles:profile", name)) if name else label
        return match[0] if address in dict((*self.menu, *self.texts)) or self._has(address) else label

    def _has(self, path: str) -> bool:
        """Return whether a file answers at a path."""
        return (self._folder / unquote(path[1:]) / ("index.html" if path.endswith("/") else "")).is_file()

    def _site_text(self, name: str) -> Markup:
        """Return what the operator wrote; "" for nothing."""
        text = site_text(name) if name in written_texts() else None
        return self._own(html_of_site_text(text.text)) if text else Markup()

    # Articles

    def _write_articles(self) -> None:
        last = self._repo.changes.get_last_id()
        for first in range(1, last + 1, _BATCH):
            ids = range(first, min(first + _BATCH, last + 1))
            listed = self._repo.changes.read_rows(ids, None, with_texts=True)
            comments = self._comments_on(list(listed))
            for article in listed.values():
                at = moment(article.posted_at)
                self._months[at.year, at.month].append((article.posted_at, article.id))
                self._write_article(article, comments[article.id])
            for article in self._repo.articles.get_many([one for one in ids if one not in listed]):
                self._draw_article(path_of("articles:article", article.id), article, (), None)
            self._reach(first + len(ids) - 1)

    def _comments_on(self, ids: Sequence[ArticleId]) -> dict[ArticleId, list[Comment]]:
        numbers, found = self._repo.changes.list_comments_on(ids), defaultdict[ArticleId, list[Comment]](list)
        for first in range(0, len(numbers), _COMMENTS_READ):
            part = numbers[first : first + _COMMENTS_READ]
            for one in self._repo.changes.read_comments(part, with_html=True, with_removed=True):
                found[one.article].append(one)
        return found

    def _write_article(self, article: Article, comments: list[Comment]) -> None:
        """Write an article's page, and further ones of a long discussion; merged articles are on the first."""
        address, thread, merged = path_of("articles:article", article.id), _in_order(comments), list[object]()
        parts = [thread[at : at + COMMENTS_PER_PAGE] for at in range(0, len(thread), COMMENTS_PER_PAGE)] or [[]]
        places = [address, *(f"{address}comments/{number}/" for number in range(2, len(parts) + 1))]
        for place, part in zip(places[1:], parts[1:], strict=True):
            self._note_moved(part, place)
        for other, _part in self._repo.merges.list_merged(article, CommentOrder.BEST, None):
            own = _in_order(self._comments_on([other.id])[other.id])
            self._note_moved(own, address)
            self._moved[path_of("articles:article", other.id)] = f"{address}#merged-{other.id}"
            merged.append((other, self._own(other.html), self._thread(own, other)))
        for number, (place, part) in enumerate(zip(places, parts, strict=True), 1):
            discussions = [(article, "", self._thread(part, article)), *(merged if number == 1 else ())]
            pager = _pager(number, lambda n: places[n - 1], has_next=number < len(parts))
            self._draw_article(place, article, discussions, pager)

    def _note_moved(self, comments: Iterable[Comment], place: str) -> None:
        self._moved |= {path_of("articles:comment", one.id): f"{place}#comment-{one.id}" for one in comments}

    def _draw_article(
        self, place: str, article: Article, discussions: Sequence[object], pager: Pager | None
    ) -> None:
        html = self._own(article.html) if article.removed is None else ""
        self._draw(
            place, "article", title=article.title, article=article, html=html, groups=self._groups(article),
            points=_points(article, article.ranked_points), count=comments_label(article.comments),
            discussions=discussions, pager=pager,
        )  # fmt: skip

    def _groups(self, article: Article, *, is_in_row: bool = False) -> Markup:
        titles = map(self._titles.get, article.groups, article.groups)
        return groups_of(article.groups, titles, is_in_row=is_in_row)

    def _thread(self, part: Sequence[Comment], article: Article) -> Markup:
        """Return comments with their replies in them; one that replies to another page is at the top level."""
        levels, drawn = dict[CommentId | None, int](), defaultdict[int, list[Markup]](list)
        for one in part:
            levels[one.id] = min(levels[one.parent] + 1, DEEPEST_SHOWN) if one.parent in levels else 0
        for one in reversed(part):
            level, above = levels[one.id], levels.get(one.parent)
            has_parent = one.parent is not None and (above is None or above == level)  # its place does not show it
            replies = Markup("").join(reversed(drawn.pop(level + 1, [])))
            drawn[level].append(self._comment(one, article, replies, has_parent=has_parent))
        return Markup("").join(reversed(drawn[0]))

    def _comment(self, one: Comment, article: Article, replies: Markup, *, has_parent: bool) -> Markup:
        holes = {
            "id": one.id,
            "author": self._poster_of(one.author_name, is_deleted=one.is_deleted or one.by_deleted_member),
            "name": one.author_name or _("[deleted]"),
            "posted": _day(one.posted_at),
            "edited": "" if one.edited_at is None else _day(one.edited_at),
            "parent": self._address_of(one.parent) if has_parent and one.parent is not None else "",
            "points": _points(one, one.points),
            "html": self._own(one.html) if one.is_shown else "",
            "removed": one.removed,
            "replies": replies,
        }
        is_by_poster, is_edited = one.author == article.poster != DELETED_MEMBER, one.edited_at is not None
        return piece(
            "static_copy/comment.html", holes, is_shown=one.is_shown, is_deleted=one.is_deleted,
            is_edited=is_edited, is_by_poster=is_by_poster, has_parent=has_parent, has_replies=bool(replies),
        )  # fmt: skip

    def _address_of(self, one: CommentId) -> str:
        plain = f"{path_of('articles:article', article_of(one))}#comment-{one}"
        return self._moved.get(path_of("articles:comment", one), plain)

    # Lists

    def _write_lists(self) -> None:
        now = self._repo.store.now()
        for order, name in PAGES.items():
            base = path_of(f"articles:{name}")
            for word, period in PERIODS.get(order, {"": Period.ALL}).items():
                since, of_points = (period.since(now), Period.ALL) if order is Order.HOT else (None, period)
                self._write_list(
                    base if word in ("", _USUAL.get(base)) else f"{base}{word}/",
                    partial(self._repo.lists.get_page, order, since=since, period=of_points),
                    list_heading(order, period=period),
                    tabs=_plain(period_tabs(order, period), base),
                    feed=("top_feed", period.value) if order is Order.POINTS else ("feed", name),
                    text=self._site_text("welcome") if order is Order.SCORE else "",
                )
        groups = sorted(self._repo.groups.list_all(with_descriptions=True), key=lambda group: group.sort_key)
        for group in groups:
            base, text = path_of("articles:group", group.slug), self._own(html_of_site_text(group.description))
            for order in _GROUP_ORDERS:
                place, tabs = base if order is Order.SCORE else f"{base}{order}/", _plain(order_tabs(order), base)
                read, feed = partial(self._repo.lists.get_page, order, slug=group.slug), ("group_feed", group.slug)
                self._write_list(place, read, group.title, tabs=tabs, feed=feed, text=text, group=group)
        self._draw(path_of("articles:groups"), "groups", title=_("Groups"), groups=groups)

    def _write_list(self, base: str, read: Callable[[int], Any], heading: str, **values: Any) -> None:
        """Write the pages of a list, as many as the site has. `read` returns one by its number."""
        if feed := values.get("feed"):
            self._feeds += (path_of(f"articles:{feed[0]}", feed[1], kind) for kind in FORMATS)
        for number, page, has_next in _pages(read):
            first = getattr(page, "first_rank", None)
            ranks = map(grouped, count(first)) if first else repeat("")
            rows = Markup("").join(map(self._row, page.articles, ranks))
            pager, title = _pager(number, partial(_place, base), has_next=has_next), page_title(heading, number)
            shown = {"title": title, "heading": heading, "page": page, "rows": rows, "pager": pager}
            self._draw(_place(base, number), "list", **shown | values)

    def _row(self, article: Article, rank: str) -> Markup:
        holes = {
            "id": article.id,
            "rank": rank,
            "points": _points(article, article.ranked_points),
            "link": article.link,
            "title": article.title,
            "host": home_of(article.link) if article.link else "",
            "poster": self._poster_of(article.poster_name, is_deleted=article.by_deleted_member, is_in_row=True),
            "posted": _day(article.posted_at),
            "groups": self._groups(article, is_in_row=True),
            "comments": comments_label(article.comments),
        }
        return piece("static_copy/row.html", holes, has_link=bool(article.link))

    def _write_members(self) -> None:
        for canonical_name in self._names:
            member = User.objects.get(canonical_name=canonical_name)
            name, points = member.username, self._repo.members.get_points(member.pk)
            base, comments = path_of("articles:profile", name), path_of("articles:member_comments", name)
            links = Tab(pgettext("articles", "Posted"), base), Tab(pgettext("of a member", "Comments"), comments)
            about = self._own(html_of(member.about)) if member.about and not is_about_withheld(member) else ""
            tabs = Tabs(_("By %(name)s") % {"name": name}, links)
            values = {"member": member, "points": points, "text": about, "tabs": tabs}
            self._write_list(base, partial(self._repo.members.get_posted, member.pk), name, **values)
            self._write_list(comments, partial(self._comments_by, member.pk), name, **values)

    def _comments_by(self, member: int, number: int) -> _Part:
        latest, has_next = self._repo.comments.get_page_by(member, number)
        articles = {one.id: one for one in self._repo.articles.get_many(sorted({one.article for one in latest}))}
        found = [(one, articles[one.article]) for one in latest if one.is_shown and one.article in articles]
        shown = [
            (one, on, self._address_of(one.id), self._own(one.html)) for one, on in found if not on.is_withheld
        ]
        return _Part((), shown, has_next)

    def _write_archive(self) -> None:
        """Write a list of each month, whose pages the first page all names: an article is three clicks away."""
        years = defaultdict[int, list[object]](list)
        for (year, month), posted in sorted(self._months.items(), reverse=True):
            base, name = f"/archive/{year}/{month:02}/", date_format(date(year, month, 1), "YEAR_MONTH_FORMAT")
            ids = [number for _at, number in sorted(posted, reverse=True)]
            self._write_list(base, partial(self._of_month, ids), name)
            pages = range(1, -(-len(ids) // MONTH_PAGE) + 1)
            years[year].append((name, len(ids), [(number, _place(base, number)) for number in pages]))
        self._draw("/archive/", "archive", title=_("Archive"), years=years.items())

    def _of_month(self, ids: Sequence[ArticleId], number: int) -> _Part:
        end = number * MONTH_PAGE
        return _Part(self._repo.articles.get_many(ids[end - MONTH_PAGE : end]), (), end < len(ids))

    # Texts, and what is for programs

    def _write_texts(self) -> None:
        headed = (("about", ""), ("privacy", ""), ("contact", _("Contact points")), ("imprint", _("Imprint")))
        if parts := [(heading, name, text) for name, heading in headed if (text := self._site_text(name))]:
            self._draw(path_of("articles:about"), "text", title=_("About this site"), parts=parts)
        if rules := self._site_text("rules"):
            self._draw(path_of("articles:rules"), "text", title=_("Rules"), parts=[("", "", rules)])
        unknown = _("The address may be wrong, or the page no longer exists.")
        comment = _(
            "A comment such as /comments/12000034/ is at /articles/12/#comment-12000034 now: without its last six "
            "digits, its number is that of the article."
        )
        missing = Markup("<p>{}</p><p>{}</p>").format(unknown, comment)
        self._draw("/404.html", "text", title=_("Page not found"), parts=[("", "", missing)])

    def _write_for_programs(self) -> None:
        for path in map(static, _FILES):
            self._put(path, Path(settings.STATIC_ROOT, path.removeprefix(settings.STATIC_URL)).read_bytes())
        if chosen.SITE_ACCENT != colours.DEFAULT:
            self._put(self.styles[-1], colours.style_sheet(chosen.SITE_ACCENT).encode())
        invited, here = _("Vote on it, and see why it ranks where it does"), _("Read the comments")
        for path in dict.fromkeys((*self._feeds, *(path_of("articles:comments_feed", kind) for kind in FORMATS))):
            self._put(path, _answer_at(path).replace(invited.encode(), here.encode()))
        parts = range(1, -(-self._repo.changes.get_last_id() // PART) + 1)
        paths = [path_of("articles:sitemap_articles", number) for number in parts]
        for path in paths:
            self._put(path, _answer_at(path))
        site = settings.SITE_URL.rstrip("/")
        listed = "".join(f"\n<sitemap><loc>{site}{path}</loc></sitemap>" for path in paths)
        self._put("/sitemap.xml", _SITEMAP.format(listed).encode())
        self._put("/robots.txt", _ROBOTS.format(site).encode())
        lines = nginx_map(Source.objects.order_by("pk"))
        known = [one for one in lines if not (found := _OLD.fullmatch(one)) or self._has(_page_of(found))]
        moved = _MAP.format("\n  ".join(f'"{old}" "{new}";' for old, new in self._moved.items()))
        self._put("/nginx.conf", "\n".join([*known, moved]).encode())


def _page_of(found: re.Match[str]) -> str:
    return found[2] or f"/articles/{found[1]}/"


def _best(one: Comment) -> tuple[float, float, CommentId]:
    """Return the place of a comment among the best, as `best_place` of the scripts; then the oldest is first."""
    votes, opposes = max(0, one.votes - one.left_out.votes), max(0, one.opposes - one.left_out.opposes)
    return (-lower_bound(votes, opposes) if votes else opposes), one.posted_at, one.id


def _in_order(comments: Iterable[Comment]) -> list[Comment]:
    """Return comments, each followed by its replies, the best first."""
    below, found = defaultdict[CommentId | None, list[Comment]](list), list[Comment]()
    for one in sorted(comments, key=_best, reverse=True):
        below[one.parent].append(one)
    waiting = below[None]
    while waiting:
        found.append(one := waiting.pop())
        waiting += below[one.id]
    return found


def _pages(read: Callable[[int], Any]) -> Iterator[tuple[int, Any, bool]]:
    """Yield the pages of a list, each with its number and whether another follows, even if articles go."""
    number, page = 1, read(1)
    while page is not None:
        following = None
        if page.has_next:
            with suppress(PageNotFound):
                following = read(number + 1)
        yield number, page, following is not None
        number, page = number + 1, following


def _place(base: str, number: int) -> str:
    return base if number == 1 else f"{base}page/{number}/"


def _pager(number: int, place: Callable[[int], str], *, has_next: bool) -> Pager | None:
    pager = numbered_pager(number, has_next=has_next)
    earlier, later = place(number - 1) if number > 1 else "", place(number + 1) if has_next else ""
    return pager._replace(previous=earlier, next=later) if pager else None


def _plain(tabs: Tabs | None, base: str) -> Tabs | None:
    """Return tabs that lead to what the copy has, at addresses without a query."""
    links = []
    for tab in tabs.links if tabs else ():
        path, _mark, query = tab.address.partition("?")
        word, path = query.partition("=")[2], path or base
        is_usual = word in ("", _USUAL.get(path, Order.SCORE))
        if not query.startswith("order=") or word in _GROUP_ORDERS:
            links.append(tab._replace(address=tab.address and (path if is_usual else f"{path}{word}/")))
    return tabs._replace(links=tuple(links)) if tabs else None


def _points(one: Article | Comment, ranked: int) -> Markup:
    counts = {"votes": one.votes, "opposes": one.opposes}
    return piece("votes/points.html", {}, **counts, is_open=False, ranked=ranked_note(one.points, ranked))


def _day(at: float) -> Markup:
    """Return the day of a moment, in full in its title: an age would be wrong tomorrow."""
    return time_of(at, _day_of(moment(at).date(), get_language()))


@lru_cache(4_096)
def _day_of(day: date, _language: str | None) -> str:
    return date_format(day, "DATE_FORMAT")


def _answer_at(path: str) -> bytes:
    """Return what the site answers a program at an address."""
    request, match = HttpRequest(), resolve(path)
    request.method, request.path, request.path_info = "GET", path, path
    answer: bytes = match.func(request, *match.args, **match.kwargs).content
    return answer


@cache
def _template(name: str) -> Any:
    return engines["jinja2"].env.get_template(f"static_copy/{name}.html")  # type: ignore[attr-defined]

"""The view model of the page of a list. It decides everything; `templates/lists/list.html` renders it."""

from dataclasses import dataclass, replace
from urllib.parse import quote

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.domain.lists import PAGES, ArticlePage, Order, Period
from articles.formatting.values import grouped
from articles.views.lists import headings
from articles.views.lists.paging import Pager


@dataclass(frozen=True, slots=True)
class GroupTools:
    """The reader's actions on the group of a list. `manage_address` is empty without the permission."""

    slug: str
    is_hidden: bool
    manage_address: str = ""
    is_followed: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """The top of the page."""

    heading: str
    count: str = ""
    updated_at: float | None = None
    """When the hot list of the group or groups was scored, in Unix seconds."""

    tabs: headings.Tabs | None = None
    group: GroupTools | None = None


@dataclass(frozen=True, slots=True)
class ListFeed:
    """The feed of a list: the name of its address, its argument, and the groups that it never hides."""

    name: str
    argument: str
    groups: tuple[str, ...] = ()
    label: str = ""
    """Label of the links below the list, where the feed differs from the list."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """Data of the list for static/js/refresh.js."""

    query: str
    """Parameters sent with the ids of the articles; where new ones are announced, with `since`, too."""

    newest: str = ""
    """Address of the list that shows new articles; "" for pages on which they are not announced."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list as a reader sees it."""

    title: str
    head: Head
    first_rank: int
    feed: ListFeed
    refresh: Refresh
    shows_last_comments: bool
    """Whether its rows say when the last comment was posted."""

    has_comment_feed: bool
    """Whether it links to the feed of all new comments."""

    empty: headings.Empty | None
    updated_at: float | None
    """When the site's hot list was scored, in Unix seconds; shown below the articles."""

    pager: Pager | None
    hidden_groups: tuple[str, ...] = ()
    """Slugs of all groups that the reader hides."""

    description: str = ""
    """Description of the list's only group, in Markdown; "" without one."""

    is_front: bool = False
    """Whether it begins with the site's welcome, for readers without an account."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of the list."""

    is_member: bool = False
    hidden_groups: tuple[str, ...] = ()
    hides: bool = False
    """Whether the reader's choices leave anything out of this list."""

    followed_groups: tuple[str, ...] = ()
    may_manage_groups: bool = False
    has_no_administrator: bool = False
    """Whether the site has no administrator yet; only looked up for an empty list of the site."""


def list_page(
    page: ArticlePage,
    reader: Reader,
    *,
    is_empty: bool = False,
    period: Period = Period.ALL,
    previous: str = "",
    next: str = "",
    description: str = "",
) -> ListPage:
    """Return what a page of a list shows around its articles, which are not read.

    `previous` and `next` are addresses or "".
    """
    return replace(_Builder(page, reader, period, is_empty).build(previous, next), description=description)


@dataclass(frozen=True, slots=True)
class _Builder:
    page: ArticlePage
    reader: Reader
    period: Period
    is_empty: bool

    def build(self, previous: str, next: str) -> ListPage:
        page, heading = self.page, self._heading
        is_site_hot = page.order is Order.HOT and not self._slugs
        return ListPage(
            title=headings.page_title(heading, page.number),
            head=self._head(),
            first_rank=page.first_rank,
            feed=self._feed(),
            refresh=self._refresh(),
            shows_last_comments=page.order is Order.ACTIVE,
            has_comment_feed=page.order is Order.ACTIVE and not self._slugs,
            empty=self._empty() if self.is_empty else None,
            updated_at=page.refreshed_at if is_site_hot and not self.is_empty else None,
            pager=self._pager(previous, next),
            hidden_groups=self.reader.hidden_groups,
            is_front=self.page.is_front,
        )

    def _empty(self) -> headings.Empty:
        return headings.empty_list(
            self.page,
            period=self.period,
            hides=self.reader.hides,
            may_post=self.reader.is_member,
            has_no_administrator=self.reader.has_no_administrator,
        )

    @property
    def _slugs(self) -> tuple[str, ...]:
        """The groups of the list, one or several."""
        if self.page.group:
            return (self.page.group.slug,)
        return tuple(group.slug for group in self.page.groups)

    @property
    def _heading(self) -> str:
        groups = (self.page.group,) if self.page.group else self.page.groups
        return headings.list_heading(self.page.order, period=self.period, groups=[group.title for group in groups])

    def _head(self) -> Head:
        page, is_hot = self.page, self.page.order is Order.HOT
        if self._slugs:
            return Head(
                self._heading,
                count=self._count(),
                updated_at=page.refreshed_at if is_hot else None,
                tabs=headings.order_tabs(page.order),
                group=self._group_tools(),
            )
        return Head(self._heading, tabs=headings.period_tabs(page.order, self.period))

    def _count(self) -> str:
        """Return the size of a group's list; "" for several groups, whose articles may be counted twice."""
        if not self.page.group:
            return ""
        if self.page.order is Order.HOT:
            text = ngettext("%(num)s article on the hot list", "%(num)s articles on the hot list", self.page.total)
        elif self.page.order is Order.ACTIVE:
            text = ngettext("%(num)s discussed article", "%(num)s discussed articles", self.page.total)
        else:
            text = ngettext("%(num)s article", "%(num)s articles", self.page.total)
        return text % {"num": grouped(self.page.total)}

    def _group_tools(self) -> GroupTools | None:
        if not self.page.group:
            return None
        slug = self.page.group.slug
        manage = reverse("articles:manage_group", args=[slug]) if self.reader.may_manage_groups else ""
        reader = self.reader
        return GroupTools(slug, slug in reader.hidden_groups, manage, slug in reader.followed_groups)

    def _feed(self) -> ListFeed:
        order = self.page.order
        if self._slugs:
            newest = _("Subscribe to the newest articles in %(group)s:") % {"group": self._heading}
            label = "" if order is Order.TIME else newest
            return ListFeed("group_feed", "+".join(self._slugs), self._slugs, label)
        if order is Order.POINTS:
            return ListFeed("top_feed", self.period)
        is_part = order is Order.HOT and self.period is not Period.ALL
        return ListFeed("feed", PAGES[order], label=_("Subscribe to the whole hot list:") if is_part else "")

    def _refresh(self) -> Refresh:
        query = f"order={self.page.order}"
        if self._slugs:
            query += f"&groups={quote(','.join(self._slugs))}"
        if self.page.number > 1 or self.page.order not in (Order.SCORE, Order.TIME):
            return Refresh(query)
        newest = reverse("articles:newest")
        if self._slugs:
            newest = f"{reverse('articles:group', args=['+'.join(self._slugs)])}?order=time"
        return Refresh(query, newest)

    def _pager(self, previous: str, next: str) -> Pager | None:
        page = self.page
        if not (previous or next):
            return None
        numbers = {"number": grouped(page.number), "pages": grouped(page.pages if next else page.number)}
        if next and (self.reader.hides or page.groups):
            text = _("Page %(number)s of up to %(pages)s")
        else:
            text = _("Page %(number)s of %(pages)s")
        return Pager(text % numbers, previous, next)

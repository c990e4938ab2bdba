"""The view model of the page of a list. It decides everything; `templates/lists/list.html` renders it."""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from articles.domain.lists import PAGES, ArticlePage, Order, Period
from articles.formatting.values import grouped
from articles.views.lists import headings
from articles.web.paging import Pager


class GroupTools(NamedTuple):
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
    updated_at: float | None = None  # when the hot list of the group or groups was scored, in Unix seconds
    tabs: headings.Tabs | None = None
    group: GroupTools | None = None


class ListFeed(NamedTuple):
    """The feed of a list: the name of its address, its argument, and the groups that it never hides."""

    name: str
    argument: str
    groups: tuple[str, ...] = ()
    label: str = ""  # label of the links below the list, where the feed differs from the list


class Refresh(NamedTuple):
    """Data of the list for static/js/refresh.js."""

    query: str  # parameters sent with the ids of the articles; where new ones are announced, with `since`, too
    newest: str = ""  # address of the list that shows new articles; "" for pages on which they are not announced


class Reader(NamedTuple):
    """The reader of the list."""

    may_post: bool = False
    hidden_groups: tuple[str, ...] = ()
    hides: bool = False  # whether the reader's choices leave anything out of this list
    followed_groups: tuple[str, ...] = ()
    may_manage_groups: bool = False
    has_no_administrator: bool = False
    """Whether the site has no administrator yet; only looked up for an empty list of the site."""


class ListPage(NamedTuple):
    """What a reader sees of a page of a list around its articles, which are not read."""

    page: ArticlePage
    reader: Reader
    is_empty: bool = False
    period: Period = Period.ALL
    previous: str = ""  # address of the page before; "" for none
    next: str = ""
    description: str = ""  # description of the list's only group, in Markdown; "" without one
    is_for_members: bool = False  # whether only members see one of its groups

    @property
    def title(self) -> str:
        return headings.page_title(self._heading, self.page.number)

    @property
    def updated_at(self) -> float | None:
        """When the site's hot list was scored, in Unix seconds; shown below the articles."""
        is_shown = self.page.order is Order.HOT and not self._slugs and not self.is_empty
        return self.page.refreshed_at if is_shown else None

    @property
    def has_comment_feed(self) -> bool:
        """Whether it links to the feed of all new comments."""
        return self.page.order is Order.ACTIVE and not self._slugs

    @property
    def empty(self) -> headings.Empty | None:
        """What it shows instead of articles, if there are none."""
        if not self.is_empty:
            return None
        return headings.empty_list(
            self.page,
            period=self.period,
            hides=self.reader.hides,
            may_post=self.reader.may_post,
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

    @property
    def head(self) -> Head:
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

    @property
    def feed(self) -> ListFeed:
        order = self.page.order
        if self._slugs:
            newest = _("Subscribe to the newest articles in %(group)s:") % {"group": self._heading}
            label = "" if order is Order.TIME else newest
            return ListFeed("group_feed", "+".join(self._slugs), self._slugs, label)
        if order is Order.POINTS:
            return ListFeed("top_feed", self.period)
        is_part = order is Order.HOT and self.period is not Period.ALL
        return ListFeed("feed", PAGES[order], label=_("Subscribe to the whole hot list:") if is_part else "")

    @property
    def refresh(self) -> Refresh:
        query = f"order={self.page.order}"
        if self._slugs:
            query += f"&groups={quote(','.join(self._slugs))}"
        if self.page.number > 1 or self.page.order not in (Order.SCORE, Order.TIME):
            return Refresh(query)
        newest = reverse("articles:newest")
        if self._slugs:
            newest = f"{reverse('articles:group', args=['+'.join(self._slugs)])}?order=time"
        return Refresh(query, newest)

    @property
    def pager(self) -> Pager | None:
        page, previous, next = self.page, self.previous, self.next
        if not (previous or next):
            return None
        numbers = {"number": grouped(page.number), "pages": grouped(page.pages if next else page.number)}
        if next and (self.reader.hides or page.groups):
            text = _("Page %(number)s of up to %(pages)s")
        else:
            text = _("Page %(number)s of %(pages)s")
        return Pager(text % numbers, previous, next)

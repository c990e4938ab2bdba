"""What runs of an extra: the class of its `apps.py`, and what the core asks of all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from django.apps import AppConfig, apps
from django.http.request import split_domain_port
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from articles.domain.extras import BadExtra, buttons, names, refuse_clashes, views
from articles.domain.limits import BY_NAME

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    from accounts.models import User
    from articles.domain.articles import Article
    from articles.domain.moderation_log import LogEntry
    from articles.domain.notices import Notice
    from articles.repository import Repository
    from articles.web.forms.articles import PostForm


class Step(NamedTuple):
    """A step of housekeeping. `work` does it for some seconds, and returns how much it did."""

    name: str
    work: "Callable[[Repository, float], int]"
    noun: str
    done: str
    """As in "1 delivery queued"."""

    is_routine: bool = False
    """Whether it is logged only at the level DEBUG."""

    is_awaited: Callable[[], bool] | None = None
    """Of a step that also runs between rounds: whether someone waits for it. At most one query."""


class Entry(NamedTuple):
    """A link in a bar of the core."""

    bar: str
    """One of `BARS`."""

    address: str
    """The name of its address."""

    label: Any
    is_shown: Callable[[], bool]
    about: Any = ""
    """What is there, in a bar that says it."""

    name: str = ""
    """Of a page of the settings: its `section`, and in the list of them its anchor."""

    permission: str = ""
    """Of a page for moderators: the permission that a reader needs to see the link."""


BARS = ("administration", "moderation", "settings", "programs", "footer")
"""Bars of the core: of administrators, of moderators, of a member's settings, "Programs" there, a page's end."""


class Link(NamedTuple):
    """A link beside something of the core, at one of `PLACES`."""

    path: str
    label: str


PLACES = ("article.foot", "article.menu", "notice.foot")
"""Where links can be: below an `Article`, in its menu, below a `Notice` of an inbox or a mail."""


class Answer(NamedTuple):
    """How a member answers a mail about a notice."""

    address: str
    """Of a mail about this notice alone: its `Reply-To`."""

    link: Link
    """Beside those to read and reply on the site."""

    first_line: str
    """Of a mail about this notice alone: nothing comes before it."""


class FormPart(NamedTuple):
    """What an extra adds to a form of the core, as HTML."""

    head: str
    button: str
    below: str
    """Below the buttons: what comes late must not move them."""

    is_asked: bool
    """Whether its button was pressed: the form is shown again instead of being processed."""


class Button(NamedTuple):
    """A form with one button: what it sends, and where."""

    path: str
    label: str
    name: str
    value: str


class Extra(AppConfig):
    """An extra. Its folder's name is the label of the app. It connects receivers of signals in `ready`."""

    default = False

    def __init_subclass__(cls) -> None:
        cls.default = True  # of the two classes that `apps.py` has, Django takes this one

    def addresses(self) -> Mapping[str, str]:
        """Return modules of addresses with an own namespace, by how these begin; "" comes after the core's."""
        return {}

    def prepare(self, repository: "Repository") -> str:
        """Do at each start what the site needs before it serves; return a sentence for the operator, or "".

        Can be interrupted: the next start completes it.
        """
        return ""

    def steps(self) -> Sequence[Step]:
        """Return the steps of housekeeping, which run before its tasks."""
        return ()

    def entries(self) -> Sequence[Entry]:
        return ()

    def draw(self, place: str, request: "HttpRequest", **facts: Any) -> str:
        """Return HTML for a place of a page that is not kept, by what that knows.

        `inbox` and `programs`: below their entries. Pages about signing in, below their own ways: `security`, and
        with the `intent` of the login `login`, `sign_up` and `confirm`; above: `login.head` and `sign_up.head`.
        `password_reset`: below its form. `newcomer`: for a person from elsewhere who has no account, with `intent`
        and the verified `address` or "". `member` and `moderation`: pages of and about a `member`.
        `held`: where a post of a `member` comes from that waits for approval, and that no rule holds any longer.
        """
        return ""

    def links(self, place: str, request: "HttpRequest | None", thing: Any) -> Sequence[Link]:
        """Return the links at a place, such as those for an article. No request: of a mail.

        A reader without an account sees those that depend on the thing alone. At most one round trip.
        """
        return ()

    def extend_post_form(self, request: "HttpRequest", form: "PostForm") -> FormPart | None:
        """Return what is added to the form by which articles are posted; it can change the form."""
        return None

    def look_up(self, request: "HttpRequest", link: str) -> Mapping[str, str]:
        """Return what is known of the page of a link, such as its `title` and `description`; never wait for it.

        Raises InvalidInput, Banned, LimitReached.
        """
        return {}

    def answer(self, member: "User", notice: "Notice") -> Answer | None:
        """Return how a member answers a mail about a notice, in their language; None if there is no way."""
        return None

    def answer_for_host(self, request: "HttpRequest", host: str) -> "HttpResponse | None":
        """Answer a request for a host of `Rows.hosts` before the core reads it; None for other hosts."""
        return None

    def find_unknown(self, request: "HttpRequest") -> "HttpResponse | str":
        """Answer a GET or HEAD to which the core answers 404, or return a sentence for its page, or "".

        At most one query, unless it has found an answer.
        """
        return ""

    def sitemaps(self) -> Sequence[str]:
        """Return paths of further sitemaps, which robots.txt names."""
        return ()

    def log_buttons(
        self,
        request: "HttpRequest",
        article: "Article",
        entries: "Sequence[LogEntry]",
    ) -> Mapping[float, Button]:
        """Return buttons below entries of an article's log, by their times."""
        return {}

    def export(self, member: "User", repository: "Repository") -> "Mapping[str, Iterable[Mapping[str, Any]]]":
        """Return what a member's copy of their data has from here, by name."""
        return {}


def installed() -> tuple[Extra, ...]:
    """Return the app of each extra. Django has to be ready."""
    return tuple(one for one in apps.get_app_configs() if isinstance(one, Extra))


def prepared(repository: "Repository") -> Iterator[str]:
    """Let each extra prepare its part of the site; yield what the operator is to know."""
    return filter(None, (extra.prepare(repository) for extra in installed()))


def steps() -> Iterator[Step]:
    for extra in installed():
        yield from extra.steps()


def entries_of(bar: str) -> list[Entry]:
    """Return the links that a bar shows now."""
    return [entry for extra in installed() for entry in extra.entries() if entry.bar == bar and entry.is_shown()]


def drawn(place: str, request: "HttpRequest", **facts: Any) -> SafeString:
    """Return what extras draw at a place of a page. What is not marked as safe is escaped."""
    return format_html_join("", "{}", ((extra.draw(place, request, **facts),) for extra in installed()))


def links(place: str, request: "HttpRequest | None", thing: Any) -> list[Link]:
    """Return the links of all extras at a place."""
    return [link for extra in installed() for link in extra.links(place, request, thing)]


def post_form_parts(request: "HttpRequest", form: "PostForm") -> list[FormPart]:
    """Return what extras add to the form by which articles are posted."""
    return list(filter(None, (extra.extend_post_form(request, form) for extra in installed())))


def look_up(request: "HttpRequest", link: str) -> dict[str, str]:
    """Return what extras know of the page of a link, such as its `title`. Raises as `Extra.look_up`."""
    return {name: text for extra in installed() for name, text in extra.look_up(request, link).items()}


def answer(member: "User", notice: "Notice") -> Answer | None:
    """Return how a member answers a mail about a notice: the first way that an extra has."""
    return next(filter(None, (extra.answer(member, notice) for extra in installed())), None)


def answer_for_host(request: "HttpRequest") -> "HttpResponse | None":
    """Answer a request for a host of an extra; None if it is for the site itself."""
    host = split_domain_port(request.META.get("HTTP_HOST", ""))[0]
    return next(filter(None, (extra.answer_for_host(request, host) for extra in installed())), None)


def find_unknown(request: "HttpRequest") -> "HttpResponse | str":
    """Return what extras answer instead of 404, or a sentence for its page, or ""."""
    found: HttpResponse | str = ""
    for extra in installed():
        found = found or extra.find_unknown(request)
    return found


def sitemaps() -> list[str]:
    return [path for extra in installed() for path in extra.sitemaps()]


def log_buttons(request: "HttpRequest", article: "Article", entries: "Sequence[LogEntry]") -> dict[float, Button]:
    """Return the buttons of all extras below entries of an article's log, by their times."""
    found = (extra.log_buttons(request, article, entries) for extra in installed())
    return {at: button for buttons in found for at, button in buttons.items()}


def export(member: "User", repository: "Repository") -> dict[str, Iterable[Mapping[str, Any]]]:
    """Return what a member's copy of their data has from all extras, by name."""
    return {name: rows for extra in installed() for name, rows in extra.export(member, repository).items()}


def addresses() -> list[tuple[str, str]]:
    """Return the addresses with namespaces, as beginning and module. Raises BadExtra for one that two have."""
    rows = {extra.label: [*extra.addresses().items()] for extra in installed()}
    claims = {f"extras/{name}": [place for place, _ in own if place] for name, own in rows.items()}
    refuse_clashes("address", claims)
    return [row for own in rows.values() for row in own]


def urlpatterns(core: "Sequence[URLPattern]") -> "list[URLPattern]":
    """Return the addresses of pages, which are in the core's namespace `articles`. Each start reads them.

    Raises BadExtra for one that the core or another extra has, for a link in a bar that is not there, and for
    rows of views and limits that are not there.
    """
    pages = {name: f"extras.{name}.pages" for name in names()}
    own = {f"extras/{name}": import_module(page).urlpatterns for name, page in pages.items() if find_spec(page)}
    rows = {"the core": core, **own}.items()
    claims = {
        owner: [text for one in ones for text in (one.name, f"/{one.pattern}") if text] for owner, ones in rows
    }
    refuse_clashes("address", claims)
    for extra in installed():
        for entry in extra.entries():
            if entry.bar not in BARS:
                raise BadExtra(
                    f"{extra.name} has a link in the bar {entry.bar!r}; the bars are {', '.join(BARS)}."
                )
    in_core = {f"articles:{one.name}" for one in core}
    for name in names():
        here = {f"articles:{one.name}" for one in own.get(f"extras/{name}", ())}
        of_core = [(button.view, in_core, button.limits) for button in buttons(name)]
        of_views = [(view.name, here, (*(view.limits or ()), *view.limits_of_reading)) for view in views(name)]
        for view, known, limits in (*of_core, *of_views):
            if view.startswith("articles:") and view not in known:
                raise BadExtra(f"extras/{name} has a row of the view {view}, but no address of that name.")
            if wrong := {*limits} - BY_NAME.keys():
                raise BadExtra(f"extras/{name}: there is no limit {', '.join(wrong)}, which {view} has.")
    return [one for ones in own.values() for one in ones]

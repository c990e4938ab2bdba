"""Who may do what: every moderating act, on pages and in the API, by every kind of reader.

A new address of moderators fails here until it has a row.
"""

import pytest
from django.utils import timezone

from accounts.models import Ban, BanScope, GroupModerator, User
from accounts.models.tokens import MODERATE
from articles.api.protocol.operations import BearerToken, router
from tests import extras
from tests.caller import Caller, with_token
from tests.factories import browser_of, comment_on, member
from tests.routes import routes_of_pages
from tests.source import modules
from tests.store_state import written

pytestmark = pytest.mark.deep

ADMIN = {"administrator"}
SITE = ADMIN | {"moderator"}
GROUP = SITE | {"moderator of this group"}
ANY = GROUP | {"moderator of another group"}  # who may: a page for `ANY` shows each what they can decide
KINDS = ("reader", "member", "moderator of another group", "moderator of this group", "moderator", "administrator")

WHY = {"reason": "Because"}
ARTICLE, COMMENT = "/articles/<article_id:article_id>/", "/comments/<comment_id:comment_id>/"
MEMBER, OF_GROUP = "/users/<str:name>/moderation/", "/moderation/groups/<str:slug>/"
FLAGGED = {"subject": "1000001", "seen": "9999999999", "decision": "keep", "reason": ""}

PAGES = {
    ARTICLE + "groups/": (GROUP, {"groups": ["python"], **WHY}),
    ARTICLE + "remove/": (GROUP, WHY),
    ARTICLE + "restore/": (GROUP, WHY),
    ARTICLE + "lock/": (GROUP, WHY),
    ARTICLE + "unlock/": (GROUP, WHY),
    COMMENT + "remove/": (GROUP, WHY),
    COMMENT + "restore/": (GROUP, WHY),
    ARTICLE + "merge/": (SITE, {"into": "999", **WHY}),
    ARTICLE + "merge/undo/": (SITE, {}),
    ARTICLE + "redact/": (SITE, {"texts": [], **WHY}),
    ARTICLE + "ring/": (SITE, WHY),
    ARTICLE + "edit/": (SITE, {"title": "Another", "link": "https://example.org/a", **WHY}),
    ARTICLE + "views/": (SITE, None),
    "/moderation/queue/": (ANY, None),
    "/moderation/queue/decide/": (GROUP, FLAGGED),
    "/moderation/queue/appeals/<int:ban_id>/": (GROUP, {"decision": "keep", "answer": "No"}),
    "/moderation/removed/": (ANY, None),
    "/moderation/removed/comments/": (ANY, None),
    "/moderation/views/": (SITE, None),
    **{path: (SITE, form) for paths in extras.all_of("OF_MODERATORS") for path, form in paths.items()},
    "/operation/": (ADMIN, None),
    "/operation/failed-tasks/": (ADMIN, {}),
    "/moderation/groups/": (SITE, {"title": "New"}),
    OF_GROUP: (GROUP, {"description": "About it", "reason": "Because"}),
    OF_GROUP + "moderators/": (SITE, {"name": "bob", **WHY}),
    OF_GROUP + "moderators/end/": (SITE, {"name": "bob", **WHY}),
    OF_GROUP + "bans/": (GROUP, {"name": "mallory", "days": "7", **WHY}),
    OF_GROUP + "bans/<int:ban_id>/lift/": (GROUP, WHY),
    "/moderation/hosts/": (SITE, {"host": "spam.example", **WHY}),
    "/moderation/hosts/unblock/": (SITE, {"host": "spam.example", **WHY}),
    "/moderation/rules/": (SITE, None),
    "/moderation/rules/new/": (SITE, {}),
    "/moderation/rules/<int:rule_id>/": (SITE, {}),
    "/moderation/rules/<int:rule_id>/edit/": (SITE, {}),
    "/moderation/queue/held/<int:held_id>/": (SITE, {"decision": "approve"}),
    "/moderation/queue/statements/<int:statement_id>/": (SITE, {"decision": "keep", "answer": "It stays."}),
    "/moderation/queue/notices/<int:notice_id>/": (SITE, {"decision": "kept", "answer": "It stays."}),
    "/moderation/members/": (SITE, None),
    "/moderation/members/decide/": (SITE, {}),
    "/moderation/log/<str:moment>/redact/": (SITE, None),
    "/moderation/rings/": (SITE, None),
    "/invitations/": (SITE, None),
    "/invitations/<str:name>/": (SITE, None),
    "/users/<str:name>/about/": (SITE, None),
    MEMBER: (SITE, {"scope": "voting", "days": "7", **WHY}),
    MEMBER + "bans/<int:ban_id>/lift/": (SITE, WHY),
    MEMBER + "votes/": (SITE, WHY),
    MEMBER + "votes/count/": (SITE, WHY),
    MEMBER + "votes/continue/": (SITE, {}),
    MEMBER + "second-step/": (SITE, WHY),
    MEMBER + "sweep/": (SITE, {"days": "1", **WHY}),
    MEMBER + "sweep/<int:sweep_id>/": (SITE, {}),
    MEMBER + "sweep/<int:sweep_id>/restore/": (SITE, {}),
    MEMBER + "notes/": (SITE, {"text": "A note"}),
    MEMBER + "notes/<int:note_id>/delete/": (SITE, {}),
}
"""By address: who may use it, and what its form takes; None where a page is only read, or is its form's only."""


READ_BY_MORE = {OF_GROUP + "moderators/": GROUP}  # pages that more may read than may send their form
OWNERS, OTHERS = (
    "/administration/",
    {
        ARTICLE + "withdraw/",
        COMMENT + "edit/",
        COMMENT + "delete/",
        "/appeal/",
        "/login/link/<str:token>/",
        "/signup/name/",
    },
)
"""Pages of administrators, and addresses that refuse members for other reasons."""

GIVEN, REMOVED = {"banned": True, "days": 7, **WHY}, {"removed": True, **WHY}
API = {
    "PUT articles/{article_id:article_id}/locked": (GROUP, {"locked": True, **WHY}),
    "PUT articles/{article_id:article_id}/removed": (GROUP, REMOVED),
    "PUT comments/{comment_id:comment_id}/removed": (GROUP, REMOVED),
    "PUT articles/{article_id:article_id}/kept": (GROUP, {}),
    "PUT comments/{comment_id:comment_id}/kept": (GROUP, {}),
    "PUT articles/{article_id:article_id}/groups": (GROUP, {"groups": [], **WHY}),
    "PUT articles/{article_id:article_id}/merged": (SITE, {"into": None, **WHY}),
    "GET queue": (ANY, None),
    "GET queue/profiles": (SITE, None),
    "GET queue/notices": (SITE, None),
    "PUT queue/notices/{notice_id}": (SITE, {"removed": False, **WHY}),
    "PUT users/{name}/about": (SITE, {"removed": True, **WHY}),
    "POST groups": (SITE, {"title": "New"}),
    "PATCH groups/{slug}": (GROUP, {"description": "About it", **WHY}),
    "POST groups/{slug}/merge": (SITE, {"into": "nothing", **WHY}),
    "PUT groups/{slug}/moderators/{name}": (SITE, {"moderates": True, **WHY}),
    "GET groups/{slug}/bans": (GROUP, None),
    "PUT groups/{slug}/bans/{name}": (GROUP, GIVEN),
    "GET users/{name}/bans": (SITE, None),
    "PUT users/{name}/bans/{scope}": (SITE, GIVEN),
    "GET users/{name}/left-out": (SITE, None),
    "PUT users/{name}/left-out": (SITE, {"left_out": True, **WHY}),
    "GET users/{name}/posted": (SITE, None),
    "GET articles/{article_id:article_id}/poster": (SITE, None),
    "GET comments/{comment_id:comment_id}/author": (SITE, None),
    "GET users/{name}/sweeps": (SITE, None),
    "POST users/{name}/sweeps": (SITE, {"days": 1, **WHY}),
    "PUT users/{name}/sweeps/{sweep_id}": (SITE, {"restored": True}),
    "GET users/{name}/notes": (SITE, None),
    "POST users/{name}/notes": (SITE, {"text": "A note"}),
    "DELETE users/{name}/notes/{note_id}": (SITE, None),
    "GET removed/articles": (ANY, None),
    "GET removed/comments": (ANY, None),
    "PUT log/redacted": (SITE, {"article_id": 1, "texts": ["x"], **WHY}),
    "GET automatic-rules": (SITE, None),
    "POST automatic-rules": (SITE, {"name": "A rule", "subject": "article", "act": "flag", "words": ["x"]}),
    "PUT automatic-rules/{rule_id}": (SITE, {"subject": "article", "act": "flag", "words": ["x"]}),
    "POST automatic-rules/{rule_id}/trial": (SITE, {}),
    "PUT automatic-rules/{rule_id}/on": (SITE, {"on": False}),
    "GET held": (SITE, None),
    "PUT held/{number}": (SITE, {"approved": True}),
    "GET blocked-hosts": (SITE, None),
    "PUT blocked-hosts": (SITE, {"host": "spam.example", "blocked": True, **WHY}),
}
"""By operation: who may, and its body."""


@pytest.fixture
def ban(site_store, article, alice, bob):
    """A ban of mallory from the group of alice's article, which has a comment; there is also the group redis."""
    site_store.groups.create("redis", "Redis")
    comment_on(site_store, article, "A comment", alice.pk)
    mallory = member("mallory")
    found = Ban.objects.begin(
        mallory, BanScope.GROUP, "Off topic", ends_at=None, moderator_id=alice.pk, group="python"
    )
    Ban.objects.update(appeal="Please", appealed_at=timezone.now())
    return found


def person(kind: str) -> User | None:
    """Return a member of this kind; None for a reader without an account."""
    if kind == "reader":
        return None
    found = member(f"one-{KINDS.index(kind)}", moderator=kind == "moderator")
    if kind == "administrator":
        User.objects.filter(pk=found.pk).update(is_staff=True, is_superuser=True)
    for group in {"moderator of this group": ["python"], "moderator of another group": ["redis"]}.get(kind, []):
        GroupModerator.objects.set(found, group, by=None, is_current=True)
    return User.objects.get(pk=found.pk)


def state(repository):
    """Return what a moderating act could have changed."""
    rows = [list(model.objects.order_by("pk").values()) for model in (Ban, GroupModerator)]
    return written(repository), repr(rows)


def is_refused(answer, kind: str) -> bool:
    if kind == "reader" and (answer.status_code == 401 or answer.get("Location", "").startswith("/login/")):
        return True
    return answer.status_code == 403


def moderating_pages() -> set[str]:
    browser, found = browser_of(User.objects.get(username="bob")), set[str]()
    for route in routes_of_pages():
        answers = [browser.get(route.path()), browser.post(route.path())]
        if 403 in [answer.status_code for answer in answers] and not route.pattern.startswith(OWNERS):
            found.add(route.pattern)
    return found - OTHERS


def moderating_operations() -> set[str]:
    return {
        f"{operation.methods[0]} {path}"
        for path, view in router.path_operations.items()
        for operation in view.operations
        for way in operation.auth_param or ()
        if isinstance(way, BearerToken) and way._scope == MODERATE
    }


def test_one_function_says_who_may():
    asking = {name for name, path in modules().items() if ".has_perm(" in path.read_text("utf-8")}

    assert {name for name in asking if name.partition(".")[0] != "accounts"} == {"articles.web.rights"}


def test_every_moderating_address_has_a_row(ban):
    assert moderating_pages() == PAGES.keys()
    assert moderating_operations() == API.keys()


@pytest.mark.parametrize("pattern", PAGES)
def test_who_may_use_a_page(site_store, ban, pattern):
    (route,) = [one for one in routes_of_pages() if one.pattern == pattern]
    path, (may, fields) = route.path(name="mallory", ban_id=str(ban.pk)), PAGES[pattern]

    for kind in KINDS:
        user = person(kind)
        browser, before = browser_of(user), state(site_store)
        page = browser.get(path)
        if page.status_code != 405:
            assert is_refused(page, kind) == (kind not in READ_BY_MORE.get(pattern, may)), f"{kind} reads"
        if fields is not None:
            assert is_refused(browser.post(path, fields), kind) == (kind not in may), f"{kind} sends"
        assert kind in may or state(site_store) == before, f"{kind} changed it"


@pytest.mark.parametrize("operation", API)
def test_who_may_call_an_operation(site_store, ban, operation):
    (method, path), (may, body) = operation.split(" "), API[operation]
    values = {"{article_id:article_id}": "1", "{comment_id:comment_id}": "1000001", "{slug}": "python"}
    values |= {"{name}": "mallory", "{scope}": "voting", "{sweep_id}": "1", "{note_id}": "1", "{notice_id}": "1"}
    values |= {"{rule_id}": "1", "{number}": "1"}
    for parameter, value in values.items():
        path = path.replace(parameter, value)

    for kind in KINDS:
        user = person(kind)
        caller = with_token(user) if user else Caller(browser_of(strict=True))
        before = state(site_store)
        answer = caller.send(method, path, body)
        assert is_refused(answer, kind) == (kind not in may), f"{kind}: {answer.status_code} {answer.content}"
        assert kind in may or state(site_store) == before, f"{kind} changed it"

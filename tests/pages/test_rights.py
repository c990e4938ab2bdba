"""Who may do what: every moderating act, on pages and in the API, by every kind of reader.

A new address of moderators fails here until it has a row.
"""

import pytest

from accounts.models import GroupModerator
from accounts.models.tokens import MODERATE
from articles.api.protocol.operations import router
from articles.domain.flags import FlagReason
from tests.caller import Caller
from tests.cases import for_each
from tests.factories import browser_of, comment_on, member
from tests.routes import routes_of_pages
from tests.store_state import written

KINDS = ("reader", "member", "theirs", "other", "moderator", "administrator")
"""Without an account, without rights, moderators of this group and of another one, of the whole site, administrator."""

ADMIN = {"administrator"}
SITE = ADMIN | {"moderator"}
GROUP = SITE | {"theirs"}
ANY = GROUP | {"other"}
"""Also moderators of other groups: the page shows each what they can decide."""

WHY = {"reason": "Because"}
ARTICLE, COMMENT, TEXT = "/articles/<article_id:article_id>/", "/comments/<comment_id:comment_id>/", "redacts"
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
    "/moderation/groups/": (SITE, {"title": "New"}),
    OF_GROUP: (GROUP, {"describe": "1", "describe-description": "About it", "describe-reason": "Because"}),
    OF_GROUP + "moderators/": (GROUP, None),
    OF_GROUP + "moderators/end/": (SITE, {"name": "theirs", **WHY}),
    OF_GROUP + "bans/": (GROUP, {"name": "mallory", "days": "7", **WHY}),
    OF_GROUP + "bans/<int:ban_id>/lift/": (GROUP, WHY),
    "/moderation/hosts/": (SITE, {"host": "spam.example", **WHY}),
    "/moderation/hosts/unblock/": (SITE, {"host": "spam.example", **WHY}),
    "/moderation/members/": (SITE, None),
    "/moderation/members/decide/": (SITE, {}),
    "/moderation/log/<str:moment>/redact/": (SITE, None),
    "/moderation/rings/": (SITE, None),
    "/moderation/rings/blocs/": (SITE, None),
    "/invitations/": (SITE, None),
    "/invitations/<str:name>/": (SITE, None),
    "/users/<str:name>/about/": (SITE, None),
    MEMBER: (SITE, {"scope": "voting", "days": "7", **WHY}),
    MEMBER + "branch/": (SITE, None),
    MEMBER + "branch/<int:act_id>/": (SITE, {}),
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

GIVEN = {"banned": True, "days": 7, "reason": "Because"}
API = {
    ("PUT", "articles/{article_id}/removed"): (GROUP, {"removed": True, **WHY}),
}

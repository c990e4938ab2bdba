"""The API as a program uses it through a client generated from its OpenAPI document, over a real connection."""

import importlib
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from openapi_python_client import Config, MetaType, generate
from openapi_python_client.config import ConfigFile

from accounts.models import Token
from articles.api.documentation import document, operations
from tests import extras

NAME = "generated_client"
TAGS = {
    operation["operationId"]: operation["tags"][0].replace("-", "_")
    for _path, _method, operation in operations(document())
}
"""The module of the client that has an operation."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The package of the client, generated without warnings."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(document()), "utf-8")
    config = Config.from_sources(
        ConfigFile(post_hooks=[]),
        MetaType.NONE,
        document_source=folder / "openapi.json",
        file_encoding="utf-8",
        overwrite=False,
        output_path=folder / NAME,
    )
    assert generate(config=config) == []
    sys.path.insert(0, str(folder))
    yield importlib.import_module(NAME)
    sys.path.remove(str(folder))
    for module in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[module]


@dataclass(frozen=True)
class Call:
    """One call of an operation. Enumerations and bodies are given as (name of the model, value)."""

    operation: str
    status: int
    model: str
    who: str = "alice"
    arguments: Any = ()
    body: Any = None


MINE, REMOVED, CLOSED, NOT_THERE = 1, 2, 3, 999
WRITTEN, NOT_WRITTEN = 1_000_001, 1_000_999  # ids of comments

B, WHY = "https://example.org/b", {"reason": "?"}
A_VOTE = ("NewChoice", {"choice": "vote"})

ON_MINE, ON_REMOVED, ON_CLOSED, ON_NONE = ({"article_id": one} for one in (MINE, REMOVED, CLOSED, NOT_THERE))
ON_COMMENT, ON_NO_COMMENT, ON_ALICE = {"comment_id": WRITTEN}, {"comment_id": NOT_WRITTEN}, {"name": "alice"}

CALLS = [
    Call("list_articles", 200, "ArticlePage", "alice", {"order": ("Order", "points"), "range_": ("Span", "week")}),
    Call("list_articles", 200, "ArticlePage", "", {"group": "python", "page": 1}),
    Call("list_articles", 401, "Failure", "wrong"),
    Call("list_hot", 200, "HotList", "alice", {"range_": ("Range", "24h"), "limit": 5}),
    Call("list_hot", 400, "Failure", "alice", {"limit": 101}),
    Call("search", 200, "SearchPage", "alice", {"q": "article", "order": ("SearchOrder", "time")}),
    Call("search", 200, "SearchPage", "alice", {"q": ""}),
    Call("search_comments", 200, "CommentSearchPage", "alice", {"q": "comment"}),
    Call("list_changes", 200, "ChangeLog"),
    Call("list_posted_before", 200, "PostedArticles", "alice", {"link": "https://example.org/a"}),
    *(Call(*call) for calls in extras.all_of("CALLS") for call in calls),
    Call("count_view", 200, "ViewCount", "alice", (), ("View", {"articleId": MINE, "visitorId": None})),
    Call("read_article", 200, "WholeArticle", "alice", ON_MINE),
    Call("read_article", 200, "WholeArticle", "", ON_REMOVED),
    Call("read_article", 404, "Failure", "alice", ON_NONE),
    Call("explain_ranking", 200, "Explanation", "alice", ON_MINE),
    Call("post_article", 201, "PostedArticle", "alice", (), ("NewArticle", {"title": "B", "link": B})),
    Call("post_article", 200, "PostedArticle", "alice", (), ("NewArticle", {"title": "B", "link": B})),
    Call("cast_vote", 200, "Tally", "alice", ON_MINE, ("NewChoice", {"choice": "oppose"})),
    Call("cast_vote", 409, "Failure", "alice", ON_CLOSED, A_VOTE),
    Call("save_article", 200, "Saved", "alice", ON_MINE, ("Saving", {"saved": True})),
    Call("follow_group", 200, "Followed", "alice", {"slug": "python"}, ("Following", {"followed": True})),
    Call("list_followed_groups", 200, "Followed"),
    Call(
        "change_hidden",
        200,
        "HiddenThings",
        "alice",
        (),
        ("HidingChange", {"kind": "host", "value": "a.example", "hidden": True}),
    ),
    Call("list_hidden", 200, "HiddenThings"),
    Call("list_following", 200, "OwnList"),
    Call("assign_groups", 200, "Assigned", "carol", ON_MINE, ("Assignment", {"groups": ["python"]})),
    Call("edit_article", 200, "WholeArticle", "alice", ON_MINE, ("Edit", {"title": "Better"})),
    Call("edit_article", 403, "Failure", "alice", ON_CLOSED, ("Edit", {"title": "Better"})),
    Call("remove_article", 200, "Article", "carol", ON_REMOVED, ("Removal", {"removed": False} | WHY)),
    Call("post_comment", 201, "Comment", "alice", ON_MINE, ("NewComment", {"text": "*A* comment"})),
    Call("list_comments", 200, "Thread", "", {"article_id": MINE, "order": ("CommentOrder", "newest")}),
    Call("list_replies", 200, "Thread", "alice", {"comment_id": WRITTEN, "size": 5}),
    Call("read_comment", 200, "Comment", "", ON_COMMENT),
    Call("cast_comment_vote", 200, "Tally", "carol", ON_COMMENT, A_VOTE),
    Call("flag_article", 200, "Flag", "carol", ON_MINE, ("NewFlag", {"reason": "spam"})),
    Call("read_queue", 200, "Queue", "carol"),
    Call("keep_article", 200, "Kept", "carol", ON_CLOSED, ("Keeping", {"reason": "?"})),
    Call("keep_comment", 404, "Failure", "carol", ON_NO_COMMENT, ("Keeping", {})),
    Call("take_back_article_flag", 200, "Flag", "carol", ON_MINE),
    Call("flag_comment", 200, "Flag", "carol", ON_COMMENT, ("NewFlag", {"reason": "off-topic"})),
    Call("take_back_comment_flag", 200, "Flag", "carol", ON_COMMENT),
    Call("edit_comment", 200, "Comment", "alice", ON_COMMENT, ("CommentText", {"text": "B"})),
    Call("remove_comment", 200, "Comment", "carol", ON_COMMENT, ("Removal", {"removed": True} | WHY)),
    Call("merge_article", 200, "Article", "carol", ON_MINE, ("ArticleMerging", {"into": None, "reason": ""})),
    Call("lock_comments", 200, "Locked", "carol", ON_MINE, ("Locking", {"locked": True} | WHY)),
    Call("change_about", 200, "Member", "alice", (), ("About", {"about": "Gardener"})),
    Call("read_member", 200, "Member", "", ON_ALICE),
    Call("flag_member", 200, "ProfileFlag", "carol", ON_ALICE, ("NewFlag", {"reason": "spam"})),
    Call("read_queued_profiles", 200, "QueuedProfiles", "carol"),
    Call("take_back_member_flag", 200, "ProfileFlag", "carol", ON_ALICE),
    Call(
        "decide_on_profile", 200, "DecidedProfile", "carol", ON_ALICE, ("ProfileDecision", {"removed": True} | WHY)
    ),
    Call("read_author", 200, "Posted", "carol", ON_COMMENT),
    Call("delete_comment", 200, "Deleted", "alice", ON_COMMENT),
    Call("read_article_log", 200, "LogPage", "alice", ON_MINE),
    Call("read_log", 200, "LogPage", "", {"page": 1}),
    Call("read_me", 200, "Me"),
    Call("read_inbox", 200, "Inbox"),
    Call("mark_inbox_read", 200, "Read", "alice", (), ("Reading", {"until": 1.5})),
    Call("mute_discussion", 200, "Muted", "alice", ON_MINE, ("Muting", {"muted": True})),
    Call("block_member", 200, "Blocked", "alice", {"name": "carol"}, ("Blocking", {"blocked": True})),
    Call("list_bans", 200, "Bans", "carol", ON_ALICE),
    *(
        Call("assign_moderator", 200, "GroupModerators", "carol", {"slug": "python", "name": "alice"}, body)
        for body in (("ModeratorChange", {"moderates": one} | WHY) for one in (True, False))
    ),
    *(
        Call("change_group_ban", 200, "GroupBans", "carol", {"slug": "python", "name": "alice"}, body)
        for body in (("BanChange", {"banned": one} | WHY) for one in (True, False))
    ),
    Call("list_group_bans", 200, "GroupBans", "carol", {"slug": "python"}),
    *(
        Call("change_ban", status, answer, who, {"name": name, "scope": "both"}, ("BanChange", body))
        for status, answer, who, name, body in (
            (200, "Bans", "carol", "alice", {"banned": True} | WHY),
            (200, "Bans", "carol", "alice", {"banned": False} | WHY),
        )
    ),
    Call("list_own_statements", 200, "OwnStatements"),
    Call("appeal_decision", 404, "Failure", "alice", {"statement_id": 99}, ("NewAppeal", {"text": "?"})),
    Call("list_notices", 200, "QueuedNotices", "carol"),
    Call(
        "decide_on_notice",
        404,
        "Failure",
        "carol",
        {"notice_id": 99},
        ("NoticeDecision", {"removed": False} | WHY),
    ),
    Call("read_left_out", 200, "LeftOut", "carol", ON_ALICE),
    Call("leave_votes_out", 200, "LeftOut", "carol", ON_ALICE, ("LeavingOut", {"left_out": True} | WHY)),
    Call("begin_sweep", 201, "Sweep", "carol", ON_ALICE, ("NewSweep", {"days": 1} | WHY)),
    Call("list_sweeps", 200, "Sweeps", "carol", ON_ALICE),
    Call("read_vouch", 200, "VouchState", "alice", {"name": "carol"}),
    Call("vouch_for_member", 404, "Failure", "alice", {"name": "carol"}),
    Call("read_posted", 200, "Posted", "carol", ON_ALICE),
    Call("read_poster", 200, "Posted", "carol", ON_REMOVED),
    Call("list_removed_articles", 200, "RemovedArticles", "carol", {"page": 1}),
    Call("list_removed_comments", 200, "RemovedComments", "carol", {"before": 1.5}),
    Call("redact", 200, "Redacted", "carol", (), ("Redaction", {"article_id": REMOVED, "texts": ["?"]} | WHY)),
    Call("list_own_removed_articles", 200, "OwnRemovedArticles", "alice", {"page": 1}),
    Call("list_own_removed_comments", 200, "OwnRemovedComments", "alice", {"page": 1}),
    Call(
        "change_sweep",
        200,
        "Sweep",
        "carol",
        {"name": "alice", "sweep_id": 1},
        ("SweepChange", {"restored": True} | WHY),
    ),
    Call("write_note", 201, "Note", "carol", ON_ALICE, ("NewNote", {"text": "A note"})),
    Call("list_notes", 200, "Notes", "carol", ON_ALICE),
    Call("delete_note", 200, "DeletedNote", "carol", {"name": "alice", "note_id": 1}),
    Call(
        "block_host",
        200,
        "HostBlocks",
        "carol",
        (),
        ("HostBlocking", {"host": "spam.example", "blocked": True} | WHY),
    ),
    Call("list_blocked_hosts", 200, "HostBlocks", "carol"),
    Call(
        "create_rule",
        201,
        "AutomaticRule",
        "carol",
        (),
        ("NewRule", {"name": "Pills", "subject": "article", "act": "hold", "words": ["buy pills"]}),
    ),
    Call(
        "change_rule",
        200,
        "AutomaticRule",
        "carol",
        {"rule_id": 1},
        ("RuleBody", {"subject": "comment", "act": "flag", "pattern": "buy pi[l1]+s"}),
    ),
    Call("try_rule", 200, "TrialResult", "carol", {"rule_id": 1}),
    Call("switch_rule", 200, "AutomaticRule", "carol", {"rule_id": 1}, ("Switch", {"on": True, "days": 7})),
    Call("list_rules", 200, "AutomaticRules", "carol"),
    Call("list_held", 200, "HeldList", "carol"),
    Call("decide_held", 404, "Failure", "carol", {"number": 9}, ("Approval", {"approved": True})),
    Call("list_own_held", 200, "HeldList"),
    Call("withdraw_held", 404, "Failure", "alice", {"number": 9}),
    Call("list_posted", 200, "OwnList", "", ON_ALICE),
    Call("list_groups", 200, "GroupList", ""),
    Call("create_group", 201, "Group", "carol", (), ("NewGroup", {"title": "Machine Learning"})),
    Call("read_group", 200, "Group", "", {"slug": "machine-learning"}),
    Call("withdraw_article", 200, "Article", "alice", ON_MINE),
    Call("rename_group", 200, "Group", "carol", {"slug": "python"}, ("Renaming", {"title": "Snakes"})),
    Call("merge_group", 200, "Merged", "carol", {"slug": "python"}, ("Merging", {"into": "machine-learning"})),
    *(Call(f"list_{name}", 200, "OwnList", "alice", {"page": 1}) for name in ("voted", "opposed", "saved")),
]


def test_every_operation_is_called():
    assert {call.operation for call in CALLS} == {one["operationId"] for *_rest, one in operations(document())}


@pytest.fixture
def users(generated, live_server, site_store, article, removed, closed, python, alice, carol):
    """A client of the generated package for each caller."""
    assert (article, removed, closed) == (MINE, REMOVED, CLOSED)
    tokens = {user.username: Token.objects.issue(user, "a program")[1] for user in (alice, carol)}
    tokens["wrong"] = "avs_wrong"
    options = {"base_url": live_server.url, "raise_on_unexpected_status": True}
    found = {name: generated.AuthenticatedClient(token=token, **options) for name, token in tokens.items()}
    found[""] = generated.Client(**options)
    with ExitStack() as connections:
        yield {name: connections.enter_context(client) for name, client in found.items()}


@pytest.mark.hostile
def test_responses_and_problems_match_the_document(generated, users):
    models = importlib.import_module(f"{NAME}.models")

    for call in CALLS:
        operation = importlib.import_module(f"{NAME}.api.{TAGS[call.operation]}.{call.operation}")
        arguments = {name: _value(models, value) for name, value in dict(call.arguments).items()}
        if call.body:
            model, fields = call.body
            arguments["body"] = getattr(models, model).from_dict(fields)
        answer = operation.sync_detailed(client=users[call.who], **arguments)
        assert (answer.status_code, type(answer.parsed).__name__) == (call.status, call.model), (call, answer)
        assert answer.parsed.to_dict() == json.loads(answer.content), call


def _value(models, value):
    """Return an argument; a pair names an enumeration and one of its values."""
    return getattr(models, value[0])(value[1]) if isinstance(value, tuple) else value

"""The table of refusals: each with its status in the store, its error, and what readers and operators see of it.

The repository raises, the API and the pages answer, and the metrics count by this table. The sentences are in
articles/text/refusals.py, because they are translated.
"""

from collections.abc import Mapping
from typing import NamedTuple

from articles.domain import errors

FORBIDDEN = "forbidden"
"""API code where permissions refuse."""

GENERIC_CODE = "refused"
"""API code of refusals that no operation of the API returns, so that the API does not document it."""


class Refusal(NamedTuple):
    """One row."""

    status: str | None
    """Status with which a script refuses; None if only Python does."""

    error: type[errors.ArticlesError]
    http: int
    code: str
    """Code in the API's response. Stable: programs compare it."""

    cause: str | None
    """Label in `site_refusals_total`; None if not counted there. Stable: dashboards use it."""

    sentence: str = ""
    """Key of the sentence, if it is not the code."""

    @property
    def sentence_key(self) -> str:
        """The key of the sentence in articles/text/refusals.py."""
        return self.sentence or self.code


REFUSALS = (
    Refusal("missing", errors.ArticleNotFound, 404, "article-not-found", "missing"),
    Refusal("removed", errors.ArticleRemoved, 404, "article-removed", "removed"),
    Refusal("merged_away", errors.ArticleMerged, 409, "article-merged", "merged_away"),
    Refusal("no_comment", errors.CommentNotFound, 404, "comment-not-found", "no_comment"),
    Refusal("comment_removed", errors.CommentRemoved, 404, "comment-removed", "comment_removed"),
    Refusal("no_group", errors.GroupNotFound, 404, "group-not-found", "no_group"),
    Refusal(None, errors.PageNotFound, 404, "page-not-found", None),
    Refusal(None, errors.PageTooDeep, 404, "page-not-found", None, sentence="page-too-deep"),
    Refusal("not_poster", errors.NotThePoster, 403, "not-the-poster", "not_poster"),
    Refusal("not_author", errors.NotTheAuthor, 403, "not-the-author", "not_author"),
    Refusal("own_comment", errors.OwnComment, 403, "own-comment", "own_comment"),
    Refusal("own", errors.OwnContent, 403, "own-content", "own"),
    Refusal(None, errors.OwnMatter, 403, FORBIDDEN, None, sentence="own-matter"),
    Refusal(None, errors.DecidedForSite, 403, FORBIDDEN, None, sentence="decided-for-site"),
    Refusal(None, errors.FellowModerator, 403, FORBIDDEN, None, sentence="fellow-moderator"),
    Refusal(None, errors.OwnDecision, 403, FORBIDDEN, None, sentence="own-decision"),
    Refusal(None, errors.AppealClosed, 409, "appeal-closed", None),
    Refusal(None, errors.Banned, 403, "banned", None),
    Refusal("gone", errors.AccountDeleted, 403, "member-gone", None),
    Refusal("closed", errors.VotingClosed, 409, "voting-closed", "closed"),
    Refusal("comment_closed", errors.CommentVotingClosed, 409, "comment-voting-closed", "comment_closed"),
    Refusal("locked", errors.DiscussionLocked, 409, "discussion-locked", "locked"),
    Refusal("thread_full", errors.DiscussionFull, 409, "discussion-full", "thread_full"),
    Refusal("flag_decided", errors.FlagDecided, 409, "flag-decided", "flag_decided"),
    Refusal("flags_full", errors.FlagsFull, 409, "flags-full", "flags_full"),
    Refusal("own_article", errors.OwnArticle, 403, "own-article", "own_article"),
    Refusal(None, errors.NotTrustedYet, 403, "not-trusted-yet", None),
    Refusal(None, errors.MayNotVouch, 403, "may-not-vouch", None),
    Refusal(None, errors.NotOnProbation, 409, "not-on-probation", None),
    Refusal(None, errors.VouchesFull, 409, "vouches-full", None),
    Refusal("no_suggestion", errors.SuggestionNotFound, 404, "suggestion-not-found", "no_suggestion"),
    Refusal("suggestion_closed", errors.SuggestionClosed, 409, "suggestion-closed", "suggestion_closed"),
    Refusal("no_change", errors.SuggestionUnchanged, 409, "suggestion-unchanged", "no_change"),
    Refusal("suggestions_full", errors.SuggestionsFull, 409, "suggestions-full", "suggestions_full"),
    Refusal("late", errors.EditingClosed, 409, "editing-closed", "late"),
    Refusal("late_to_withdraw", errors.WithdrawingClosed, 409, "withdrawing-closed", "late_to_withdraw"),
    Refusal(None, errors.DuplicateLink, 409, "duplicate-link", None),
    Refusal("readers", errors.ReadersWouldChange, 409, "readers-would-change", "readers"),
    Refusal(None, errors.GroupsDecided, 409, "groups-decided", None),
    Refusal(None, errors.MergeAcrossReaders, 409, "merge-across-readers", None),
    Refusal("full", errors.SavedFull, 409, "saved-full", "full"),
    Refusal(None, errors.FollowedFull, 409, "followed-full", None),
    Refusal(None, errors.HiddenFull, 409, "hidden-full", None),
    Refusal("taken", errors.GroupExists, 409, "group-exists", "taken"),
    Refusal("not_merged", errors.NotMerged, 409, GENERIC_CODE, "not_merged", sentence="not-merged"),
    Refusal("has_merges", errors.HasMerges, 409, GENERIC_CODE, "has_merges", sentence="has-merges"),
    Refusal("merges_full", errors.MergesFull, 409, GENERIC_CODE, "merges_full", sentence="merges-full"),
    Refusal(None, errors.SelfMerge, 409, GENERIC_CODE, None, sentence="self-merge"),
    Refusal(None, errors.MergeRunning, 409, GENERIC_CODE, None),
    Refusal("not_removed", errors.NotRemoved, 409, GENERIC_CODE, "not_removed", sentence="not-removed"),
    Refusal(
        "comment_not_removed",
        errors.CommentNotRemoved,
        409,
        GENERIC_CODE,
        "comment_not_removed",
        sentence="comment-not-removed",
    ),
    Refusal("not_locked", errors.DiscussionNotLocked, 409, GENERIC_CODE, "not_locked", sentence="not-locked"),
    Refusal(None, errors.RefusedByRule, 403, "refused-by-rule", None),
    Refusal(None, errors.ChangeNeedsApproval, 403, "refused-by-rule", None, sentence="change-needs-approval"),
    Refusal(None, errors.HeldForApproval, 202, GENERIC_CODE, None, sentence="held-for-approval"),
    Refusal(None, errors.RuleNotTried, 409, "rule-not-tried", None),
    Refusal(None, errors.RulesFull, 409, "rules-full", None),
    Refusal(None, errors.HeldDecided, 409, "held-decided", None),
    Refusal("busy", errors.ChangeRunning, 409, GENERIC_CODE, "busy"),
    Refusal("changed", errors.ParametersChanged, 409, GENERIC_CODE, "changed"),
    Refusal("limited", errors.LimitReached, 429, "rate-limited", None),
    Refusal(None, errors.NewMemberLimitReached, 429, "rate-limited", None, sentence="new-member-limit"),
    Refusal(None, errors.ImportRunning, 409, GENERIC_CODE, None),
    Refusal("archived", errors.ViewsArchived, 409, GENERIC_CODE, None),
    Refusal("foreign", errors.StoreUnfit, 503, "unavailable", "foreign"),
    Refusal(None, errors.StoreDamaged, 503, "unavailable", None, sentence="damaged"),
    Refusal(None, errors.StoreUnavailable, 503, "unavailable", None),
    Refusal(None, errors.StoreUnconfirmed, 503, "unconfirmed", None),
)

_YIELDED = ("merged", "newer")
"""Statuses with which a script yields to an earlier change: no error, but counted among the refusals."""

BY_STATUS = {row.status: row for row in REFUSALS if row.status}
CAUSES = {row.status: row.cause for row in REFUSALS if row.status and row.cause} | {
    word: word for word in _YIELDED
}
"""Status of a script to the metrics' label."""

_BY_ERROR = {row.error: row for row in REFUSALS}


def refusal_of(error: errors.ArticlesError) -> Refusal:
    """Return the row of an error."""
    return _BY_ERROR[type(error)]


def codes(http: int) -> tuple[str, ...]:
    """Return the codes that the API documents for an HTTP status, each once."""
    return tuple(dict.fromkeys(row.code for row in REFUSALS if row.http == http and row.code != GENERIC_CODE))


REFUSED_BY_SERVER: Mapping[int, str] = {
    400: "bad-request",
    408: "body-too-slow",
    414: "address-too-long",
    431: "headers-too-large",
    500: "internal-error",
    503: "too-many-uploads",
}
"""Codes of the web server's own answers under the API's addresses, by status."""


def error_body(code: str, message: str, details: Mapping[str, str | int] | None = None) -> dict[str, object]:
    """Return the JSON of a failure. `details` are further fields of the error: see `schemas.Error`."""
    return {"error": {"code": code, "message": message, **(details or {})}}

"""Errors of the repository, each with what scripts, readers, programs and operators see of it.

The sentences are in articles/text/refusals.py, because they are translated.
"""

from typing import NamedTuple

FORBIDDEN = "forbidden"  # API code where permissions refuse

GENERIC_CODE = "refused"
"""API code of refusals that no operation of the API returns, so that the API does not document it."""


class Refusal(NamedTuple):
    """What is seen of an error."""

    error: "type[ArticlesError]"
    http: int
    code: str  # code in the API's response; stable: programs compare it
    status: str | None  # status with which a script refuses; None if only Python does
    sentence_key: str  # the key of the sentence in articles/text/refusals.py


REFUSALS = list[Refusal]()


class ArticlesError(Exception):
    """Base class of the errors that the repository raises on purpose."""

    def __init_subclass__(
        cls, *, http: int = 409, code: str = GENERIC_CODE, status: str | None = None, sentence: str = ""
    ) -> None:
        """Add the error to the table, unless http=0. `sentence`: its key, if it is not the code."""
        super().__init_subclass__()
        if http:
            REFUSALS.append(Refusal(cls, http, code, status, sentence or code))


class ArticleNotFound(ArticlesError, http=404, code="article-not-found", status="missing"):
    """No article has this id."""


class ActionRefused(ArticlesError, http=0):
    """The article's state does not permit the change."""


class ArticleRemoved(ActionRefused, http=404, code="article-removed", status="removed"):
    """A moderator removed the article."""


class ArticleMerged(ActionRefused, code="article-merged", status="merged_away"):
    """A moderator merged the article into another one."""


class CommentNotFound(ArticlesError, http=404, code="comment-not-found", status="no_comment"):
    """No comment has this id, or its author deleted it."""


class CommentRemoved(ActionRefused, http=404, code="comment-removed", status="comment_removed"):
    """A moderator removed the comment."""


class GroupNotFound(ArticlesError, http=404, code="group-not-found", status="no_group"):
    """No group has this slug. `moved_to` is the slug of the group it was merged into, if any."""

    def __init__(self, slug: str, moved_to: str | None = None) -> None:
        super().__init__(slug)
        self.slug = slug
        self.moved_to = moved_to


class PageNotFound(ArticlesError, http=404, code="page-not-found"):
    """The list has no such page."""


class PageTooDeep(PageNotFound, http=404, code="page-not-found", sentence="page-too-deep"):
    """The list may continue, but the page is beyond the limit for paging."""


class NotThePoster(ActionRefused, http=403, code="not-the-poster", status="not_poster"):
    """Only the poster or a moderator may do this."""


class NotTheAuthor(ActionRefused, http=403, code="not-the-author", status="not_author"):
    """Only the author may change or delete a comment."""


class OwnComment(ActionRefused, http=403, code="own-comment", status="own_comment"):
    """Authors cannot vote on their own comments."""


class OwnContent(ActionRefused, http=403, code="own-content", status="own"):
    """Members cannot flag what they posted."""


class OwnMatter(ActionRefused, http=403, code=FORBIDDEN, sentence="own-matter"):
    """Moderators do not decide on what concerns themselves, or what they posted."""


class DecidedForSite(ActionRefused, http=403, code=FORBIDDEN, sentence="decided-for-site"):
    """A moderator of some groups would reverse what a moderator of the whole site decided."""


class FellowModerator(ActionRefused, http=403, code=FORBIDDEN, sentence="fellow-moderator"):
    """No act against members can be aimed at a member who has the permission for it."""


class OwnDecision(ActionRefused, http=403, code=FORBIDDEN, sentence="own-decision"):
    """Moderators do not answer appeals against their own decisions while another one can."""


class AppealClosed(ActionRefused, code="appeal-closed"):
    """The decision can no longer be appealed, or is a ban, which has an appeal of its own."""


class Banned(ActionRefused, http=403, code="banned"):
    """A moderator banned the member. `scope`: "posting", "voting" or "group".

    `ends_at`: in Unix seconds, if it ends; `group`: the title, for a ban from a group.
    """

    def __init__(self, scope: str, reason: str = "", ends_at: float | None = None, group: str = "") -> None:
        super().__init__(scope)
        self.group = group
        self.scope = scope
        self.reason = reason
        self.ends_at = ends_at


class AccountDeleted(ArticlesError, http=403, code="member-gone", status="gone"):
    """The acting member's account is deleted or being deleted."""


class VotingClosed(ActionRefused, code="voting-closed", status="closed"):
    """Voting on the article has ended."""


class CommentVotingClosed(ActionRefused, code="comment-voting-closed", status="comment_closed"):
    """Voting on the comment has ended."""


class DiscussionLocked(ActionRefused, code="discussion-locked", status="locked"):
    """A moderator locked the article's discussion."""


class DiscussionFull(ActionRefused, code="discussion-full", status="thread_full"):
    """The article has had the maximum number of comments."""


class FlagDecided(ActionRefused, code="flag-decided", status="flag_decided"):
    """Moderators have decided on the member's flag: it can neither be changed nor taken back."""


class FlagsFull(ActionRefused, code="flags-full", status="flags_full"):
    """The article or comment has the maximum number of flags."""


class MayNotVouch(ActionRefused, http=403, code="may-not-vouch"):
    """Only members in good standing vouch for others: not new, not banned, with votes and vouches that count."""


class NotOnProbation(ActionRefused, code="not-on-probation"):
    """Members vouch only for those whose votes wait."""


class VouchesFull(ActionRefused, code="vouches-full"):
    """The member has vouched for as many members as is possible for now."""


class EditingClosed(ActionRefused, code="editing-closed", status="late"):
    """The poster's time for editing has ended."""


class WithdrawingClosed(ActionRefused, code="withdrawing-closed", status="late_to_withdraw"):
    """The poster's time for withdrawing the article has ended."""


class DuplicateLink(ActionRefused, code="duplicate-link"):
    """Another recent article has the same link. `article_id` is its id."""

    def __init__(self, article_id: int) -> None:
        super().__init__(article_id)
        self.article_id = article_id


class ReadersWouldChange(ActionRefused, code="readers-would-change", status="readers"):
    """Only moderators who assign groups change whether everyone can read an article."""


class GroupsDecided(ActionRefused, code="groups-decided"):
    """A moderator put an article into a group, or took it out; its poster would reverse that."""


class MergeAcrossReaders(ActionRefused, code="merge-across-readers"):
    """Everyone can read one of the articles, and only members the other: a merge would show or hide comments."""


class SavedFull(ActionRefused, code="saved-full", status="full"):
    """The member has saved the maximum number of articles."""


class FollowedFull(ActionRefused, code="followed-full"):
    """The member follows the maximum number of groups."""


class HiddenFull(ActionRefused, code="hidden-full"):
    """The reader hides the maximum number of groups, members, hosts or words."""


class GroupExists(ArticlesError, code="group-exists", status="taken"):
    """Another group has this slug, or this title."""


class NotMerged(ActionRefused, status="not_merged", sentence="not-merged"):
    """Only a merge that was made can be undone."""


class HasMerges(ActionRefused, status="has_merges", sentence="has-merges"):
    """An article into which others were merged cannot be merged itself."""


class MergesFull(ActionRefused, status="merges_full", sentence="merges-full"):
    """The article has the maximum number of merged articles."""


class SelfMerge(ActionRefused, sentence="self-merge"):
    """An article cannot be merged into itself."""


class MergeRunning(ActionRefused):
    """Another merge is being made."""


class NotRemoved(ActionRefused, status="not_removed", sentence="not-removed"):
    """Only removed articles can be restored."""


class CommentNotRemoved(ActionRefused, status="comment_not_removed", sentence="comment-not-removed"):
    """Only removed comments can be restored."""


class DiscussionNotLocked(ActionRefused, status="not_locked", sentence="not-locked"):
    """Only locked discussions can be unlocked."""


class RefusedByRule(ActionRefused, http=403, code="refused-by-rule"):
    """A rule of the moderators refuses it. `sentence`: what the rule tells the member."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ChangeNeedsApproval(ActionRefused, http=403, code="refused-by-rule", sentence="change-needs-approval"):
    """A rule would hold a post like this for approval, so its author cannot change it to that."""


class HeldForApproval(ArticlesError, http=202, sentence="held-for-approval"):
    """A rule holds the post until a moderator approves it. `number` is that of the held post."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class RuleNotTried(ActionRefused, code="rule-not-tried"):
    """A rule can be switched on only after its current version was tried."""


class RulesFull(ActionRefused, code="rules-full"):
    """The maximum number of rules is on."""


class HeldDecided(ActionRefused, code="held-decided"):
    """A held post was decided or withdrawn."""


class ChangeRunning(ActionRefused, status="busy"):
    """Another change of the parameters is being applied."""


class ParametersChanged(ActionRefused, status="changed"):
    """The ranking's parameters have changed since they were read. `version` is the current one."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class LimitReached(ArticlesError, http=429, code="rate-limited", status="limited"):
    """A rate limit is used up. `limit` is its name, `wait_ms` the time until the next use."""

    def __init__(self, limit: str, wait_ms: int = 0) -> None:
        super().__init__(limit)
        self.limit = limit
        self.wait_ms = wait_ms

    @property
    def retry_after(self) -> int:
        """Whole seconds to wait, at least 1."""
        return max(1, -(-self.wait_ms // 1000))


class NewMemberLimitReached(LimitReached, http=429, code="rate-limited", sentence="new-member-limit"):
    """A rate limit of new members is used up: `uses` in `seconds`.

    They are new until their account is `age` seconds old, and other members have given them `points`; each 0 if it
    does not matter.
    """

    def __init__(
        self, limit: str, wait_ms: int = 0, *, uses: int = 0, seconds: int = 0, age: float = 0, points: int = 0
    ) -> None:
        super().__init__(limit, wait_ms)
        self.uses = uses
        self.seconds = seconds
        self.age = age
        self.points = points


class ImportRunning(ActionRefused):
    """Another import is running on this store."""


class ViewsArchived(ArticlesError, status="archived"):
    """The article's counters are archived in the database; restore them before recording a view."""


class StoreError(ArticlesError, http=0):
    """The store itself failed."""


class StoreUnfit(StoreError, http=503, code="unavailable", status="foreign"):
    """The site cannot use this store; the message is one sentence for the operator."""


class StoreDamaged(StoreError, http=503, code="unavailable", sentence="damaged"):
    """What the store holds makes no sense to the site; the audit says where. Retrying does not help."""


class StoreUnavailable(StoreError, http=503, code="unavailable"):
    """The store is unreachable, or cannot serve at the moment; retrying later may help."""


class StoreUnconfirmed(StoreUnavailable, http=503, code="unconfirmed"):
    """The store received a command but did not answer: the change may have been made. It can be repeated."""

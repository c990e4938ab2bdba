"""Errors of the repository. `refusals.py` says what readers, programs and operators see of each."""


class ArticlesError(Exception):
    """Base class of the errors that the repository raises on purpose."""


class ArticleNotFound(ArticlesError):
    """No article has this id."""


class CommentNotFound(ArticlesError):
    """No comment has this id, or its author deleted it."""


class GroupNotFound(ArticlesError):
    """No group has this slug. `moved_to` is the slug of the group it was merged into, if any."""

    def __init__(self, slug: str, moved_to: str | None = None) -> None:
        super().__init__(slug)
        self.slug = slug
        self.moved_to = moved_to


class GroupExists(ArticlesError):
    """Another group has this slug, or this title."""


class PageNotFound(ArticlesError):
    """The list has no such page."""


class PageTooDeep(PageNotFound):
    """The list may continue, but the page is beyond the limit for paging."""


class ActionRefused(ArticlesError):
    """The article's state does not permit the change."""


class VotingClosed(ActionRefused):
    """Voting on the article has ended."""


class ArticleRemoved(ActionRefused):
    """A moderator removed the article."""


class ArticleMerged(ActionRefused):
    """A moderator merged the article into another one."""


class NotMerged(ActionRefused):
    """Only a merge that was made can be undone."""


class HasMerges(ActionRefused):
    """An article into which others were merged cannot be merged itself."""


class MergesFull(ActionRefused):
    """The article has the maximum number of merged articles."""


class SelfMerge(ActionRefused):
    """An article cannot be merged into itself."""


class MergeRunning(ActionRefused):
    """Another merge is being made."""


class NotRemoved(ActionRefused):
    """Only removed articles can be restored."""


class NotThePoster(ActionRefused):
    """Only the poster or a moderator may do this."""


class EditingClosed(ActionRefused):
    """The poster's time for editing has ended."""


class WithdrawingClosed(ActionRefused):
    """The poster's time for withdrawing the article has ended."""


class DuplicateLink(ActionRefused):
    """Another recent article has the same link. `article_id` is its id."""

    def __init__(self, article_id: int) -> None:
        super().__init__(article_id)
        self.article_id = article_id


class ReadersWouldChange(ActionRefused):
    """Only moderators who assign groups change whether everyone can read an article."""


class GroupsDecided(ActionRefused):
    """A moderator put an article into a group, or took it out; its poster would reverse that."""


class MergeAcrossReaders(ActionRefused):
    """Everyone can read one of the articles, and only members the other: a merge would show or hide comments."""


class SavedFull(ActionRefused):
    """The member has saved the maximum number of articles."""


class FollowedFull(ActionRefused):
    """The member follows the maximum number of groups."""


class HiddenFull(ActionRefused):
    """The reader hides the maximum number of groups, members, hosts or words."""


class CommentRemoved(ActionRefused):
    """A moderator removed the comment."""


class CommentNotRemoved(ActionRefused):
    """Only removed comments can be restored."""


class CommentVotingClosed(ActionRefused):
    """Voting on the comment has ended."""


class OwnComment(ActionRefused):
    """Authors cannot vote on their own comments."""


class OwnContent(ActionRefused):
    """Members cannot flag what they posted."""


class OwnMatter(ActionRefused):
    """Moderators do not decide on what concerns themselves, or what they posted."""


class DecidedForSite(ActionRefused):
    """A moderator of some groups would reverse what a moderator of the whole site decided."""


class FellowModerator(ActionRefused):
    """No act against members can be aimed at a member who has the permission for it."""


class OwnDecision(ActionRefused):
    """Moderators do not answer appeals against their own decisions while another one can."""


class AppealClosed(ActionRefused):
    """The decision can no longer be appealed, or is a ban, which has an appeal of its own."""


class FlagDecided(ActionRefused):
    """Moderators have decided on the member's flag: it can neither be changed nor taken back."""


class FlagsFull(ActionRefused):
    """The article or comment has the maximum number of flags."""


class OwnArticle(ActionRefused):
    """Members cannot suggest changes of what they posted."""


class NotTrustedYet(ActionRefused):
    """New members cannot suggest changes."""


class MayNotVouch(ActionRefused):
    """Only members in good standing vouch for others: not new, not banned, with votes and vouches that count."""


class NotOnProbation(ActionRefused):
    """Members vouch only for those whose votes wait."""


class VouchesFull(ActionRefused):
    """The member has vouched for as many members as is possible for now."""


class SuggestionNotFound(ActionRefused):
    """The article has no such open suggestion."""


class SuggestionClosed(ActionRefused):
    """The suggestion was applied or declined not long ago."""


class SuggestionUnchanged(ActionRefused):
    """The article has this title, or these groups, already."""


class SuggestionsFull(ActionRefused):
    """The article has the maximum number of open suggestions."""


class NotTheAuthor(ActionRefused):
    """Only the author may change or delete a comment."""


class DiscussionLocked(ActionRefused):
    """A moderator locked the article's discussion."""


class DiscussionNotLocked(ActionRefused):
    """Only locked discussions can be unlocked."""


class DiscussionFull(ActionRefused):
    """The article has had the maximum number of comments."""


class LimitReached(ArticlesError):
    """A rate limit is used up. `limit` is its name, `wait_ms` the time until the next use."""

    def __init__(self, limit: str, wait_ms: int = 0) -> None:
        super().__init__(limit)
        self.limit = limit
        self.wait_ms = wait_ms

    @property
    def retry_after(self) -> int:
        """Whole seconds to wait, at least 1."""
        return max(1, -(-self.wait_ms // 1000))


class NewMemberLimitReached(LimitReached):
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


class Banned(ActionRefused):
    """A moderator banned the member. `scope`: "posting", "voting" or "group".

    `ends_at`: in Unix seconds, if it ends; `group`: the title, for a ban from a group.
    """

    def __init__(self, scope: str, reason: str = "", ends_at: float | None = None, group: str = "") -> None:
        super().__init__(scope)
        self.group = group
        self.scope = scope
        self.reason = reason
        self.ends_at = ends_at


class RefusedByRule(ActionRefused):
    """A rule of the moderators refuses it. `sentence`: what the rule tells the member."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ChangeNeedsApproval(ActionRefused):
    """A rule would hold a post like this for approval, so its author cannot change it to that."""


class HeldForApproval(ArticlesError):
    """A rule holds the post until a moderator approves it. `number` is that of the held post."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class RuleNotTried(ActionRefused):
    """A rule can be switched on only after its current version was tried."""


class RulesFull(ActionRefused):
    """The maximum number of rules is on."""


class HeldDecided(ActionRefused):
    """A held post was decided or withdrawn."""


class AccountDeleted(ArticlesError):
    """The acting member's account is deleted or being deleted."""


class ParametersChanged(ActionRefused):
    """The ranking's parameters have changed since they were read. `version` is the current one."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class ChangeRunning(ActionRefused):
    """Another change of the parameters is being applied."""


class ImportRunning(ActionRefused):
    """Another import is running on this store."""


class ViewsArchived(ArticlesError):
    """The article's counters are archived in the database; restore them before recording a view."""


class StoreError(ArticlesError):
    """The store itself failed."""


class StoreUnavailable(StoreError):
    """The store is unreachable, or cannot serve at the moment; retrying later may help."""


class StoreUnconfirmed(StoreUnavailable):
    """The store received a command but did not answer: the change may have been made. It can be repeated."""


class StoreDamaged(StoreError):
    """What the store holds makes no sense to the site; the audit says where. Retrying does not help."""


class StoreUnfit(StoreError):
    """The site cannot use this store; the message is one sentence for the operator."""

"""What can go wrong, as facts. `refusals.py` says what readers, programs and operators see of each."""


class ArticlesError(Exception):
    """Root of everything the repository raises on purpose."""


class ArticleNotFound(ArticlesError):
    """There is no such article."""


class GroupNotFound(ArticlesError):
    """There is no such group. `moved_to` names the group it was merged into, if it was."""

    def __init__(self, slug: str, moved_to: str | None = None) -> None:
        super().__init__(slug)
        self.slug = slug
        self.moved_to = moved_to


class GroupExists(ArticlesError):
    """Another group has this slug, or this title."""


class PageNotFound(ArticlesError):
    """The list has no such page."""


class PageTooDeep(PageNotFound):
    """The list may go on, but is not paged through any further."""


class ActionRefused(ArticlesError):
    """The article's state does not permit the change."""


class VotingClosed(ActionRefused):
    """The voting window has ended."""


class ArticleRemoved(ActionRefused):
    """A moderator removed the article."""


class NotRemoved(ActionRefused):
    """Only removed articles can be restored."""


class NotThePoster(ActionRefused):
    """Only the poster or a moderator may do this."""


class EditingClosed(ActionRefused):
    """The poster's time for editing has ended."""


class DuplicateLink(ActionRefused):
    """Another recent article has the same link. `article_id` is that article."""

    def __init__(self, article_id: int) -> None:
        super().__init__(article_id)
        self.article_id = article_id


class SavedFull(ActionRefused):
    """The member has saved as many articles as one can."""


class MemberGone(ArticlesError):
    """The account of whoever asks is deleted, or about to be."""


class ParametersChanged(ActionRefused):
    """The ranking's parameters are no longer those the change was made from. `version` is the one in force."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class ChangeRunning(ActionRefused):
    """Other parameters are being applied just now."""


class ImportRunning(ActionRefused):
    """Another import is running on this store."""


class ViewsArchived(ArticlesError):
    """The article's counters are in the database: they have to be brought back before a view counts."""


class StoreError(ArticlesError):
    """The store itself."""


class StoreUnavailable(StoreError):
    """The store cannot be reached, or cannot serve right now; trying again later may help."""


class StoreUnfit(StoreError):
    """The store is not one the site can use; the message is one sentence for the operator."""

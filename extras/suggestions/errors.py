"""Why something about suggestions is refused."""

from articles.domain.errors import ActionRefused


class OwnArticle(ActionRefused, http=403, code="own-article", status="own_article"):
    """Members cannot suggest changes of what they posted."""


class NotTrustedYet(ActionRefused, http=403, code="not-trusted-yet"):
    """New members cannot suggest changes."""


class SuggestionNotFound(ActionRefused, http=404, code="suggestion-not-found", status="no_suggestion"):
    """The article has no such open suggestion."""


class SuggestionClosed(ActionRefused, code="suggestion-closed", status="suggestion_closed"):
    """The suggestion was applied or declined not long ago."""


class SuggestionUnchanged(ActionRefused, code="suggestion-unchanged", status="no_change"):
    """The article has this title, or these groups, already."""


class SuggestionsFull(ActionRefused, code="suggestions-full", status="suggestions_full"):
    """The article has the maximum number of open suggestions."""

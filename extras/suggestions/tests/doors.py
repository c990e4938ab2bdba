"""What the core's tests have of suggestions."""

from collections.abc import Mapping, Sequence

from accounts.models import User
from articles.repository import Repository
from extras.suggestions.store import Suggestions
from extras.suggestions.suggestions import SuggestionKind, joined_slugs, suggestion_id
from tests.cast import CAROL, MODERATOR

PAGES = (
    ("suggestions", "/articles/1/suggest/", "moderator"),
    ("suggestions, refused", "/articles/1/suggest/", "moderator", 400, {"title": ""}),
    ("suggestions for the poster", "/articles/{own}/suggest/", "poster"),
)
WITHOUT_PAGE = {"a form's target": "articles:act_on_suggestion articles:undo_suggestion"}
EXPORTED = ("suggestions",)

_ON, _ID = {"article_id": 1}, suggestion_id(SuggestionKind.TITLE, "A better title")
CALLS = (
    ("suggest_change", 200, "Suggested", "carol", _ON, ("NewSuggestion", {"title": "A better title"})),
    ("list_suggestions", 200, "Suggested", "alice", _ON),
    ("decide_suggestion", 200, "Suggested", "alice", {**_ON, "suggestion": _ID}, ("Decision", {"accepted": True})),
    ("undo_suggestion", 200, "Suggested", "alice", _ON, ("Undoing", {})),
    ("take_back_suggestion", 200, "Suggested", "carol", {**_ON, "suggestion": _ID}),
)
STATUSES = {
    "+409": (
        "get articles/*/suggestions; post articles/*/suggestions; put articles/*/suggestions/*; "
        "delete articles/*/suggestions/*; post articles/*/log/undo"
    )
}
API_PRIVATE = ("/suggestions",)
API_WHOLE_LISTS = {"list_suggestions": "suggestions"}
API_FACTS = {"list_suggestions": "groups"}
API_PARAMETERS = {"suggestion": "726d7a6e53e761a9"}
_PATH = "articles/{article_id:article_id}"
API_CHANGES = {
    f"POST {_PATH}/suggestions": {"title": "Another"},
    f"PUT {_PATH}/suggestions/{{suggestion}}": {"accepted": True},
    f"DELETE {_PATH}/suggestions/{{suggestion}}": None,
    f"POST {_PATH}/log/undo": {},
}
ARTICLE_FORMS = {
    "suggest": {"title": "Another"},
    "suggest/act": {"act": "accept"},
    "suggest/undo": {"at": "1.000"},
}


def stage(told: Mapping[str, object], repository: Repository) -> None:
    """Let two members suggest other titles of the poster's article."""
    for name, title in (("mia", "A much better title"), ("olga", "x" * 150)):
        member = User.objects.get(canonical_name=name)
        Suggestions(repository.store).support(told["own"], member.pk, SuggestionKind.TITLE, title, quorum=3)


def mark(repository: Repository, article_id: int, members: Sequence[User]) -> None:
    """Let two members suggest a title and no groups."""
    suggestions = Suggestions(repository.store)
    for one, kind, to in zip(members, SuggestionKind, ("Better", ""), strict=True):
        suggestions.support(article_id, one.pk, kind, to, quorum=2)


def use_store(repository: Repository, article_id: int, slugs: list[str], more: list[str]) -> None:
    """Suggest a title and groups, which two members support, then more groups, accepted, and a title, declined.

    Suggest another title, and take that back; then one that stays open.
    """
    suggestions = Suggestions(repository.store)
    for member in (81, 82):
        suggestions.support(article_id, member, SuggestionKind.TITLE, "Best", quorum=2)
        suggestions.support(article_id, member, SuggestionKind.GROUPS, joined_slugs(slugs), quorum=2)
    suggestions.support(article_id, CAROL, SuggestionKind.TITLE, "Better", quorum=2)
    suggestions.support(article_id, CAROL, SuggestionKind.GROUPS, joined_slugs(more), quorum=2)
    for one in suggestions.list_open(repository.articles.get(article_id, with_html=True)):
        suggestions.decide(article_id, MODERATOR, one, accepted=one.kind is SuggestionKind.GROUPS)
    suggestions.support(article_id, 83, SuggestionKind.TITLE, "Last", quorum=2)
    suggestions.withdraw(83)
    suggestions.support(article_id, CAROL, SuggestionKind.TITLE, "Open", quorum=2)

"""Cast votes by forms, and by the script that sends the forms without leaving the page."""

from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.web import sent_forms
from accounts.web.form_pages import prefers_json
from accounts.web.sent_forms import comes_from_elsewhere
from articles.domain.articles import Choice, Tally
from articles.domain.comments import CommentId
from articles.views.lists.refresh import counts, sentence
from articles.web import error_pages, votes
from articles.web.form_answers import Done, form_or_script, login_first, way_back
from articles.web.wiring import repository


def place_on_page(request: HttpRequest, fragment: str, own_page: str, number: int) -> str:
    """Return the address of a part of the page of the form, or that of its own page, a view, if none is named."""
    if page := way_back(request):
        return urlsplit(page)._replace(fragment=fragment).geturl()
    return reverse(own_page, args=[number])


def row_of(request: HttpRequest, article_id: int) -> str:
    """Return the address of the article's row on the page of the form, or of its own page if none is named."""
    return place_on_page(request, f"article-{article_id}", "articles:article", article_id)


def _button_label(request: HttpRequest, article_id: int) -> str:
    labels = {"vote": _("Vote for “%(title)s”"), "oppose": _("Oppose “%(title)s”")}
    label = labels.get(sent_forms.sent(request).get("choice", ""), _("Take back your vote on “%(title)s”"))
    return label % {"title": repository().articles.get(article_id).title}


def _choice_in(request: HttpRequest) -> Choice | None:
    """Return the choice that the form names, if any. As a target state it can be sent twice."""
    with suppress(ValueError):
        return Choice(request.POST.get("choice", ""))
    return None


def cast_by_form(
    request: HttpRequest,
    cast: Callable[[Choice], Tally],
    shown_as: int | str,
    *,
    place: Callable[[], str],
    **subject: int,
) -> Done | HttpResponse:
    """Set the member's choice by `cast`. Readers without an account are sent to the login page with it.

    Their form has no token, but it must be on a page of this site: no other site chooses for them. `shown_as`:
    where the page shows the counts. `place()`: where the login returns to. `subject`: the article or the comment.
    """
    choice = _choice_in(request)
    if choice is None or (not request.user.is_authenticated and comes_from_elsewhere(request)):
        return error_pages.page(request, 400)
    if not request.user.is_authenticated:
        reason = _("You are logged out. Log in to vote.")
        return login_first(request, reason, next=place(), **subject, choice=choice.value)
    tally = cast(choice)
    return Done(counts(shown_as, tally) | {"told": sentence(tally)}) if prefers_json(request) else Done()


@form_or_script(page=row_of, button=_button_label)
def cast_vote(request: HttpRequest, article_id: int) -> Done | HttpResponse:
    """Set the member's choice on an article."""
    return cast_by_form(
        request,
        lambda choice: votes.cast(request, request.user, article_id, choice),
        article_id,
        place=lambda: row_of(request, article_id),
        article=article_id,
    )


def _comment_on_page(request: HttpRequest, comment_id: CommentId) -> str:
    """Return the address of the comment on the page of the form, or of its own page if none is named."""
    return place_on_page(request, f"comment-{comment_id}", "articles:comment", comment_id)


def _button_label_of_comment(request: HttpRequest, comment_id: CommentId) -> str:
    labels = {"vote": _("Vote for the comment by %(name)s"), "oppose": _("Oppose the comment by %(name)s")}
    back = _("Take back your vote on the comment by %(name)s")
    label = labels.get(sent_forms.sent(request).get("choice", ""), back)
    return label % {"name": repository().comments.get(comment_id).author_name}


@form_or_script(page=_comment_on_page, button=_button_label_of_comment)
def cast_vote_on_comment(request: HttpRequest, comment_id: int) -> Done | HttpResponse:
    """Set the member's choice on a comment."""
    return cast_by_form(
        request,
        lambda choice: votes.cast_on_comment(request, request.user, comment_id, choice),
        f"comment-{comment_id}",
        place=lambda: _comment_on_page(request, comment_id),
        comment=comment_id,
    )

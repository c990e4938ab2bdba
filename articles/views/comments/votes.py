"""Cast votes on comments by forms, and by the script that sends the forms without leaving the page."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.web import unsent_form
from articles.domain.discussion.comments import CommentId
from articles.views.votes import cast_by_form, place_on_page
from articles.web import votes
from articles.web.form_answers import Done, form_or_script
from articles.wiring import repository


def _comment_on_page(request: HttpRequest, comment_id: CommentId) -> str:
    """Return the address of the comment on the page of the form, or of its own page if none is named."""
    return place_on_page(request, f"comment-{comment_id}", reverse("articles:comment", args=[comment_id]))


def _button_label(request: HttpRequest, comment_id: CommentId) -> str:
    name = {"name": repository().comments.get(comment_id).author_name}
    match unsent_form.sent(request).get("choice"):
        case "vote":
            return _("Vote for the comment by %(name)s") % name
        case "oppose":
            return _("Oppose the comment by %(name)s") % name
        case _:
            return _("Take back your choice on the comment by %(name)s") % name


@form_or_script(page=_comment_on_page, button=_button_label)
def cast_vote(request: HttpRequest, comment_id: int) -> Done | HttpResponse:
    """Set the member's choice on a comment."""
    return cast_by_form(
        request,
        lambda choice: votes.cast_on_comment(request, request.user, comment_id, choice),
        f"comment-{comment_id}",
        place=lambda: _comment_on_page(request, comment_id),
        comment=comment_id,
    )

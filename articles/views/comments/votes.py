"""Cast votes on comments by forms, and by the script that sends the forms without leaving the page."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.web import unsent_form
from accounts.web.origin import comes_from_elsewhere
from articles.domain.discussion.comments import CommentId
from articles.forms.votes import ChoiceForm
from articles.views.lists.article_counts import counts, sentence
from articles.web import error_pages
from articles.web.form_answers import Done, form_or_script, login_first, way_back
from articles.wiring import repository


def _comment_on_page(request: HttpRequest, comment_id: CommentId) -> str:
    """Return the address of the comment on the page of the form, or of its own page if none is named."""
    page = way_back(request)
    if not page:
        return reverse("articles:comment", args=[comment_id])
    return urlsplit(page)._replace(fragment=f"comment-{comment_id}").geturl()


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
    """Set the member's choice, as `articles.views.votes.cast_vote` does for an article."""
    form = ChoiceForm(request.POST)
    if not form.is_valid() or (not request.user.is_authenticated and comes_from_elsewhere(request)):
        return error_pages.page(request, 400)
    choice = form.choice_made
    if not request.user.is_authenticated:
        return login_first(
            request,
            _("You are logged out. Log in, and your choice will be counted."),
            next=_comment_on_page(request, comment_id),
            comment=comment_id,
            choice=choice.value,
        )
    tally = repository().comments.cast(comment_id, request.user.pk, choice)
    return Done(counts(f"comment-{comment_id}", tally) | {"told": sentence(tally)})

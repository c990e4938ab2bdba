"""The page of a comment: the branch of the discussion that begins with it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.forms.comments import CommentForm
from articles.views.comments.discussion import discussion_with, order_of, place_in
from articles.web.addresses import site_address
from articles.web.identity import reader_id
from articles.wiring import repository


@require_safe
def branch(request: HttpRequest, comment_id: int) -> HttpResponse:
    """Show a comment with its replies, and links to what it replies to. Not a view of the article."""
    repo, order, place = repository(), order_of(request), place_in(request)
    thread = repo.comments.get_branch(comment_id, order, reader=reader_id(request), part=place.part)
    comment = thread.comments[0]
    article = repo.articles.get(comment.article, reader_id(request))
    whole = reverse("articles:article", args=[article.id])
    address = reverse("articles:comment", args=[comment_id])
    context = {
        "article": article,
        "comment": comment,
        "top": thread.ancestors[0] if len(thread.ancestors) > 1 else None,
        "canonical": site_address(request) + whole,
        "discussion": discussion_with(request, article, thread, address, parent=comment),
        "comment_form": CommentForm(initial={"parent": comment_id}),
    }
    return render(request, "comments/page.html", context)

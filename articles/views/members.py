"""The pages of a member: articles and comments."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.views.lists.paging import numbered_pager, page_number
from articles.web.addresses import moved
from articles.web.identity import member_named, reader_id
from articles.wiring import repository


@require_safe
def profile(request: HttpRequest, name: str) -> HttpResponse:
    member = member_named(name)
    if member.get_username() != name:
        return moved(reverse("articles:profile", args=[member.get_username()]), request.GET.urlencode())
    number, repo = page_number(request), repository()
    page = repo.members.get_posted(member.pk, number, reader_id(request))
    context = {
        "member": member,
        "articles": page.articles,
        "removed": repo.removed_articles.describe([one.id for one in page.removed], with_html=True),
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "now": repo.store.now(),
        "is_blocked": request.user.is_authenticated and request.user.blocks.filter(blocked=member).exists(),
    }
    return render(request, "lists/profile.html", context)


@require_safe
def comments(request: HttpRequest, name: str) -> HttpResponse:
    """Show the member's comments, newest first; to the member also removed ones. Three round trips, or five."""
    member = member_named(name)
    if member.get_username() != name:
        return moved(reverse("articles:member_comments", args=[member.get_username()]), request.GET.urlencode())
    number, repo = page_number(request), repository()
    latest, has_next = repo.comments.get_page_by(member.pk, number)
    articles = {article.id: article for article in repo.articles.get_many(sorted({one.article for one in latest}))}
    is_own = reader_id(request) == member.pk
    removals = {one.comment.id: one.removal for one in repo.removed_comments.describe(latest)} if is_own else {}
    shown = [
        (comment, article, removals.get(comment.id))
        for comment in latest
        if (article := articles.get(comment.article))
        and (comment.id in removals or (comment.is_shown and article.removed is None))
    ]
    pager = numbered_pager(number, has_next=has_next)
    return render(request, "comments/member.html", {"member": member, "comments": shown, "pager": pager})

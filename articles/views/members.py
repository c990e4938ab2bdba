"""The page of a member."""

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
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "now": repo.store.now(),
    }
    return render(request, "lists/profile.html", context)

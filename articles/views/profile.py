"""A member's page."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from articles.people import member_named, reader_id
from articles.views.paging import page_number
from articles.wiring import repository


@require_safe
def profile(request: HttpRequest, name: str) -> HttpResponse:
    member = member_named(name)
    if member.get_username() != name:
        return redirect("articles:profile", member.get_username(), permanent=True)
    number = page_number(request)
    found = repository()
    articles, has_next = found.articles.posted_by(member.pk, number, reader_id(request))
    if number > 1 and not articles and not has_next:
        raise Http404(f"page {number}")
    context = {
        "member": member,
        "articles": articles,
        "number": number,
        "has_next": has_next,
        "now": found.store.now(),
    }
    return render(request, "articles/profile.html", context)

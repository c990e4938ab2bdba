"""The page that describes how the site works."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from articles.wiring import rules


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "about.html", {"rules": rules()})

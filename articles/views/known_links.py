"""Whether a link was posted already, for the form that asks while it is typed."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles.formatting.values import age
from articles.text.lines import InvalidInput
from articles.text.links import clean_link
from articles.wiring import repository


@never_cache
@require_safe
def known_link(request: HttpRequest) -> HttpResponse:
    """The article to which posting `?link=` would lead, in a sentence with its address; {} if there is none.

    For members, as posting is. What is no link, or not yet, is not known.
    """
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    try:
        article = repository().articles.find_by_link(clean_link(request.GET.get("link", "")))
    except InvalidInput:
        article = None
    if article is None:
        return JsonResponse({})
    values = {"ago": age(article.posted_at), "title": article.title}
    told = _("This link was posted %(ago)s: “%(title)s”") % values
    return JsonResponse({"told": told, "address": reverse("articles:article", args=[article.id])})

"""Pages of moving in: the sitemap of old addresses."""

from django.conf import settings
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from articles.views.crawlers import MOST_IN_A_FILE
from articles.web.caching import CRAWLER_SECONDS
from extras.moving_in import addresses
from extras.moving_in.models import Arrival


def _parts() -> int:
    return -(-(Arrival.objects.aggregate(last=Max("pk"))["last"] or 0) // MOST_IN_A_FILE)


def sitemaps() -> list[str]:
    """Return the paths of the parts. One query, none without a former host."""
    if not settings.OLD_HOSTS:
        return []
    return [reverse("articles:old_addresses", args=[number + 1]) for number in range(_parts())]


@require_safe
def old_addresses(request: HttpRequest, number: int) -> HttpResponse:
    """Return part `number` of the sitemap of old addresses, which lead crawlers to the new ones."""
    if not 0 < number <= _parts():
        raise Http404(f"part {number}")
    lines = addresses.describe_part(request, number, MOST_IN_A_FILE)
    response = HttpResponse("\n".join(lines), content_type="application/xml; charset=utf-8")
    patch_cache_control(response, public=True, max_age=CRAWLER_SECONDS)
    return response


urlpatterns = [path("sitemap-old-addresses-<int:number>.xml", old_addresses, name="old_addresses")]

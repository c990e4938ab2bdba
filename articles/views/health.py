"""Health checks for load balancers and supervisors."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles.domain.errors import StoreError
from articles.wiring import repository


@never_cache
@require_safe
def alive(_request: HttpRequest) -> HttpResponse:
    """Return 200 whenever the web server responds."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Return 200 if the store responds too, otherwise 503."""
    try:
        with repository().store.commands() as client:
            client.ping()
    except StoreError as error:
        return HttpResponse(f"store: {type(error).__name__}\n", status=503, content_type="text/plain")
    return HttpResponse("ready\n", content_type="text/plain")

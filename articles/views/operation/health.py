"""Health checks for load balancers and supervisors."""

import shutil
from collections.abc import Iterator
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles import known_store
from articles.doctor.machine import LEAST_FREE_BYTES
from articles.doctor.proxy import arrival_of, as_json
from articles.domain.errors import StoreError
from articles.domain.operation.store_address import ANY_SITE
from articles.wiring import repository


@never_cache
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """Return 200 whenever the web server responds; to the doctor, also how its request arrived."""
    if arrival := arrival_of(request):
        return HttpResponse(as_json(arrival), content_type="application/json")
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Return 200 if everything that a change needs works, otherwise 503 with one line for each obstacle."""
    obstacles = [*_of_the_store(), *_of_the_accounts(), *_of_the_disk()]
    text = "".join(f"{obstacle}\n" for obstacle in obstacles) or "ready\n"
    return HttpResponse(text, status=503 if obstacles else 200, content_type="text/plain")


def _of_the_store() -> list[str]:
    try:
        return [f"store: {obstacle}" for obstacle in repository().inspection.list_obstacles()]
    except StoreError as error:
        return [f"store: {type(error).__name__}"]


def _of_the_accounts() -> Iterator[str]:
    try:
        known = known_store.known_site()
        with suppress(StoreError):
            if known not in (ANY_SITE, repository().site_id):
                yield "accounts: they were emptied or replaced"
    except DatabaseError as error:
        yield f"accounts: {type(error).__name__}"


def _of_the_disk() -> Iterator[str]:
    free = free_bytes()
    if free < LEAST_FREE_BYTES:
        yield f"disk: {free // 1_000_000} MB left"


def free_bytes() -> int:
    """Return the free space on the disk of DATA_DIR."""
    return shutil.disk_usage(settings.DATA_DIR).free

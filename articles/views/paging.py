"""Page numbers in addresses."""

import re

from django.http import Http404, HttpRequest

_PAGE = re.compile("[1-9][0-9]{0,8}")


def page_number(request: HttpRequest) -> int:
    """`?page=`, 1 where it is absent. Raises Http404 for what is no page number."""
    text = request.GET.get("page", "1")
    if not _PAGE.fullmatch(text):
        raise Http404(f"no page number: {text!r}")
    return int(text)

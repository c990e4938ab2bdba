"""Forms with stale tokens, and sessions that last as long as their member comes."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_CSRF_TOKEN_MISSING, REASON_NO_CSRF_COOKIE, CsrfViewMiddleware

from accounts import typed
from accounts.origin import comes_from_elsewhere

_STALE = (REASON_NO_CSRF_COOKIE, REASON_CSRF_TOKEN_MISSING, "CSRF token from POST", "CSRF cookie ")
"""How the reasons begin for which a form of this site may be sent again; none of them is a foreign origin."""


class FormTokenMiddleware(CsrfViewMiddleware):
    """Django's check, but a form of this site whose token is stale comes back to its member.

    Tokens change with each login, so forms in other tabs are stale after it. Such a POST is turned into a GET
    before the view runs: nothing can be done by it. Views take part by `pages.page_with_form` or
    `pages.form_action`. Any other view answers 403, and so does every view to a form sent from another site.
    """

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse | None:
        gives_back = request.resolver_match and hasattr(request.resolver_match.func, "gives_back")
        is_stale = request.method == "POST" and reason.startswith(_STALE) and not comes_from_elsewhere(request)
        if gives_back and is_stale:
            typed.make_stale(request)
            return None
        refused: HttpResponse = super()._reject(request, reason)  # type: ignore[misc]
        return refused

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Nothing was done, so no page is a success; what follows sees the method that came."""
        if typed.is_stale(request):
            request.method = "POST"
            if response.status_code == 200:
                response.status_code = 403
        return super().process_response(request, response)

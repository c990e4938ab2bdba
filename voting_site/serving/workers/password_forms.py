"""Forms with passwords, and logins at providers, with threads of their own: no page waits for them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.urls import Resolver404, resolve

MOST_WAITING = 20
"""Forms of one worker that wait for their turn or are being answered; further ones are refused at once."""


_AT_PROVIDERS = "/login/with/"


def checks_password(scope: Any) -> bool:
    """Return whether the request is a form with a password, or may wait for a provider."""
    from articles.web.limits import AT_PROVIDERS, PASSWORD_FORMS  # noqa: PLC0415 - its apps are loaded after this

    if scope.method != "POST" and not scope.path.startswith(_AT_PROVIDERS):
        return False
    try:
        return resolve(scope.path).view_name in PASSWORD_FORMS | AT_PROVIDERS
    except Resolver404:
        return False


class PasswordForms:
    def __init__(self, threads: int, is_one: Callable[[Any], bool] = checks_password) -> None:
        self.pool = ThreadPoolExecutor(threads, "password")
        self.is_one = is_one
        self.waiting = 0

    @property
    def are_too_many(self) -> bool:
        return self.waiting >= MOST_WAITING

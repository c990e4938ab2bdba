"""The busiest addresses in every circumstance: what each refuses to whom, and the headers of every response."""

from contextlib import ExitStack

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection

from accounts.models import BanScope, Token
from articles.domain.limits import ANONYMOUS_SHARE, Rate
from articles.web import wiring
from moderation.bans import ban
from tests.factories import actor, browser_of, comment_on

LIST, ARTICLE, API = "/", "/articles/1/", "/api/articles/1/vote"
FORMS = {
    "/articles/1/vote/": b"choice=vote&next=/",
    "/articles/1/comments/": b"text=A+comment",
    "/comments/1000001/vote/": b"choice=oppose&next=/",
}
FORM, JSON = "application/x-www-form-urlencoded", "application/json"

ON_ALL = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Language": "zh-hans",
}

STATUSES = [
    # circumstance, who, statuses: list, article, vote, comment, vote on a comment, vote by the API
    ("usual", "reader", (200, 200, 302, 403, 302, 401)),  # the forms of readers lead to the login
    ("usual", "member", (200, 200, 302, 302, 302, 200)),
    ("usual", "banned", (200, 200, 302, 403, 302, 403)),  # after a vote, a message says why
    ("packed", "reader", (200, 200, 302, 403, 302, 401)),
    ("packed", "member", (200, 200, 302, 302, 302, 200)),
    ("HEAD", "reader", (200, 200, 405, 302, 405, 405)),
    ("HEAD", "member", (200, 200, 405, 200, 405, 405)),
    ("without a token", "reader", (200, 200, 302, 403, 302, 401)),
    ("without a token", "member", (200, 200, 403, 403, 403, 403)),
    ("from another site", "reader", (200, 200, 400, 403, 400, 401)),
    ("from another site", "member", (200, 200, 403, 403, 403, 401)),
    ("for another host", "reader", (400,) * 6), ("for another host", "member", (400,) * 6),
    ("too large", "reader", (413,) * 6), ("too large", "member", (413,) * 6),
    ("not UTF-8", "reader", (400,) * 6), ("not UTF-8", "member", (400,) * 6),
    ("limits used up", "reader", (200, 200, 302, 429, 302, 401)),
    ("limits used up", "member", (200, 200, 429, 429, 429, 429)),
    ("limits used up", "banned", (200, 200, 302, 429, 302, 403)),
    ("store away", "reader", (503, 503, 302, 403, 302, 401)),
    ("store away", "member", (503,) * 6),
    ("accounts away", "reader", (200, 200, 302, 403, 302, 401)),
    ("accounts away", "member", (503,) * 6),
]  # fmt: skip

CHECKS_TOKENS = ("without a token", "from another site")


@pytest.fixture
def site(site_store, article, alice, mallory, carol):
    comment_on(site_store, article, "A comment", alice.pk)
    ban(mallory, BanScope.BOTH, "Nothing but spam", days=7, moderator=actor(carol))
    return site_store


@pytest.fixture
def circumstances(site, settings, limits):
    """Arrange a circumstance; return the headers that its requests have."""

    def arrange(circumstance, stack):
        match circumstance:
            case "packed":
                return {"accept-encoding": "gzip"}
            case "from another site":
                return {"sec-fetch-site": "cross-site"}
            case "for another host":
                return {"host": "evil.example"}
            case "limits used up":
                limits(votes=Rate(1, 600), changes=Rate(1, 600))
            case "store away":
                settings.STORE_URL = "unix:///nowhere/store.sock"
                wiring.forget_repositories()
            case "accounts away":
                cache.clear()
                stack.enter_context(connection.execute_wrapper(locked))
        return {}

    return arrange


def locked(*_):
    raise OperationalError("database is locked")


@pytest.mark.deep
@pytest.mark.parametrize(("circumstance", "who", "statuses"), STATUSES)
def test_each_circumstance_is_answered_with_all_headers(circumstances, bob, mallory, circumstance, who, statuses):
    user = {"member": bob, "banned": mallory}.get(who)
    browser = browser_of(user, strict=circumstance in CHECKS_TOKENS)
    program = {} if user is None else {"authorization": f"Bearer {Token.objects.issue(user, 'a program')[1]}"}
    with ExitStack() as stack:
        headers = {"accept-language": "zh"} | circumstances(circumstance, stack)

        def ask(address):
            method, body, kind, own = "GET", b"", FORM, headers
            if address in FORMS:
                method, body = "POST", FORMS[address]
            elif address == API:
                method, body, kind = "PUT", b'{"choice": "vote"}', JSON
                own = headers if circumstance in CHECKS_TOKENS else headers | program
            if circumstance == "too large":
                body = b"x" * 1_000_001
            elif circumstance == "not UTF-8":
                address, body = f"{address}?q=%ff", b"choice=%ff"
            method = "HEAD" if circumstance == "HEAD" else method
            return browser.generic(method, address, body, kind, headers=own)

        addresses = (LIST, ARTICLE, *FORMS, API)
        if circumstance == "limits used up":
            for address in ANONYMOUS_SHARE * addresses:
                ask(address)
        answers = {address: ask(address) for address in addresses}

    assert tuple(answer.status_code for answer in answers.values()) == statuses
    for address, answer in answers.items():
        sent = answer.headers
        assert {name: sent.get(name) for name in ON_ALL} == ON_ALL, address
        assert "default-src" in sent["Content-Security-Policy"], address
        assert "camera=()" in sent["Permissions-Policy"], address
        assert {"Accept-Language", "Cookie"} <= set(sent["Vary"].split(", ")), address
        is_shared = user is None and (address, answer.status_code) in ((LIST, 200), (API, 405))
        assert ("public" in sent.get("Cache-Control", "")) == is_shared, address
        is_private = {"private", "no-store"} & set(sent.get("Cache-Control", "").split(", "))
        assert is_private or user is None, address
        assert (answer.status_code in (429, 503)) == ("Retry-After" in sent), address
        assert (answer.status_code == 405) == ("Allow" in sent), address
        is_packed = circumstance == "packed" and answer.status_code in (200, 403) and address != API
        assert ("Content-Encoding" in sent) == is_packed, address
        if circumstance == "HEAD":
            assert answer.content == b"", address
            assert (sent["Content-Length"] == "0") == (answer.status_code == 302), address
        elif answer.status_code >= 400 and not is_packed:
            said = answer.json()["error"]["message"] if address == API else answer.text
            assert address == API or '<html lang="zh-Hans"' in said, address
            assert any("\u4e00" <= letter <= "\u9fff" for letter in said), "it says why in the reader's language"

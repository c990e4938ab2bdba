"""A browser with cookies, which sends the forms of a running site."""

import http.cookiejar
import re
import urllib.parse
import urllib.request

from tests.cast import PASSWORD
from tests.site_process import Site


class FormBrowser:
    """One visitor. Raises HTTPError for a status from 400 on."""

    def __init__(self, site: Site) -> None:
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.visit(site)

    def visit(self, site: Site) -> None:
        """Go to another web node, with the same cookies, as a load balancer sends a reader."""
        self._site = f"http://127.0.0.1:{site.port}"

    def get(self, path: str) -> str:
        return str(self._opener.open(self._site + path, timeout=60).read().decode())

    def send(self, page: str, path: str, **fields: str) -> str:
        form = re.search(r'name="csrfmiddlewaretoken" value="([^"]*)"', self.get(page))
        assert form, f"no form on {page}"
        body = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": form[1]}).encode()
        return str(self._opener.open(self._site + path, body, timeout=60).read().decode())

    def sign_up(self, name: str) -> str:
        return self.send("/signup/", "/signup/", username=name, password1=PASSWORD, password2=PASSWORD)

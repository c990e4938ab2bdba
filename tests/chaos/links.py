"""A client's connection to the site."""

import http.client
import time

CUT = "cut"  # in place of a status: no answer came
_TIMEOUT_SECONDS = 60.0


class Link:
    """A kept-alive connection to the site."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_SECONDS)

    def ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[str, float, str]:
        """Return status, seconds and body; CUT if no whole answer came."""
        began = time.monotonic()
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return CUT, time.monotonic() - began, type(error).__name__
        return str(answer.status), time.monotonic() - began, text

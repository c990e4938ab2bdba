"""The world outside in a trial of networks: a mail server at port 25 and a receiver of webhooks at port 80.

python -m tests.deploy.outside <address> <folder>: each mail is a file in `mails`, each request one in `requests`.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path

from aiosmtpd.controller import Controller

ADDRESS, FOLDER = sys.argv[1], Path(sys.argv[2])
_numbers = count()


def keep(kind: str, content: bytes) -> None:
    draft = FOLDER / f"{next(_numbers)}"
    draft.write_bytes(content)
    draft.rename(FOLDER / kind / draft.name)


class Mails:
    async def handle_DATA(self, _server: object, _session: object, envelope: object) -> str:
        keep("mails", envelope.content)  # type: ignore[attr-defined]
        return "250 queued outside"


class Requests(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        keep("requests", self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    for kind in ("mails", "requests"):
        (FOLDER / kind).mkdir(parents=True)
    Controller(Mails(), hostname=ADDRESS, port=25).start()
    threading.Thread(target=HTTPServer((ADDRESS, 80), Requests).serve_forever, daemon=True).start()
    (FOLDER / "ready").touch()
    threading.Event().wait()

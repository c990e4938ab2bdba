"""A server that answers as the API of Lemmy, and what has to come from it."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

from extras.moving_in.tests.lemmy_rows import STAGED, api_page


class Api:
    """An API that answers by `api_page`, and that can fail: `failures` has what comes first, and answers are cut
    off that have more than `most`."""

    def __init__(self):
        self.asked, self.failures, self.most = [], [], 50


@contextmanager
def serving(api):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            api.asked.append(self.path)
            url = urlsplit(self.path)
            status = api.failures.pop(0) if api.failures else 200
            query = dict(parse_qsl(url.query))
            body = json.dumps(api_page(url.path.removeprefix("/api/v3/"), query)).encode()
            whole = int(query.get("limit", 1)) <= api.most
            self.send_response(status)
            self.end_headers()
            self.wfile.write((body if whole else body[:-1]) if status == 200 else b"{}")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


NEVER = ("vote", "saved", "hidden", "follow")


def without(staged, *columns):
    return [tuple(None if place in columns else one for place, one in enumerate(row)) for row in staged]


def of_api():
    """Return what has to come from the API: no votes of members, and what was removed by the log alone."""
    members = [row for row in without(STAGED["member"], 5, 6) if row[0] != "gone"]
    articles = [row if row[0] != "33" else (*row[:6], 0, *row[7:]) for row in STAGED["article"] if row[0] != "34"]
    tags = [row for row in STAGED["article_tag"] if row[0] != "34"]
    told = {table: rows for table, rows in STAGED.items() if table not in NEVER}
    return {**told, "member": members, "article": articles, "article_tag": tags}

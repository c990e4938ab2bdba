"""A static copy as its readers get it: served from its folder, with all that its pages link to."""

import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urldefrag, urljoin


class Page(HTMLParser):
    """A page: its links, what it loads, its ids, its tags, and the names of attributes."""

    def __init__(self, source):
        super().__init__()
        self.source, self.links, self.loads, self.ids, self.tags, self.names = source, [], [], [], set(), set()
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        self.names |= given.keys()
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.loads += [given["href"]] if tag == "link" else [given["src"]] if "src" in given else []


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """Serve the folder as `python -m http.server` does; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def walked(site):
    """Follow all links from the front page; return pages by address, how many clicks each takes, and faults."""
    pages, clicks, waiting, faults, anchors, loaded = {}, {"/": 0}, ["/"], [], [], set()
    while waiting:
        address = waiting.pop(0)
        try:
            answer = urllib.request.urlopen(site + address)
        except urllib.error.HTTPError as error:
            faults.append(f"{address}: {error.code}")
            continue
        if answer.url != site + address:
            faults.append(f"{address}: leads to {answer.url}")
        if answer.headers["Content-Type"].partition(";")[0] != "text/html":
            continue
        page = pages[address] = Page(answer.read().decode())
        for link in page.links:
            target, anchor = urldefrag(urljoin(address, link))
            if target.startswith("/"):
                anchors += [(address, target, anchor)] if anchor else []
                if target not in clicks:
                    clicks[target] = clicks[address] + 1
                    waiting.append(target)
        loaded |= set(page.loads)
    for path in loaded:
        try:
            urllib.request.urlopen(site + path)
        except (ValueError, urllib.error.HTTPError) as error:
            faults.append(f"{path}: {error}")
    faults += [f"{a}: {t}#{id_}" for a, t, id_ in anchors if t in pages and id_ not in pages[t].ids]
    return pages, clicks, faults

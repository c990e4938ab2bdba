"""A proxy in front of a site, which adds the headers that a test chooses."""

import shutil
import ssl
import subprocess
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


def new_certificate(folder: Path) -> Path:
    """Return a file with a new certificate for localhost and its key; skip the test where there is no openssl."""
    file = folder / "certificate.pem"
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(file))
    name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", f"{file}.part")
    subprocess.run(["openssl", "req", "-x509", *key, *name], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + Path(f"{file}.part").read_bytes())
    return file


class Forwarder:
    """`headers` replace those of a request, with the values that a right proxy would send at the beginning."""

    def __init__(self, port: int, certificate: Path | None = None) -> None:
        """Forward to this port of this machine; with a certificate, what comes by https."""
        forwarder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                link = HTTPConnection("127.0.0.1", port, timeout=60)
                link.request("GET", self.path, headers=dict(self.headers) | forwarder.headers)
                answer = link.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                link.close()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if certificate else "http"
        self.host = f"localhost:{self._server.server_address[1]}"
        self.address = f"{scheme}://{self.host}"
        self.headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-For": "203.0.113.7"}
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)

"""Run gunicorn as a child process that never outlives this one."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from articles.operation import metric_files
from voting_site.configuration.hosts import in_address
from voting_site.embedded import launch

STOP_TIMEOUT = 8.0
"""Seconds for current requests to finish."""


class CannotServe(Exception):
    """The web server cannot start; the message is one sentence for the operator."""


def check_free(host: str, port: int) -> None:
    """Raise CannotServe if the address is in use. Called before anything else is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise CannotServe(
            f"Cannot listen on {in_address(host)}:{port}: {error.strerror}. Set HOST or PORT to a different value."
        ) from error


def start(host: str, port: int) -> "subprocess.Popen[bytes]":
    """Start gunicorn. Only this process gets the terminal's Ctrl-C; on Linux gunicorn ends with this thread."""
    gunicorn = [
        *(sys.executable, "-m", "gunicorn", "voting_site.wsgi:application"),
        *("--bind", f"{in_address(host)}:{port}"),
        *("--worker-class", "gthread", "--preload"),
        *("--workers", str(settings.CONFIGURATION["WEB_WORKERS"])),
        *("--threads", str(settings.CONFIGURATION["WEB_THREADS"])),
        *("--timeout", "30", "--graceful-timeout", str(int(STOP_TIMEOUT) - 1), "--keep-alive", "5"),
        *("--max-requests", "50000", "--max-requests-jitter", "5000"),
        *("--no-control-socket", "--log-level", "warning"),
        *("--config", "python:voting_site.serving.gunicorn_hooks"),
    ]
    environment = os.environ | {metric_files.VARIABLE: str(_empty_metrics_folder(host, port))}
    launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
    return subprocess.Popen(  # noqa: S603
        [*launcher, *gunicorn], start_new_session=True, cwd=settings.BASE_DIR, env=environment
    )


def _empty_metrics_folder(host: str, port: int) -> Path:
    """Return the emptied folder for the workers' metrics, one per address: sites may share a data directory."""
    folder = Path(settings.DATA_DIR) / "metrics" / f"{host.replace(':', '.')}-{port}"
    folder.mkdir(parents=True, exist_ok=True)
    metric_files.empty(folder)
    return folder


def wait_until_listening(
    server: "subprocess.Popen[bytes]", host: str, port: int, stopping: Callable[[], bool]
) -> None:
    """Block until the server accepts connections, or until `stopping()`. Raises CannotServe if it ends."""
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - where to connect
    while not stopping():
        if server.poll() is not None:
            raise CannotServe(f"The web server ended with status {server.returncode}; see the lines above.")
        try:
            socket.create_connection((target, port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def stop(server: "subprocess.Popen[bytes]") -> None:
    """Stop the server after its current requests. Kill it after STOP_TIMEOUT."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()

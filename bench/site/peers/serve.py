"""Serve another WSGI application with the site's web server: python -m bench.site.peers.serve DESCRIPTORS PATIENCE

DJANGO_SETTINGS_MODULE names its settings. Workers, threads and limits are those of the site; what the site puts
around its own application is not there.
"""

import os
import signal
import socket
import sys
from functools import partial

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from voting_site.serving.signals import Signals
from voting_site.serving.workers.pool import Pool


def main() -> None:
    from voting_site.serving.workers import gateway, worker

    # Which forms have passwords the site knows only of its own addresses.
    vars(worker)["PasswordForms"] = partial(gateway.PasswordForms, is_one=lambda _scope: False)
    listeners = [socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1].split(",")]
    patience = float(sys.argv[2])
    application, server, launcher = get_wsgi_application(), os.getpid(), os.getppid()

    def work(number: int, alive: int) -> None:
        listener = listeners[number % len(listeners)]
        worker.Worker(application, listener, patience, alive, server, launcher).run()

    Pool(work, settings.WEB_WORKERS).run(Signals(signal.SIGTERM, signal.SIGINT), worker.grace(patience))


if __name__ == "__main__":
    main()

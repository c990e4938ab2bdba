#!/usr/bin/env python3
"""Entry point of every command: `manage.py run` serves the site, `manage.py help` lists the others."""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - in syntax that an older Python can parse
    sys.exit("The site needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031

try:
    from voting_site.command_line import execute
except ModuleNotFoundError as missing:
    own = os.listdir(os.path.dirname(os.path.abspath(__file__)))
    if (missing.name or "").partition(".")[0] in own:
        raise
    sys.exit("The package %s is not installed: use `make run`, or .venv/bin/python." % missing.name)  # noqa: UP031

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    execute(sys.argv)

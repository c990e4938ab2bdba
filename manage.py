#!/usr/bin/env python3
"""Entry point of every command: `manage.py run` serves the site, `manage.py help` lists the rest."""

import os
import sys

from voting_site.command_line import execute

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    execute(sys.argv)

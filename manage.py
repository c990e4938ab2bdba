#!/usr/bin/env python3
"""Entry point of every command: `manage.py run` serves the site, `manage.py help` lists the rest."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    execute_from_command_line(sys.argv)

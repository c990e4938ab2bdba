"""The commands, with mistakes in the settings told in one sentence each."""

import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from voting_site import dotenv
from voting_site.configuration import NAMES
from voting_site.setting_kinds import BadSetting

_BASE_DIR = Path(__file__).resolve().parent.parent


def execute(arguments: list[str], base_dir: Path = _BASE_DIR) -> None:
    """Run a command; `base_dir` has the `.env`. A setting the site cannot work with ends the process, status 1."""
    for sentence in dotenv.warnings(base_dir, NAMES):
        sys.stderr.write(f"{sentence}\n")
    try:
        execute_from_command_line(arguments)
    except BadSetting as error:
        sys.exit(str(error))

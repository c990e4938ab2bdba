"""Run commands, and print their errors as one sentence each."""

import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import Error as DatabaseError

from articles.domain.errors import StoreError
from articles.management import sentences
from voting_site.configuration import dotenv
from voting_site.configuration.kinds import BadSetting
from voting_site.configuration.variables import NAMES
from voting_site.output import discard_rest

_BASE_DIR = Path(__file__).resolve().parent.parent

_CTRL_C = 130
"""Exit status by shell convention."""

_TRACEBACK = "--traceback"
"""Django's own option of every command."""


def execute(arguments: list[str], base_dir: Path = _BASE_DIR) -> None:
    """Run a command; `base_dir` has the `.env`. Errors that the operator can fix end the process with status 1."""
    for sentence in dotenv.warnings(base_dir, NAMES):
        sys.stderr.write(f"{sentence}\n")
    try:
        execute_from_command_line(arguments)
    except BadSetting as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(_CTRL_C)
    except BrokenPipeError:  # the reader closed the pipe early, as `head` does
        discard_rest(sys.stdout)
        sys.exit(1)
    except (DatabaseError, ImproperlyConfigured, OSError, StoreError) as error:
        if _TRACEBACK in arguments:
            raise
        sys.exit(_sentence_about(error))


def _sentence_about(error: Exception) -> str:
    """Return an error of the site's environment as a sentence for the operator."""
    match error:
        case DatabaseError():
            return sentences.about_accounts(error)
        case StoreError():
            return sentences.about_store(error)
        case OSError():
            return sentences.about_system(error)
    return sentences.one_line(error)

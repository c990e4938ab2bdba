"""Run commands, and print their errors as one sentence each."""

import os
import sys
from pathlib import Path
from typing import IO

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility, execute_from_command_line
from django.db import Error as DatabaseError

from articles.domain.errors import StoreError
from articles.management import sentences
from voting_site.configuration import data_directory, loading
from voting_site.configuration.kinds import BadSetting
from voting_site.doctor_report import form_in, settings_results, status_of, written


def discard_rest(stream: IO[str]) -> None:
    """Discard what a standard stream still holds: Python would fail when it writes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


_BASE_DIR = Path(__file__).resolve().parent.parent

_CTRL_C = 130  # exit status by shell convention

_DOCTOR, _VERSION = ["doctor"], ["version"]


def execute(arguments: list[str], base_dir: Path = _BASE_DIR) -> None:
    """Run a command; `base_dir` has the `.env`. Errors that the operator can fix end the process with status 1."""
    command, unused = arguments[1:2], list(loading.warnings(base_dir))
    if command in (_DOCTOR, _VERSION):  # they change nothing
        data_directory.never_create()
    for sentence in unused if command != _DOCTOR else ():
        sys.stderr.write(f"{sentence}\n")
    try:
        if command == _VERSION:  # Django would print its own
            django.setup()
            ManagementUtility(arguments).fetch_command(*_VERSION).run_from_argv(arguments)
        else:
            execute_from_command_line(arguments)
    except BadSetting as error:
        if command != _DOCTOR:
            sys.exit(str(error))
        results = settings_results(error.sentences, unused)
        sys.stdout.write(f"{written(results, **form_in(arguments[2:]))}\n")
        sys.exit(status_of(results))
    except KeyboardInterrupt:
        sys.exit(_CTRL_C)
    except BrokenPipeError:  # the reader closed the pipe early, as `head` does
        discard_rest(sys.stdout)
        sys.exit(1)
    except (DatabaseError, ImproperlyConfigured, OSError, StoreError) as error:
        if "--traceback" in arguments:  # Django's own option of every command
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

"""Run commands, and print their errors as one sentence each."""

import logging.config
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility, execute_from_command_line, load_command_class
from django.db import Error as DatabaseError, connection

from articles.backup import former
from articles.configuration.kinds import BadSetting
from articles.domain.errors import StoreError
from articles.management import sentences
from voting_site.configuration import data_directory, loading
from voting_site.doctor_report import form_in, settings_results, status_of, written

_log = logging.getLogger(__name__)


def discard_rest(stream: IO[str]) -> None:
    """Discard what a standard stream still holds: Python would fail when it writes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(sentence: str) -> None:
    """Print a sentence, or log it if the output is to be JSON. A full disk of the logs must not end the site."""
    if settings.LOG_FORMAT == "json":
        without_code = re.sub(r"#\S+", "", sentence)  # logs are read by others than the first administrator
        _log.info("%s", " ".join(without_code.split()))
        return
    with suppress(OSError):
        sys.stdout.write(f"{sentence}\n")
        sys.stdout.flush()


_BASE_DIR = Path(__file__).resolve().parent.parent

_CTRL_C = 130  # exit status by shell convention

_DOCTOR, _RUN, _VERSION = ["doctor"], ["run"], ["version"]
_WITHOUT_ACCOUNTS = {"doctor", "help", "--help", "-h", "--version"}  # the first says what it finds in them


def execute(arguments: list[str], base_dir: Path = _BASE_DIR) -> None:
    """Run a command; `base_dir` has the `.env`. Errors that the operator can fix end the process with status 1."""
    command, unused = arguments[1:2], list(loading.warnings(base_dir))
    if command in (_DOCTOR, _VERSION):  # they change nothing
        data_directory.never_create()
    for sentence in unused if command != _DOCTOR else ():
        sys.stderr.write(f"{sentence}\n")
    try:
        with with_sentences(shows_traceback="--traceback" in arguments):  # Django's own option of every command
            if command == _RUN:  # its process imports nothing of the site
                logging.config.dictConfig(settings.LOGGING)
                load_command_class("voting_site", *_RUN).run_from_argv(arguments)
            elif command == _VERSION:  # Django would print its own
                django.setup()
                ManagementUtility(arguments).fetch_command(*_VERSION).run_from_argv(arguments)
            else:
                if not _WITHOUT_ACCOUNTS.issuperset(command):
                    django.setup()
                    refuse_former_accounts()
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


def refuse_former_accounts() -> None:
    """Raise ImproperlyConfigured for accounts of a version before 1.0.0, which this one does not migrate."""
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM django_migrations WHERE app = %s AND name = %s", former.FIRST_CHANGE)
        if cursor.fetchone():
            raise ImproperlyConfigured(former.REFUSAL)


@contextmanager
def with_sentences(*, shows_traceback: bool = False) -> Iterator[None]:
    """Let errors of the site's environment end the process with a sentence for the operator."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (DatabaseError, ImproperlyConfigured, OSError, StoreError) as error:
        if shows_traceback or isinstance(error, BadSetting):
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

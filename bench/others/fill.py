"""Fill a site that others wrote: python -m bench.others.fill MODULE ARTICLES

Runs in the site's own environment. MODULE names its settings, with `member(name)`, and `add(entries)`, which adds
entries of (title, member) and returns the ids to vote on, in their order. Prints them, and the members' sessions.
"""

import json
import sys
from importlib import import_module

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

from bench.site.content import MEMBERS, new_session, title


def main():
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    site, articles = import_module(sys.argv[1]), int(sys.argv[2])
    with transaction.atomic():
        members = [site.member(f"member{n + 1}") for n in range(MEMBERS)]
        ids = site.add([(title(n), members[n % MEMBERS]) for n in range(articles)])
        sessions = [new_session(member) for member in members]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(json.dumps({"sessions": sessions, "ids": ids}))


if __name__ == "__main__":
    main()

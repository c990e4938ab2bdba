"""Faults under live votes and reads, and several processes that use everything at once; run by `make chaos`."""

import django
from django.apps import apps

if not apps.ready:  # in the processes that the tests start
    django.setup()

"""Texts of Django's that members read, for which its own Chinese does not fit beside ours.

Marking them here is all it takes: our catalogue wins over Django's.
"""

from django.utils.translation import gettext_noop, ngettext_lazy

TEXTS = (
    gettext_noop("Email"),
    gettext_noop("Enter a valid email address."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)

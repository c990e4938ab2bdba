"""Texts of Django whose Chinese translation does not match the site's wording.

They only need to be marked here: the site's catalogue takes precedence over Django's.
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

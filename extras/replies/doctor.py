"""Whether the site can read the folder of replies by mail."""

import os
from collections.abc import Iterator
from itertools import islice

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Check, Examination, Finding, error, fine, warning
from extras.replies.posting import aside, folder

_MOST_COUNTED = 1_000


def check_replies(_examination: Examination) -> Iterator[Finding]:
    if not settings.REPLY_ADDRESS:
        return
    waiting = folder()
    if not os.access(waiting, os.R_OK | os.W_OK | os.X_OK):
        yield error(
            _("Replies by mail are not read: the site cannot read and change `%(folder)s`.") % {"folder": waiting},
            _("Let the mail server deliver there, and the site’s user delete: extras/replies/README.md."),
        )
    elif set_aside := sum(1 for _name in islice(aside().glob("*"), _MOST_COUNTED)):
        yield warning(
            f"{set_aside} replies by mail failed because of errors in the site.",
            f"See the log. Move them from `{aside()}` to `{waiting}` to try again.",
        )
    else:
        yield fine("Replies by mail are read.")


CHECKS = (Check("mail", "replies", check_replies),)

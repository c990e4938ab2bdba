"""The app of moving in and out, and what it adds to the site as it runs."""

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra


class MovingIn(Extra):
    name = "extras.moving_in"
    verbose_name = _("Moving in and out")

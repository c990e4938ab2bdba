"""Django knows nothing of articles but who may moderate them."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ArticlePermissions(models.Model):  # noqa: DJ008 - it has no rows
    """Carries the moderators' permissions; it has no table."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            ("assign_groups", _("Can assign articles to groups, and create, rename and merge groups")),
            ("edit_any_article", _("Can edit every article")),
            ("remove_articles", _("Can remove and restore articles")),
            ("tune_ranking", _("Can tune the ranking")),
        ]

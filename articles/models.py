"""Models of articles: the moderators' permissions, archived view counters, and which store is the accounts'."""

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
            ("see_operation", _("Can see the operator's page")),
            ("see_views", _("Can see who views what: counted, unique and suspect views")),
        ]


class ArchivedViews(models.Model):
    """View counters of an article without recent views, archived out of the store.

    A row is valid only while the article in the store is marked as archived: see `articles.readership.archive`.
    """

    article_id = models.BigIntegerField(primary_key=True)
    pv = models.PositiveBigIntegerField(help_text="Page views that count.")
    uv = models.PositiveBigIntegerField(help_text="Unique visitors, estimated.")
    sketch = models.BinaryField(help_text="HyperLogLog of the visitors, as the store keeps it.")
    suspects = models.JSONField(default=dict, help_text="Suspect views by reason.")
    viewed_at = models.FloatField(help_text="When the last view counted, in Unix seconds.")
    archived_at = models.DateTimeField()

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return f"views of article {self.article_id}"


class KnownStore(models.Model):
    """The store that belongs to these accounts; one row: see `articles.known_store`."""

    id = models.PositiveSmallIntegerField(primary_key=True)
    site = models.CharField(max_length=36, help_text="UUID that the store has of the site.")

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return self.site
